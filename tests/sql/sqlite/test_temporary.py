"""Temporary files are limited together, not only each by itself."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from merit.sql.sqlite.temporary import temporary_bytes

MIB = 1 << 20
_RUN = """
import sys
from pathlib import Path
from merit.sql.sqlite import worker
from merit.types import Limits

worker.TEMPORARY_BYTES = 16 << 20
databases = worker.OpenDatabases(Path(sys.argv[1]))
for megabytes in map(int, sys.argv[2:]):
    parts = ", ".join(
        f"m{part} AS MATERIALIZED (SELECT value, zeroblob(1000000) b FROM n LIMIT {megabytes // 4})" for part in range(4)
    )
    lengths = " + ".join(f"(SELECT count(b) FROM m{part})" for part in range(4))
    pause = "(WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 2000000) SELECT count(*) FROM c)"
    sql = f"WITH n AS (SELECT value FROM json_each('[{','.join('0' * 100)}]')), {parts} SELECT {lengths} + 0 * {pause}"
    result = databases.run(sys.argv[1].encode() + b"/x.sqlite", True, sql, Limits(), distinct=False, lossy=False)
    print(getattr(result, "message", None) or result.rows)
"""


def test_a_statement_is_stopped_where_its_files_are_too_large_together(tmp_path: Path) -> None:
    (tmp_path / "x.sqlite").touch()
    asked = [sys.executable, "-c", _RUN, str(tmp_path), "8", "40", "8"]  # none of the files has more than 10 MB
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    assert said == ["[(8,)]", "the query needs more temporary space than allowed", "[(8,)]"]


def test_only_files_without_a_name_that_are_written_count(tmp_path: Path) -> None:
    before = temporary_bytes()
    with tempfile.TemporaryFile() as unnamed, (tmp_path / "named").open("w+b") as named:
        for file in (unnamed, named):
            file.truncate(MIB)
        assert temporary_bytes() - before == MIB
        reading = os.open(tmp_path / "named", os.O_RDONLY)
        (tmp_path / "named").unlink()
        assert temporary_bytes() - before == 2 * MIB
    assert temporary_bytes() == before  # a copy that is only read is a database with its journal
    os.close(reading)
