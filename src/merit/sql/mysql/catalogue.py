"""What MySQL's and MariaDB's own catalogue says of the databases that are shown."""

from merit.sql.mysql.session import MySQLSession
from merit.sql.reflect import CatalogueRows, CatalogueTable

_SYSTEM = "('information_schema', 'mysql', 'performance_schema', 'sys')"
# The URL's database where it names one, else every database that the role sees.
_SCOPE = f"TABLE_SCHEMA NOT IN {_SYSTEM} AND (%s = '' OR TABLE_SCHEMA = %s)"
_TABLES = f"""
SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE LIKE '%%VIEW', COALESCE(TABLE_COMMENT, ''), TABLE_ROWS
FROM information_schema.TABLES WHERE {_SCOPE} ORDER BY TABLE_SCHEMA, TABLE_NAME
"""
_COLUMNS = f"""
SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, COLUMN_COMMENT, COLUMN_KEY
FROM information_schema.COLUMNS WHERE {_SCOPE} ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION
"""
_KEYS = f"""
SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME
FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_NAME IS NOT NULL AND {_SCOPE}
ORDER BY TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION
"""


def _checksum(table: str, columns: str) -> str:
    """A query for how many rows a view of the catalogue has, and for a sum of their hashes."""
    digits = f"SUBSTRING(MD5(CONCAT_WS(CHAR(31), {columns})), 1, 12)"
    return (
        f"SELECT COUNT(*), COALESCE(SUM(CAST(CONV({digits}, 16, 10) AS UNSIGNED)), 0) FROM information_schema.{table} "
        f"WHERE {_SCOPE}"
    )


# The server hashes its catalogue far faster than the driver reads it. Estimates of rows change often, and are left out.
_CHECKSUMS = (
    _checksum("TABLES", "TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_COMMENT"),
    _checksum(
        "COLUMNS",
        "TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, COLUMN_TYPE, COLUMN_KEY, COLUMN_COMMENT",
    ),
    _checksum(
        "KEY_COLUMN_USAGE",
        "TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, CONSTRAINT_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, "
        "REFERENCED_COLUMN_NAME",
    ),
)
_SERVER = "SELECT @@hostname, @@port, VERSION(), CURRENT_USER()"


def fingerprint(session: MySQLSession, database: str, everywhere: bool) -> str:
    """Changes with whatever a schema is made of, but for estimates of rows."""
    scope = ("", "") if everywhere else (database, database)
    return str([session.rows(_SERVER), *(session.rows(query, scope) for query in _CHECKSUMS)])


def read_catalogue(session: MySQLSession, database: str, everywhere: bool) -> CatalogueRows:
    """All of it, by three queries; `everywhere` looks at other databases than the URL's, too."""
    scope = ("", "") if everywhere else (database, database)
    tables = [
        CatalogueTable(
            schema,
            name,
            bool(view),
            "" if view and comment == "VIEW" else comment,  # the server's word for views
            None if view or rows is None else int(rows),
            schema == database,
        )
        for schema, name, view, comment, rows in session.rows(_TABLES, scope)
    ]
    rows = session.rows(_COLUMNS, scope)
    primary = frozenset((schema, table, column) for schema, table, column, *_, key in rows if key == "PRI")
    foreign = [((row[0], row[1], row[2]), (row[3], row[4], row[5])) for row in session.rows(_KEYS, scope)]
    return CatalogueRows(tables, [row[:5] for row in rows], primary, foreign)
