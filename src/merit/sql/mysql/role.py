"""What a MySQL or MariaDB user could do if nothing of merit stood between, and the user that it should be."""

import re

from merit.sql.mysql.session import MySQLSession
from merit.types import Health, Remark
from merit.types.engine import DIALECTS

_GRANT = re.compile(r"^GRANT (.*?) ON (?:PROCEDURE |FUNCTION |TABLE )?(\S+) TO ", re.DOTALL)
_COLUMN_LIST = re.compile(r"\s*\([^)]*\)")
_READING = frozenset({"SELECT", "SHOW VIEW", "USAGE", "SHOW DATABASES"})
# Rights that reach further than tables.
_POWERS = frozenset(
    {"ALL PRIVILEGES", "SUPER", "FILE", "PROCESS", "SHUTDOWN", "RELOAD", "CREATE USER", "SET USER", "GRANT OPTION"}
    | {"SYSTEM_VARIABLES_ADMIN", "BINLOG ADMIN", "REPLICATION SLAVE ADMIN"}
)
_MOST_NAMED = 3


def check_role(session: MySQLSession) -> Health:
    """Look at the user by its grants alone; nothing is tried out."""
    ((user, database),) = session.rows("SELECT CURRENT_USER(), COALESCE(DATABASE(), '')")
    ((folder,),) = session.rows("SELECT @@GLOBAL.secure_file_priv")
    anywhere = folder == "" or (folder is None and session.dialect == "mariadb")  # MySQL's NULL forbids all files
    held: dict[str, set[str]] = {}
    grants = [str(grant) for (grant,) in session.rows("SHOW GRANTS")]
    for grant in grants:
        if found := _GRANT.match(grant):
            rights = {right.strip() for right in _COLUMN_LIST.sub("", found[1]).upper().split(",")}
            held.setdefault(found[2], set()).update(rights)
        if "WITH GRANT OPTION" in grant:
            held.setdefault("*.*", set()).add("GRANT OPTION")
    powers = sorted({right for rights in held.values() for right in rights & _POWERS})
    writes = [
        f"{place} ({', '.join(sorted(rights - _READING))})" for place, rights in held.items() if rights - _READING
    ]
    ((tables,),) = session.rows(
        "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN "
        "('information_schema', 'mysql', 'performance_schema', 'sys') "
        "AND TABLE_SCHEMA = COALESCE(DATABASE(), TABLE_SCHEMA)"
    )
    findings = (
        Remark(not powers, f"it has the rights {', '.join(powers)}" if powers else "it has no administrative right"),
        Remark(not writes, f"it can do more than read on {_listed(writes)}" if writes else "it can only read"),
        _files({"FILE", "ALL PRIVILEGES"} & held.get("*.*", set()), anywhere),
        Remark(tables > 0, f"it sees {tables} tables and views"),
    )
    name = DIALECTS[session.dialect]
    good = all(finding.good for finding in findings)
    return Health(name, session.version, str(user), findings, () if good else _remedy(session.dialect, str(database)))


def _files(rights: set[str], anywhere: bool) -> Remark:
    if not rights:
        return Remark(True, "it can neither read nor write files of the server")
    where = "anywhere" if anywhere else "in the folder of secure_file_priv"
    return Remark(False, f"it can read and write files of the server {where}")


def _listed(items: list[str]) -> str:
    more = f" and {len(items) - _MOST_NAMED} more" if len(items) > _MOST_NAMED else ""
    return "; ".join(items[:_MOST_NAMED]) + more


def _remedy(dialect: str, database: str) -> tuple[str, ...]:
    place = f"`{database.replace('`', '``')}`.*" if database else "`your_database`.*"
    limit = " WITH MAX_USER_CONNECTIONS 8" + (" MAX_STATEMENT_TIME 60" if dialect == "mariadb" else "")
    return (
        f"CREATE USER 'merit_reader'@'%' IDENTIFIED BY 'choose one'{limit};",
        f"GRANT SELECT, SHOW VIEW ON {place} TO 'merit_reader'@'%';",
    )
