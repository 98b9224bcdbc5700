"""A Model Context Protocol server over one live agent: other agents ask, repair, recall, judge and describe.

Must never know a reference. What a caller's program says is not a person's word: see `merit.mcp.consent`.

`tools` are ask, repair, recall, describe and feedback; `server` puts them together with resources and a prompt, and
turns failures into sentences; `results` is what they return. `callers` says who calls, with which rights and through
which program; `consent` shows the person what would be recorded. `http` serves over the network, `sessions` bounds how
many a person has open, `running` runs it.
"""
