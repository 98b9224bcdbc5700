"""Statements changed at random: pieces of others put in, taken out, doubled, exchanged, and marks that readers differ on."""

import random
import re

_PIECE = re.compile(r"\s+|\w+|'[^']*'|\"[^\"]*\"|.", re.DOTALL)
_MARKS = [
    *(
        "'",
        '"',
        "`",
        "$$",
        "$a$",
        "\\",
        "\\'",
        "--",
        "-- ",
        "#",
        "/*",
        "*/",
        "/*!",
        "/*!50000 ",
        "/*M! ",
        "/*+ ",
        ";",
        "; ",
        "\n",
    ),
    *(
        "\r",
        "\0",
        "\u00a0",
        "\u200b",
        "\ufeff",
        "\x0b",
        "\x0c",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ".",
        "::",
        ":=",
        "@",
        "@@",
        "?",
        "$1",
    ),
    *(
        "E'",
        "U&'",
        'U&"',
        "N'",
        "x'",
        "_utf8'",
        " INTO ",
        " INTO OUTFILE '/tmp/merit-corpus-out' ",
        " FOR UPDATE ",
        " RETURNING * ",
    ),
    *(
        " UNION ",
        " WITH d AS (DELETE FROM items RETURNING 1) ",
        " DELETE FROM items ",
        " DROP TABLE items ",
        " UPDATE items SET price = 0 ",
    ),
    *(
        " INSERT INTO items VALUES (1, 'x', 1, 1) ",
        "; DELETE FROM items; ",
        " COMMIT ",
        " visit() ",
        " nextval('order_ids') ",
        " t.visit ",
    ),
    *(
        " TABLE ",
        " LATERAL ",
        " AS visit(x) ",
        " (SELECT visit()) ",
        " CALL wipe() ",
        " EXPLAIN ANALYZE ",
        " SELECT ",
        " FROM ",
        " VALUES (1) ",
    ),
]


def mutated(draw: random.Random, texts: list[str]) -> str:
    """One of the texts with one to four changes."""
    pieces = _PIECE.findall(draw.choice(texts))[:400]
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(pieces) + 1)
        change = draw.random()
        if change < 0.35:
            pieces.insert(at, draw.choice(_MARKS))
        elif change < 0.5:
            del pieces[at : at + draw.randint(1, 3)]
        elif change < 0.7:
            other = _PIECE.findall(draw.choice(texts))[:400]
            start = draw.randrange(len(other) + 1)
            pieces[at:at] = other[start : start + draw.randint(1, 12)]
        elif change < 0.8:
            pieces[at:at] = pieces[at : at + draw.randint(1, 6)]
        elif change < 0.9 and pieces:
            pieces[min(at, len(pieces) - 1)] = draw.choice(_MARKS)
        else:
            to = draw.randrange(len(pieces) + 1)
            pieces[at : at + 1], pieces[to : to + 1] = pieces[to : to + 1], pieces[at : at + 1]
    return "".join(pieces)
