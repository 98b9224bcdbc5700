"""A Model Context Protocol server over one live agent: other agents ask, repair, recall, judge and describe.

Must never know a reference. What a caller's program says is not a person's word: see `merit.mcp.consent`.
"""
