"""From a question to an answer.

`asker.Asker` leads: `preparing` chooses from the schema (`selecting`), recalls, and renders the first prompt;
`agent.repair` runs the episode; `deciding` makes the answer. What blocks runs in threads, so that questions can be
asked side by side.

- `candidates`: `LiveOracle` executes each candidate once, by its canonical form; `LiveBehaviour` shows the next prompt
  what failed. `widening` shows more of the schema once a candidate failed by a name that the database does not have.
- `election` counts votes, those that decline (`declining`) too, and decides when an episode goes on.
- `settling` runs the user's checks on an answer, and keeps it at the grade that it earned.
- `scrubbing` takes values out of messages where no row may leave the database.
- `recalling` says what the memory would show for a question; `chat` keeps a conversation.
"""
