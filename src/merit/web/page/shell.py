"""A placeholder until the page is there: the server asks only for `shell()` and `policy()`."""


def shell() -> str:
    """The whole document."""
    return "<!doctype html><meta charset=utf-8><title>merit</title><h1>merit</h1><p>The API is under /api.</p>\n"


def policy() -> str:
    """The Content-Security-Policy of the document."""
    return "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'"
