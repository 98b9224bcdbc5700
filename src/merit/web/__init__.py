"""The page and the JSON API over one agent and over run folders: one server for `merit serve` and `merit view`.

`site` is what it serves and the state that requests share; `app` puts the `routes` together, one module a subject.

- `gate` is passed by every request first: Host, Origin, size and time of the body, headers, log, count. Without the
  token that is needed a body is not read, except to sign in. `protocol`, below it, limits slow heads and slow readers;
  `names` knows which names and origins are ours.
- `authentication` finds out who sends a request (`access_tokens`, `sessions`, each in a `private` file) and what they
  may; `limits` how often; `visibility` keeps what is for one person alone from others.
- `running_asks` runs each question as a task of its own, which a lost connection does not end; `server_sent_events`
  tells its progress. `kept_rows` keeps the rows of recent answers in memory, and nowhere else. `running_proof` is the
  proof under way.
- `replies` writes JSON and turns errors into one sentence with a status; `records` is what is shown of an answer.
- `running` starts and stops it all, and has all threads share one heap; `upkeep` erases old answers.
"""
