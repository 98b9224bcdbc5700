"""What each engine writes instead of a function that it lacks.

A key is a function's name and its number of arguments; `_0`, `_1` are the arguments in their order. Functions whose
first argument is a unit of time have it in their name: DATEDIFF(day, a, b) is `DIFF DAY` of two arguments. A name that
the engine does have must not be here (tests/grounding/test_functions.py asks the engines).
"""

Templates = dict[tuple[str, int], str]

_TEXT: Templates = {
    ("UCASE", 1): "UPPER(_0)",
    ("LCASE", 1): "LOWER(_0)",
    ("AVERAGE", 1): "AVG(_0)",
    ("SUBTRACT", 2): "_0 - _1",
    ("MULTIPLY", 2): "_0 * _1",
    ("DIVIDE", 2): "CAST(_0 AS REAL) / _1",
}
_NOW = dict.fromkeys(
    ("NOW", "GETDATE", "SYSDATE", "SYSDATETIME", "GETUTCDATE", "LOCALTIMESTAMP", "CURRENT_TIMESTAMP"),
    "CURRENT_TIMESTAMP",
)
_TODAY = dict.fromkeys(("CURDATE", "TODAY", "CURRENT_DATE"), "CURRENT_DATE")

_PARTS_OF_SQLITE = {
    "YEAR": "CAST(STRFTIME('%Y', _0) AS INTEGER)",
    "MONTH": "CAST(STRFTIME('%m', _0) AS INTEGER)",
    "DAY": "CAST(STRFTIME('%d', _0) AS INTEGER)",
    "HOUR": "CAST(STRFTIME('%H', _0) AS INTEGER)",
    "MINUTE": "CAST(STRFTIME('%M', _0) AS INTEGER)",
    "SECOND": "CAST(STRFTIME('%S', _0) AS INTEGER)",
    "QUARTER": "(CAST(STRFTIME('%m', _0) AS INTEGER) + 2) / 3",
    "DOW": "CAST(STRFTIME('%w', _0) AS INTEGER)",
    "DOY": "CAST(STRFTIME('%j', _0) AS INTEGER)",
    "EPOCH": "UNIXEPOCH(_0)",
}
_FULL_YEARS_OF_SQLITE = (
    "CAST(STRFTIME('%Y', _1) AS INTEGER) - CAST(STRFTIME('%Y', _0) AS INTEGER)"
    " - (STRFTIME('%m-%d', _1) < STRFTIME('%m-%d', _0))"
)
SQLITE: Templates = {
    **_TEXT,
    **{(name, 0): new for name, new in (_NOW | _TODAY).items()},
    **{(name, 1): new for name, new in _PARTS_OF_SQLITE.items() if name not in ("DOW", "DOY", "EPOCH")},
    **{(f"PART {name}", 1): new for name, new in _PARTS_OF_SQLITE.items()},
    ("DAYOFMONTH", 1): _PARTS_OF_SQLITE["DAY"],
    ("DAYOFYEAR", 1): _PARTS_OF_SQLITE["DOY"],
    ("DAYOFWEEK", 1): "CAST(STRFTIME('%w', _0) AS INTEGER) + 1",
    ("DATEDIFF", 2): "CAST(JULIANDAY(DATE(_0)) - JULIANDAY(DATE(_1)) AS INTEGER)",
    ("DIFF DAY", 2): "CAST(JULIANDAY(DATE(_1)) - JULIANDAY(DATE(_0)) AS INTEGER)",
    ("DIFF YEAR", 2): "CAST(STRFTIME('%Y', _1) AS INTEGER) - CAST(STRFTIME('%Y', _0) AS INTEGER)",
    ("DIFF MONTH", 2): "(CAST(STRFTIME('%Y', _1) AS INTEGER) - CAST(STRFTIME('%Y', _0) AS INTEGER)) * 12"
    " + CAST(STRFTIME('%m', _1) AS INTEGER) - CAST(STRFTIME('%m', _0) AS INTEGER)",
    ("DIFF HOUR", 2): "CAST((JULIANDAY(_1) - JULIANDAY(_0)) * 24 AS INTEGER)",
    ("DIFF MINUTE", 2): "CAST((JULIANDAY(_1) - JULIANDAY(_0)) * 1440 AS INTEGER)",
    ("FULL DAY", 2): "CAST(JULIANDAY(_1) - JULIANDAY(_0) AS INTEGER)",
    ("FULL YEAR", 2): _FULL_YEARS_OF_SQLITE,
    ("FULL HOUR", 2): "CAST((JULIANDAY(_1) - JULIANDAY(_0)) * 24 AS INTEGER)",
    ("FULL MINUTE", 2): "CAST((JULIANDAY(_1) - JULIANDAY(_0)) * 1440 AS INTEGER)",
    ("TRUNC DAY", 1): "DATE(_0)",
    ("TRUNC MONTH", 1): "DATE(_0, 'start of month')",
    ("TRUNC YEAR", 1): "DATE(_0, 'start of year')",
    ("TO_DATE", 1): "DATE(_0)",
    ("LAST_DAY", 1): "DATE(_0, 'start of month', '+1 month', '-1 day')",
    ("NVL", 2): "COALESCE(_0, _1)",
    ("ISNULL", 2): "COALESCE(_0, _1)",
    ("LEFT", 2): "SUBSTR(_0, 1, _1)",
    ("RIGHT", 2): "SUBSTR(_0, -_1)",
    ("MID", 3): "SUBSTR(_0, _1, _2)",
    ("LEN", 1): "LENGTH(_0)",
    ("CHAR_LENGTH", 1): "LENGTH(_0)",
    ("CHARACTER_LENGTH", 1): "LENGTH(_0)",
    ("LOCATE", 2): "INSTR(_1, _0)",
    ("CHARINDEX", 2): "INSTR(_1, _0)",
    ("STRPOS", 2): "INSTR(_0, _1)",
    ("GREATEST", 2): "MAX(_0, _1)",
    ("GREATEST", 3): "MAX(_0, _1, _2)",
    ("LEAST", 2): "MIN(_0, _1)",
    ("LEAST", 3): "MIN(_0, _1, _2)",
    ("RAND", 0): "RANDOM()",
    ("TRUNCATE", 1): "TRUNC(_0)",
    ("STARTS_WITH", 2): "SUBSTR(_0, 1, LENGTH(_1)) = _1",
}

_PG_DAYS = "CAST({0} AS DATE) - CAST({1} AS DATE)"
POSTGRESQL: Templates = {
    **_TEXT,
    **{(name, 0): new for name, new in (_NOW | _TODAY).items() if name != "NOW"},
    **{
        (name, 1): f"EXTRACT({name} FROM _0)"
        for name in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "QUARTER")
    },
    ("DAYOFMONTH", 1): "EXTRACT(DAY FROM _0)",
    ("DAYOFYEAR", 1): "EXTRACT(DOY FROM _0)",
    ("DAYOFWEEK", 1): "EXTRACT(DOW FROM _0) + 1",
    ("DATEDIFF", 2): _PG_DAYS.format("_0", "_1"),
    ("DIFF DAY", 2): _PG_DAYS.format("_1", "_0"),
    ("DIFF YEAR", 2): "EXTRACT(YEAR FROM _1) - EXTRACT(YEAR FROM _0)",
    ("DIFF MONTH", 2): "(EXTRACT(YEAR FROM _1) - EXTRACT(YEAR FROM _0)) * 12"
    " + EXTRACT(MONTH FROM _1) - EXTRACT(MONTH FROM _0)",
    ("FULL DAY", 2): _PG_DAYS.format("_1", "_0"),
    ("FULL YEAR", 2): "EXTRACT(YEAR FROM AGE(_1, _0))",
    ("JULIANDAY", 1): "EXTRACT(EPOCH FROM CAST(_0 AS TIMESTAMP)) / 86400.0",
    ("IFNULL", 2): "COALESCE(_0, _1)",
    ("NVL", 2): "COALESCE(_0, _1)",
    ("ISNULL", 2): "COALESCE(_0, _1)",
    ("IIF", 3): "CASE WHEN _0 THEN _1 ELSE _2 END",
    ("MID", 3): "SUBSTR(_0, _1, _2)",
    ("LEN", 1): "LENGTH(_0)",
    ("INSTR", 2): "STRPOS(_0, _1)",
    ("LOCATE", 2): "STRPOS(_1, _0)",
    ("CHARINDEX", 2): "STRPOS(_1, _0)",
    ("RAND", 0): "RANDOM()",
    ("GROUP_CONCAT", 1): "STRING_AGG(CAST(_0 AS TEXT), ',')",
    ("GROUP_CONCAT", 2): "STRING_AGG(CAST(_0 AS TEXT), _1)",
    ("DATETIME", 1): "CAST(_0 AS TIMESTAMP)",
    ("TOTAL", 1): "COALESCE(SUM(_0), 0)",
    ("TRUNCATE", 2): "TRUNC(_0, _1)",
}

MYSQL: Templates = {
    **{key: new.replace("CAST(_0 AS REAL)", "_0") for key, new in _TEXT.items() if key[0] not in ("UCASE", "LCASE")},
    ("GETDATE", 0): "NOW()",
    ("SYSDATETIME", 0): "NOW()",
    ("GETUTCDATE", 0): "UTC_TIMESTAMP()",
    ("TODAY", 0): "CURRENT_DATE",
    **{
        (f"PART {name}", 1): f"EXTRACT({name} FROM _0)"
        for name in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "QUARTER")
    },
    ("PART DOW", 1): "DAYOFWEEK(_0) - 1",
    ("PART DOY", 1): "DAYOFYEAR(_0)",
    ("PART EPOCH", 1): "UNIX_TIMESTAMP(_0)",
    ("DIFF DAY", 2): "DATEDIFF(_1, _0)",
    ("DIFF YEAR", 2): "YEAR(_1) - YEAR(_0)",
    ("DIFF MONTH", 2): "PERIOD_DIFF(DATE_FORMAT(_1, '%Y%m'), DATE_FORMAT(_0, '%Y%m'))",
    ("TRUNC DAY", 1): "DATE(_0)",
    ("TRUNC MONTH", 1): "CAST(DATE_FORMAT(_0, '%Y-%m-01') AS DATE)",
    ("TRUNC YEAR", 1): "CAST(DATE_FORMAT(_0, '%Y-01-01') AS DATE)",
    ("JULIANDAY", 1): "TO_DAYS(_0)",
    ("ISNULL", 2): "COALESCE(_0, _1)",
    ("LEN", 1): "CHAR_LENGTH(_0)",
    ("STRPOS", 2): "LOCATE(_1, _0)",
    ("CHARINDEX", 2): "LOCATE(_0, _1)",
    ("IIF", 3): "CASE WHEN _0 THEN _1 ELSE _2 END",
    ("RANDOM", 0): "RAND()",
    ("TO_DATE", 1): "DATE(_0)",
    ("TRUNC", 1): "TRUNCATE(_0, 0)",
    ("TRUNC", 2): "TRUNCATE(_0, _1)",
    ("DATETIME", 1): "CAST(_0 AS DATETIME)",
    ("TOTAL", 1): "COALESCE(SUM(_0), 0)",
    ("SPLIT_PART", 3): "SUBSTRING_INDEX(SUBSTRING_INDEX(_0, _1, _2), _1, -1)",
    ("STARTS_WITH", 2): "LEFT(_0, CHAR_LENGTH(_1)) = _1",
}

DUCKDB: Templates = {
    ("AVERAGE", 1): "AVG(_0)",
    ("GETDATE", 0): "CURRENT_TIMESTAMP",
    ("SYSDATE", 0): "CURRENT_TIMESTAMP",
    ("SYSDATETIME", 0): "CURRENT_TIMESTAMP",
    ("CURDATE", 0): "CURRENT_DATE",
    ("DATEDIFF", 2): "DATE_DIFF('day', CAST(_1 AS DATE), CAST(_0 AS DATE))",
    ("FULL DAY", 2): "DATE_SUB('day', _0, _1)",
    ("FULL YEAR", 2): "DATE_SUB('year', _0, _1)",
    ("FULL MONTH", 2): "DATE_SUB('month', _0, _1)",
    ("FULL HOUR", 2): "DATE_SUB('hour', _0, _1)",
    ("FULL MINUTE", 2): "DATE_SUB('minute', _0, _1)",
    ("JULIANDAY", 1): "JULIAN(CAST(_0 AS TIMESTAMP))",
    ("NVL", 2): "COALESCE(_0, _1)",
    ("ISNULL", 2): "COALESCE(_0, _1)",
    ("IIF", 3): "CASE WHEN _0 THEN _1 ELSE _2 END",
    ("MID", 3): "SUBSTR(_0, _1, _2)",
    ("LOCATE", 2): "STRPOS(_1, _0)",
    ("CHARINDEX", 2): "STRPOS(_1, _0)",
    ("RAND", 0): "RANDOM()",
    ("TOTAL", 1): "COALESCE(SUM(_0), 0)",
}

TEMPLATES = {"sqlite": SQLITE, "postgresql": POSTGRESQL, "mysql": MYSQL, "mariadb": MYSQL, "duckdb": DUCKDB}

# The pieces of a format for dates, as STRFTIME has them, and as other functions write them.
_STRFTIME = {piece: piece for piece in ("%Y", "%m", "%d", "%H", "%M", "%S", "%j", "%w", "%B", "%b", "%A", "%a")}
_MYSQL = {
    "%Y": "%Y",
    "%m": "%m",
    "%d": "%d",
    "%H": "%H",
    "%i": "%M",
    "%s": "%S",
    "%S": "%S",
    "%j": "%j",
    "%w": "%w",
    "%M": "%B",
    "%b": "%b",
    "%W": "%A",
    "%a": "%a",
}
_TO_CHAR = {
    "YYYY": "%Y",
    "MM": "%m",
    "DD": "%d",
    "HH24": "%H",
    "MI": "%M",
    "SS": "%S",
    "DDD": "%j",
    "FMMonth": "%B",
    "Month": "%B",
    "Mon": "%b",
    "FMDay": "%A",
    "Day": "%A",
    "Dy": "%a",
    "yyyy": "%Y",
    "mm": "%m",
    "dd": "%d",
}
FORMATS = {
    "STRFTIME": _STRFTIME,
    "DATE_FORMAT": _MYSQL,
    "TO_CHAR": _TO_CHAR,
}
# Each engine's own function for a date as a text.
FORMATTER = {
    "sqlite": "STRFTIME",
    "postgresql": "TO_CHAR",
    "mysql": "DATE_FORMAT",
    "mariadb": "DATE_FORMAT",
    "duckdb": "STRFTIME",
}
