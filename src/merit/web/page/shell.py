"""The page of `merit serve`: its parts put together, and the policy that nothing else may run in it."""

import base64
import hashlib
import json
import re
from functools import cache
from html import escape
from importlib.resources import files

from merit.report.page.shell import part as report_part
from merit.web.page.libraries import LIBRARIES

# Those of the report come first: the page has its elements, differences, tables and theme from there.
_OF_REPORT = ("dom.js", "diff.js", "tables.js", "pointing.js", "theme.js")
_SCRIPTS = (
    "api.js",
    "connection.js",
    "stream.js",
    "libraries.js",
    "forms.js",
    "sheet.js",
    "columns.js",
    "chart.js",
    "editor.js",
    "shown.js",
    "watch.js",
    "ask.js",
    "result.js",
    "judge.js",
    "compare.js",
    "answer.js",
    "history.js",
    "memory.js",
    "entry.js",
    "review.js",
    "exchange.js",
    "schema.js",
    "proof.js",
    "signin.js",
    "keys.js",
    "main.js",
)
_STYLES_OF_REPORT = ("page.css", "shared.css")
_STYLES = ("serve.css", "views.css", "editor.css")


@cache
def _part(name: str) -> str:
    return (files(__package__) / "parts" / name).read_text(encoding="utf-8")


@cache
def script() -> str:
    """All scripts as one, in a scope of its own."""
    hashes = {name: library.integrity for name, library in LIBRARIES.items()}
    body = "\n".join([*map(report_part, _OF_REPORT), *map(_part, _SCRIPTS)])
    return f'(() => {{\n"use strict";\nconst INTEGRITY = {json.dumps(hashes)};\n{body}\n}})();\n'


@cache
def style() -> str:
    """All styles as one."""
    return "\n".join([*map(report_part, _STYLES_OF_REPORT), *map(_part, _STYLES)])


@cache
def policy() -> str:
    """The Content-Security-Policy: our own script and style by hash, libraries and data from this server alone."""
    rules = [
        "default-src 'none'",
        f"script-src {_hash(script())} 'self'",
        f"style-src {_hash(style())} 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join(rules)


@cache
def shell() -> str:
    """The whole document."""
    values = {"TITLE": escape("merit"), "STYLE": style(), "SCRIPT": script()}
    return re.sub(r"\{\{([A-Z]+)\}\}", lambda match: values[match[1]], _part("page.html"))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
