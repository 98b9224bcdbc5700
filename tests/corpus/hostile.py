"""Statements that would hurt a careless executor. `t`, `n` (5,000 rows) and `odd` are the test database's tables."""


def copies(levels: int, mentions: int) -> str:
    """Common table expressions that each mention the one before several times."""
    parts = ["c0(x) AS (SELECT 1)"]
    for level in range(1, levels):
        sources = ", ".join(f"c{level - 1} a{i}" for i in range(mentions))
        parts.append(f"c{level}(x) AS (SELECT 1 FROM {sources})")
    return f"WITH {', '.join(parts)} SELECT count(*) FROM c{levels - 1}"


def memberships(levels: int) -> str:
    """Common table expressions that mention each other without a SELECT in sight."""
    parts = [f"c{level}(x) AS (VALUES (1 IN c{level - 1} AND 2 IN c{level - 1}))" for level in range(1, levels)]
    return f"WITH c0(x) AS (VALUES (1)), {', '.join(parts)} SELECT 1 IN c{levels - 1}"


def tables(levels: int) -> str:
    """The same with tables of VALUES, each row of which mentions the one before."""
    parts = [f"c{level}(x) AS (VALUES (1 IN c{level - 1}), (2 IN c{level - 1}))" for level in range(1, levels)]
    return f"WITH c0(x) AS (VALUES (1)), {', '.join(parts)} SELECT * FROM c{levels - 1}"


LONG = "printf('%.*c', 200000, 'a')"

WRITES = [
    "INSERT INTO t VALUES (10, 'x', 1)",
    "INSERT INTO t SELECT * FROM t RETURNING id",
    "UPDATE t SET name = 'x'",
    "UPDATE t SET name = 'x' WHERE id = 1 RETURNING *",
    "DELETE FROM t",
    "DELETE FROM t WHERE id IN (SELECT id FROM t) RETURNING id",
    "REPLACE INTO t VALUES (1, 'x', 1)",
    "WITH w AS (SELECT 1) INSERT INTO t SELECT 20, 'x', 1 FROM w",
    "WITH w AS (SELECT 1) UPDATE t SET x = 0",
    "WITH w AS (SELECT id FROM t) DELETE FROM t WHERE id IN w",
    "INSERT INTO t VALUES (1, 'x', 1) ON CONFLICT (id) DO UPDATE SET name = 'y'",
    "DROP TABLE t",
    "DROP VIEW v",
    "DROP INDEX names",
    "ALTER TABLE t RENAME TO u",
    "ALTER TABLE t ADD COLUMN z",
    "CREATE TABLE u AS SELECT * FROM t",
    "CREATE TEMP TABLE u (a)",
    "CREATE TEMP VIEW u AS SELECT 1",
    "CREATE INDEX i ON t (x)",
    "CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t; END",
    "CREATE VIRTUAL TABLE f USING fts5(a)",
    "UPDATE sqlite_master SET sql = ''",
    "DELETE FROM sqlite_master",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT s",
    "VACUUM",
    "REINDEX",
    "ANALYZE",
    "EXPLAIN UPDATE t SET x = 0",
]

OUTSIDE = [
    "ATTACH DATABASE 'hostile.sqlite' AS h",
    "ATTACH DATABASE ':memory:' AS h",
    "DETACH DATABASE main",
    "VACUUM INTO 'hostile.sqlite'",
    "PRAGMA writable_schema = 1",
    "PRAGMA query_only = 0",
    "PRAGMA journal_mode = WAL",
    "PRAGMA hard_heap_limit = 1",
    "PRAGMA mmap_size = 1000000000000",
    "PRAGMA temp_store_directory = '/tmp'",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA optimize",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM pragma_journal_mode('WAL')",
    "SELECT * FROM pragma_function_list",
    "SELECT load_extension('hostile')",
    "SELECT load_extension('hostile', 'init')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('hostile', 'x')",
    "SELECT fts3_tokenizer('x')",
    "SELECT * FROM dbstat",
]

BOMBS = [
    "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT * FROM c",
    "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c",
    "WITH RECURSIVE c(i) AS (SELECT 1 UNION SELECT i + 1 FROM c) SELECT max(i) FROM c",
    "WITH RECURSIVE c(s) AS (SELECT 'a' UNION ALL SELECT s || s FROM c) SELECT max(length(s)) FROM c",
    "WITH RECURSIVE c(s) AS (SELECT hex(randomblob(9000)) UNION ALL SELECT hex(randomblob(9000)) FROM c) SELECT s FROM c",
    f"WITH RECURSIVE c(s) AS (SELECT {LONG} UNION ALL SELECT s FROM c) SELECT json_group_array(s) FROM c",
    memberships(12),
    memberships(20),
    tables(12),
    tables(25),
    copies(20, 2),
    copies(60, 2),
    copies(8, 9),
    copies(12, 9).replace("c3", '"c3"'),
    "SELECT count(x) FROM " + "(SELECT x+x+x+x+x+x x FROM " * 8 + "(SELECT i x FROM n)" + ")" * 8 + ", n a, n b, n c",
    "SELECT ', f AS (1, f AS (1, f AS (1', count(*) FROM (" + copies(14, 3).replace("c", '"c"') + ")",
    "SELECT count(*) FROM n a, n b, n c, n d",
    "SELECT * FROM n a CROSS JOIN n b CROSS JOIN n c ORDER BY random()",
    "SELECT DISTINCT a.i * b.i * c.i FROM n a, n b, n c",
    "SELECT a.i, group_concat(b.i || c.i) FROM n a, n b, n c GROUP BY a.i",
    "SELECT a.i FROM n a, n b, n c UNION SELECT b.i FROM n a, n b, n c",
    "SELECT sum(a.i) OVER (ORDER BY b.i, c.i) FROM n a, n b, n c",
    "SELECT i, (SELECT count(*) FROM n b, n c WHERE b.i + c.i > a.i) FROM n a",
]

GROWTH = [
    "SELECT zeroblob(1000000000)",
    "SELECT zeroblob(2147483647)",
    "SELECT hex(zeroblob(500000000))",
    "SELECT randomblob(1000000000)",
    "SELECT length(randomblob(900000)) FROM n a, n b",
    "SELECT printf('%.*c', 2147483647, 'x')",
    "SELECT printf('%2000000000d', 1)",
    "SELECT format('%.1000000000f', 1.5)",
    "SELECT group_concat(hex(zeroblob(10000))) FROM n a, n b",
    "SELECT group_concat(hex(randomblob(400))) FROM n a, n b",
    "SELECT json_group_array(hex(zeroblob(10000))) FROM n a, n b",
    "SELECT json_group_object(a.i, hex(zeroblob(10000))) FROM n a, n b",
    "SELECT replace(replace(hex(zeroblob(10000)), '0', hex(zeroblob(1000))), '0', hex(zeroblob(1000)))",
    "SELECT hex(zeroblob(16000)), hex(zeroblob(16000)), hex(zeroblob(16000)), hex(zeroblob(16000)) FROM n a, n b",
    f"SELECT {', '.join(['zeroblob(900000)'] * 1500)}",
    f"SELECT trim({LONG}, {LONG} || 'b')",
    f"SELECT instr({LONG} || {LONG}, {LONG} || 'b') FROM n",
    f"SELECT replace({LONG} || {LONG}, {LONG} || 'b', '') FROM n",
    f"SELECT {LONG} LIKE '%' || substr({LONG}, 1, 40000) || 'b' FROM n",
    f"SELECT {LONG} GLOB '*a*a*a*a*a*a*a*a*a*a*a*b' FROM n",
    "SELECT quote(zeroblob(900000)) FROM n",
    f"SELECT {', '.join(['x'] * 1900)} FROM (SELECT hex(zeroblob(16000)) || char(128512) x FROM n)",
    "SELECT hex(zeroblob(400000)) || char(128512) FROM n",
    "SELECT i, hex(randomblob(15000)) FROM n",
]

SHAPES = [
    f"SELECT {'(' * 5000}1{')' * 5000}",
    f"SELECT {'(SELECT ' * 500}1{')' * 500}",
    f"SELECT {'NOT ' * 20000}1",
    f"SELECT {'-' * 1}{'- ' * 9000}1",
    f"SELECT {'1 + ' * 20000}1",
    f"SELECT {'CASE WHEN 1 THEN ' * 2000}1{' END' * 2000}",
    f"SELECT * FROM {'(SELECT * FROM ' * 300}t{')' * 300}",
    f"SELECT count(*) FROM n WHERE i IN ({','.join(map(str, range(15000)))})",
    f"SELECT count(*) FROM n WHERE {' OR '.join(f'i = {i}' for i in range(5000))}",
    f"SELECT {', '.join(f'{i}' for i in range(5000))}",
    f"SELECT 1 {'UNION SELECT 1 ' * 3000}",
    f"SELECT count(*) FROM {', '.join(f'n a{i}' for i in range(64))}",
    f"SELECT count(*) FROM {', '.join(f'n a{i}' for i in range(200))}",
    f"SELECT '{'x' * 90_000}'",
    f"SELECT '{'x' * 2_000_000}'",
    f"WITH {', '.join(f'c{i} AS (SELECT 1)' for i in range(2000))} SELECT 1",
]

TEXTS = [
    "",
    " \n\t ",
    ";",
    ";;;",
    "-- only a comment",
    "/* only a comment */",
    "/* unfinished",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE t",
    "SELECT 1;\0DROP TABLE t",
    "SELECT '\0'",
    "\0",
    "SELECT 'unfinished",
    'SELECT "unfinished',
    "SELECT '\ud800'",
    "SELECT \udcff\udcfe",
    "\ufeffSELECT 1",
    "SELECT word FROM odd",
    "SELECT CAST(x'fffefd' AS TEXT) FROM n",
    bytes(range(256)).decode("latin-1"),
    "".join(chr(code) for code in range(1, 3000)),
    "I am sorry, I cannot answer that.",
    "```sql\nSELECT 1\n```",
    "SELECT ?",
    "SELECT :name, @other, $third",
    "SELECT 9223372036854775807 + 1, abs(-9223372036854775808)",
    "SELECT 1e999, -1e999, 0.0 / 0",
    "EXPLAIN EXPLAIN SELECT 1",
    "SELECT json_extract('{}', CAST(x'ff' AS TEXT))",
    "SELECT 1 AS '\u00ff', nope.\u00a0x",
    "SELECT DISTINCT",
    "DISTINCT",
]

CORPUS = [*WRITES, *OUTSIDE, *BOMBS, *GROWTH, *SHAPES, *TEXTS]
