"""The page around the data: its parts put together, and the policy that nothing else may run in it."""

import base64
import hashlib
import re
from functools import cache
from html import escape
from importlib.resources import files

_SCRIPTS = (
    "dom.js",
    "data.js",
    "prompt.js",
    "diff.js",
    "tables.js",
    "scales.js",
    "pointing.js",
    "plots.js",
    "filters.js",
    "grid.js",
    "episodes.js",
    "recalls.js",
    "votes.js",
    "references.js",
    "left.js",
    "episode.js",
    "theme.js",
    "keys.js",
    "main.js",
)


_HOLDING = (
    "<b>This page holds reference answers.</b> Keep it from models, prompts and anything that is scored; "
    "<code>merit report</code> without <code>--with-references</code> makes one without them."
)


@cache
def part(name: str) -> str:
    """One of the page's parts; the page of `merit serve` shares some of them."""
    return (files(__package__) / "parts" / name).read_text(encoding="utf-8")


@cache
def script() -> str:
    """All scripts as one, in a scope of its own."""
    body = "\n".join(part(name) for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{body}\n}})();\n'


@cache
def style() -> str:
    """All styles as one."""
    return "\n".join(part(name) for name in ("page.css", "shared.css", "grid.css"))


@cache
def policy(live: bool) -> str:
    """The Content-Security-Policy: our own script and style by hash; no network but the live page's own data."""
    rules = [
        "default-src 'none'",
        f"script-src {_hash(script())}",
        f"style-src {_hash(style())}",
        "img-src data:",
        "connect-src 'self'" if live else "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join(rules)


def shell(title: str, *, live: bool, references: bool = False, asks: bool = False) -> tuple[str, str]:
    """The page up to its data, and what comes after it.

    `references`: a page that holds reference answers says so. `asks`: its server also has a page to ask, one level up.
    """
    values = {
        "POLICY": escape(policy(live)),
        "TITLE": escape(title),
        "MODE": "live" if live else "file",
        "ASK": '<a href="../">Ask</a>\n    ' if asks else "",
        "MARK": f'<p class="holding" role="note">{_HOLDING}</p>\n' if references else "",
        "STYLE": style(),
        "SCRIPT": script(),
    }
    before, after = (
        re.sub(r"\{\{([A-Z]+)\}\}", lambda match: values[match[1]], half)
        for half in part("page.html").split("{{DATA}}")
    )
    return before, after


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
