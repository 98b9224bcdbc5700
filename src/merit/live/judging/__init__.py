"""What people say about answers and entries, and what becomes of it.

`feedback` turns what a person says into entries (made by `agent.feedback`) and retracts what it contradicts;
`withdrawing` takes it back, without the database. `ladder` has the grades, `checks` the user's own checks, `suggesting`
what a program takes for right until a person reviews it. `review` lists what waits for a person, `contradictions`
answers to one question that differ, `promoting` lets an entry be for more people, `curating` is what a person changes
by hand. `importing` and `exporting` exchange pairs with other tools: an imported pair is executed first, and all pairs
of a file are committed at once.
"""
