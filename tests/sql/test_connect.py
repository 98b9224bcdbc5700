"""Opening databases by URL: what is wrong is one sentence, and no sentence holds a password."""

import os
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from making.clock import STALL_S
from making.databases import SERVERS, Place, empty, shop, with_database
from making.engines import MARIADB, POSTGRES
from making.relay import relay
from merit.errors import DatabaseUnusable, InputError
from merit.sql.address import parse
from merit.sql.connect import SchemaFilter, masked, open_engine
from merit.sql.mysql.session import MySQLSession
from merit.types import Cause, Error, Limits, Rows

SECRET = "hunter2-p@ss"


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with shop("postgresql", tmp_path_factory.mktemp("postgresql")) as place:
        yield place


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with shop("mariadb", tmp_path_factory.mktemp("mariadb")) as place:
        yield place


def refused(url: str, kind: type[Exception] = DatabaseUnusable) -> str:
    with pytest.raises(kind) as caught:
        open_engine(url)
    said = str(caught.value)
    assert SECRET not in said
    assert "\n" not in said
    return said


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ann:secret@host/db", "postgresql://ann:***@host/db"),
        ("postgresql://ann:se@cr:et/@host:1/db", "postgresql://ann:***@host:1/db"),
        (
            "postgresql://ann@host/db?password=secret&sslmode=require",
            "postgresql://ann@host/db?password=***&sslmode=require",
        ),
        ("mysql://ann:secret@host/db?ssl_key_password=x", "mysql://ann:***@host/db?ssl_key_password=***"),
        ("mysql://:secret@host", "mysql://:***@host"),
        ("could not reach mysql://ann:secret@host/db: no", "could not reach mysql://ann:***@host/db: no"),
        ("sqlite:///shop.sqlite", "sqlite:///shop.sqlite"),
        ("postgresql://ann@host/db", "postgresql://ann@host/db"),
        ("postgresql://ann@host:5432/db", "postgresql://ann@host:5432/db"),
        ("postgresql://ann@server:secret@host:5432/db", "postgresql://ann@server:***@host:5432/db"),
        ("mysql://ann lee:secret@host/db", "mysql://ann lee:***@host/db"),
        ("postgresql://host/db?pass%77ord=se#cr;et&x=1", "postgresql://host/db?pass%77ord=***&x=1"),
        ("duckdb:///shop?motherduck_token=secret", "duckdb:///shop?motherduck_token=***"),
        ("host=h password = secret user=ann", "host=h password = *** user=ann"),
        (r"host=h password='se \'cret' user=ann", "host=h password=*** user=ann"),
        (r"host=h sslpassword=se\ cret user=ann", "host=h sslpassword=*** user=ann"),
        ("host=h password='se cret", "host=h password=***"),
    ],
)
def test_passwords_are_masked(url: str, shown: str) -> None:
    assert masked(url) == shown


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("password=se cret horse&sslmode=require", "password=***&sslmode=require"),
        ("sslmode=require&PassWord=se cret", "sslmode=require&PassWord=***"),
        ("password=se;cret+horse,&x=1", "password=***&x=1"),
        ("pass=se cret", "pass=***"),
        ("pa\tssword=se\n\tcret&x=1", "password=***&x=1"),
        ("%70ass+word=se cret", "%70ass+word=***"),
        ("options=-c%20my.token%3Dse cret&x=1", "options=***&x=1"),
        ("x=1#password=se cret", "x=***"),
        ("x=1;password=se cret", "x=***"),
        ("passfile=/home/ann/.pgpass", "passfile=/home/ann/.pgpass"),
        ("application_name=my token&x=1", "application_name=my token&x=1"),
    ],
)
def test_a_secret_in_a_query_ends_where_the_driver_ends_it(query: str, shown: str) -> None:
    """At the next & alone."""
    for place in ("postgresql://ann@host/db", "mysql://host/db"):
        assert masked(f"{place}?{query}") == f"{place}?{shown}"
        assert masked(f"no: {place}?{query}") == f"no: {place}?{shown}"


@pytest.mark.parametrize("place", ["sqlite:///host=h port=1", "postgresql://host/db;user=ann", "duckdb:///a#user=ann"])
def test_nor_does_one_elsewhere_in_a_url_end_at_a_space(place: str) -> None:
    assert masked(f"{place};password='se cret' horse") == f"{place};password=***"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:/ann:secret@host/db",
        "postgresql:/host/db?password=12 secret",
        "host=host password=12://secret",
        "host=host password=secret://12",
        "oracle://host/db?password=12 secret",
        "oracle://ann/secret@host/db",
        "ann:secret@host",
        "postgresql://ann:secret/db",
        "password=secret",
        "postgresql://ann:12?secret@host/db",  # 12 could be a port, and secret an option
        "mysql://ann:12?secret=1@host/db",
    ],
)
def test_a_url_with_a_slip_is_refused_without_its_password(url: str) -> None:
    assert "secret" not in refused(url, InputError)


def test_a_drivers_message_is_scrubbed() -> None:
    address = parse("postgresql://ann:p%40ss@host/db?sslpassword=other")
    assert address.scrubbed("no p@ss\nor p%40ss or other") == "no *** or *** or ***"
    address = parse("postgresql://ann@host/db?password=se cret/&pass=o+ther")
    assert address.scrubbed("no se cret/ or se%20cret%2F or o ther or o%20ther") == "no *** or *** or *** or ***"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("shop.sqlite", "is not the URL of a database; write sqlite:///file"),
        ("oracle://host/db", "oracle://...: merit does not know oracle: databases"),
        ("sqlite://shop.sqlite", "name a file after three slashes"),
        ("sqlite:///", "name a file after three slashes"),
        ("postgresql://host:port/db", "cannot be read"),
        ("postgresql://host/db?timezone=a'b", "is not the name of a time zone"),
        ("postgresql://ann:se\udccfcret@host/db", "is not UTF-8 text"),
        ("mysql://ann@host/d\udcffb", "is not UTF-8 text"),
    ],
)
def test_a_url_that_cannot_be_used(url: str, said: str) -> None:
    assert said in refused(url, InputError)


def test_files_by_relative_and_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with shop("sqlite", tmp_path):
        monkeypatch.chdir(tmp_path)
        for url in ("sqlite:///shop.sqlite", f"sqlite:///{tmp_path}/shop.sqlite"):
            with closing(open_engine(url)) as engine:
                assert isinstance(engine.execute("SELECT 1 FROM customer", Limits()), Rows)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_file_that_is_missing_or_damaged(dialect: str, tmp_path: Path) -> None:
    assert "there is no such database file" in refused(f"{dialect}:///{tmp_path}/none")
    assert refused(f"{dialect}:///{tmp_path}") == f"{dialect}:///{tmp_path}: is a folder; name the database file"
    (tmp_path / "bad").write_bytes(b"no database " * 1000)
    with pytest.raises(DatabaseUnusable), closing(open_engine(f"{dialect}:///{tmp_path}/bad")) as engine:
        engine.execute("SELECT 1 FROM t", Limits())
    kind = {"sqlite": "SQLite", "duckdb": "DuckDB"}[dialect]
    with (
        pytest.raises(DatabaseUnusable, match=f"bad: .*give a {kind} database"),
        closing(open_engine(f"{dialect}:///{tmp_path}/bad")) as engine,
    ):
        engine.schema()


@pytest.mark.parametrize(
    ("url", "module", "extra"),
    [
        ("postgresql://host/db", "psycopg", "postgres"),
        ("mysql://host/db", "pymysql", "mysql"),
        ("mariadb://host/db", "pymysql", "mysql"),
        ("duckdb:///file", "duckdb", "duckdb"),
    ],
)
def test_a_missing_driver_is_named_with_the_whole_command(
    url: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert refused(url).endswith(f"run, in merit's own folder: pip install '.[{extra}]'")


def test_drivers_are_imported_only_when_needed() -> None:
    code = "import sys, merit.sql.connect; sys.exit(bool({'psycopg', 'pymysql', 'duckdb'} & sys.modules.keys()))"
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code]) == 0


@pytest.mark.parametrize("scheme", ["postgresql", "mysql", "mariadb"])
def test_a_server_that_is_away(scheme: str) -> None:
    said = refused(f"{scheme}://ann:{SECRET}@127.0.0.1:1/db")
    assert said.startswith(f"{scheme}://ann:***@127.0.0.1:1/db: cannot connect: ")
    assert "check that the server runs" in said


def test_an_unknown_database_or_user_of_postgresql(postgres: Place) -> None:
    assert 'database "merit_nope" does not exist' in refused(with_database(POSTGRES, "merit_nope"))
    at = urlsplit(POSTGRES)
    url = with_database(POSTGRES, "test", netloc=f"merit_nobody:{SECRET}@{at.hostname}:{at.port or 5432}")
    assert "merit_nobody" in refused(url)
    assert "invalid" in refused(f"{postgres.url}?nonsense=1")


def test_a_wrong_password_or_database_of_mariadb(mariadb: Place) -> None:
    at = urlsplit(MARIADB)
    user = f"merit_{os.getpid()}"
    mariadb.run(f"CREATE USER {user}@'%' IDENTIFIED BY 'right'")
    try:
        where = f"@{at.hostname}:{at.port or 3306}"
        assert "Access denied" in refused(with_database(MARIADB, "test", netloc=f"{user}:{SECRET}{where}"))
        assert "Unknown database" in refused(with_database(MARIADB, "merit_nope"))
        assert "cannot use the option nonsense; known are" in refused(f"{mariadb.url}?nonsense=1", InputError)
        # Missing rights are an error of the statement.
        name = mariadb.url.rpartition("/")[2]
        mariadb.run(f"GRANT SELECT ON {name}.n TO {user}@'%'")
        with closing(open_engine(with_database(MARIADB, name, netloc=f"{user}:right{where}"))) as engine:
            assert isinstance(engine.execute("SELECT count(*) FROM n", Limits()), Rows)
            result = engine.execute("SELECT * FROM customer", Limits())
            assert isinstance(result, Error)
            assert (result.cause, result.code) == (Cause.FORBIDDEN, "1142")
            assert [table.name for table in engine.schema().tables] == ["n"]
    finally:
        mariadb.run(f"DROP USER {user}@'%'")


def test_missing_rights_on_postgresql_are_an_error_of_the_statement(postgres: Place) -> None:
    role = f"merit_{os.getpid()}"
    postgres.run(f"CREATE ROLE {role} LOGIN PASSWORD 'right'")
    postgres.run(f"GRANT SELECT ON n TO {role}")
    at = urlsplit(postgres.url)
    url = at._replace(netloc=f"{role}:right@{at.hostname}:{at.port or 5432}").geturl()
    try:
        with closing(open_engine(url)) as engine:
            result = engine.execute("SELECT * FROM customer", Limits())
            assert isinstance(result, Error)
            assert (result.cause, result.code) == (Cause.FORBIDDEN, "42501")
            assert [table.name for table in engine.schema().tables] == ["n"]
    finally:
        postgres.run(f"DROP OWNED BY {role}")
        postgres.run(f"DROP ROLE {role}")


def test_too_many_connections_are_the_environments(postgres: Place) -> None:
    role = f"merit_one_{os.getpid()}"
    postgres.run(f"CREATE ROLE {role} LOGIN CONNECTION LIMIT 0")
    at = urlsplit(postgres.url)
    try:
        assert "too many connections" in refused(at._replace(netloc=f"{role}@{at.hostname}").geturl())
    finally:
        postgres.run(f"DROP ROLE {role}")


def test_a_server_that_goes_away_is_never_the_statements_fault(postgres: Place) -> None:
    role = f"merit_gone_{os.getpid()}"
    postgres.run(f"CREATE ROLE {role} LOGIN")
    at = urlsplit(postgres.url)
    try:
        with closing(open_engine(at._replace(netloc=f"{role}@{at.hostname}:{at.port or 5432}").geturl())) as engine:
            postgres.run(f"ALTER ROLE {role} NOLOGIN")
            postgres.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{role}'")
            with pytest.raises(DatabaseUnusable, match="cannot connect"):
                engine.execute("SELECT 1", Limits())
            postgres.run(f"ALTER ROLE {role} LOGIN")
            assert engine.execute("SELECT 1 AS a", Limits()) == Rows(("a",), [(1,)])
    finally:
        postgres.run(f"DROP ROLE {role}")


def test_a_locked_table_is_the_environments(postgres: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("merit.sql.postgres.session._LOCK_S", 0.1)
    with closing(open_engine(postgres.url)) as engine:
        postgres.run("BEGIN")
        postgres.run("LOCK TABLE n IN ACCESS EXCLUSIVE MODE")
        try:
            with pytest.raises(DatabaseUnusable, match="lock timeout; try again later"):
                engine.execute("SELECT count(*) FROM n", Limits())
        finally:
            postgres.run("ROLLBACK")


def test_options_of_tls_reach_the_driver(postgres: Place, mariadb: Place) -> None:
    assert "SSL" in refused(f"{postgres.url}?sslmode=verify-full&sslrootcert=/nonexistent.pem")
    assert "cannot connect" in refused(f"{mariadb.url}?ssl_ca=/nonexistent.pem&ssl_verify_cert=true")


def test_text_that_is_not_utf_8_is_told(postgres: Place) -> None:
    name = f"merit_ascii_{os.getpid()}"
    postgres.run(f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    try:
        with closing(open_engine(with_database(POSTGRES, name))) as engine:
            result = engine.execute(r"SELECT E'a\xff'", Limits())
            assert isinstance(result, Error)
            assert (result.cause, result.code) == (Cause.DBMS, "22021")
            assert engine.execute("SELECT 1 AS a", Limits()) == Rows(("a",), [(1,)])
    finally:
        postgres.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize(
    ("include", "exclude", "shown"),
    [
        ((), (), ["a.t.x", "a.t.y", "a.u.x", "b.t.x"]),
        (("a",), (), ["a.t.x", "a.t.y", "a.u.x"]),
        (("A.T",), (), ["a.t.x", "a.t.y"]),
        (("*.t",), (), ["a.t.x", "a.t.y", "b.t.x"]),
        ((), ("a",), ["b.t.x"]),
        ((), ("a.u", "b.*"), ["a.t.x", "a.t.y"]),
        ((), ("*.*.x",), ["a.t.y"]),
        (("a.t.x",), (), ["a.t.x"]),
        (("a", "a.t.y"), (), ["a.t.y", "a.u.x"]),
        (("b", "a.t.y"), (), ["a.t.y", "b.t.x"]),
    ],
)
def test_a_filter_by_schema_table_and_column(
    include: tuple[str, ...], exclude: tuple[str, ...], shown: list[str]
) -> None:
    chosen = SchemaFilter(include, exclude)
    names = [("a", "t", "x"), ("a", "t", "y"), ("a", "u", "x"), ("b", "t", "x")]
    assert [".".join(n) for n in names if chosen.shows_table(*n[:2]) and chosen.shows_column(*n)] == shown


@pytest.mark.parametrize("pattern", ["", "a.b.c.d"])
def test_a_pattern_that_means_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(InputError, match="SCHEMA.TABLE.COLUMN"):
        SchemaFilter(exclude=(pattern,))


@pytest.mark.parametrize(
    "url",
    ["postgresql://ann@127.0.0.1:{port}/db?connect_timeout=2", "mysql://ann@127.0.0.1:{port}/db?connect_timeout=2"],
)
def test_a_server_that_takes_a_connection_and_says_nothing_is_given_up(url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started = time.monotonic()
        said = refused(url.format(port=silent.getsockname()[1]))
    assert "cannot connect" in said
    assert time.monotonic() - started < 10 + STALL_S


def test_a_slow_statement_is_given_its_own_time(mariadb: Place) -> None:
    """Not that of connecting."""
    with closing(MySQLSession(parse(f"{mariadb.url}?connect_timeout=1"))) as session:
        assert isinstance(session.query("SELECT sleep(1.5)", Limits(timeout_s=60)), Rows)


@pytest.mark.parametrize(
    "user", ["ann:pw@hidden", "ann:pw@hidden:part", "ann@pw:hidden", "ann:pw%40hidden", "ann:hid%zzden"]
)
def test_no_part_of_a_password_is_taken_for_a_host(user: str) -> None:
    """Nor shown as one, nor asked for in the network."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # nothing listens there
        said = refused(f"postgresql://{user}@127.0.0.1:{unused.getsockname()[1]}/db?connect_timeout=5")
    assert "Connection refused" in said
    assert "hid" not in said


def test_a_password_that_the_driver_cannot_read_is_refused() -> None:
    said = refused("postgresql://ann:%FFhidden@127.0.0.1:1/db")
    assert said == "postgresql://ann:***@127.0.0.1:1/db: holds a %XX that is not UTF-8, which its driver cannot read"


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@pytest.mark.parametrize("how", ["renamed", "copied"])
def test_a_file_that_was_replaced_is_read_anew(tmp_path: Path, dialect: str, how: str) -> None:
    names = {"now": "Ann", "then": "Eve", "at last": "Kim"}
    for folder, name in names.items():
        (tmp_path / folder).mkdir()
        with empty(dialect, tmp_path / folder) as place:
            place.run("CREATE TABLE customer (name VARCHAR(20))")
            place.run(f"INSERT INTO customer VALUES ('{name}')")
    now, then, last = (next((tmp_path / folder).iterdir()) for folder in names)
    with closing(open_engine(f"{dialect}:///{now}")) as engine:

        def customers() -> object:
            result = engine.execute("SELECT name FROM customer", Limits())
            return result.rows if isinstance(result, Rows) else result

        assert customers() == [("Ann",)]
        for path, name in ((then, "Eve"), (last, "Kim")):
            if how == "renamed":
                path.replace(now)
            else:
                now.write_bytes(path.read_bytes())
            assert customers() == [(name,)]
            assert [table.name for table in engine.schema().tables] == ["customer"]


def test_a_log_beside_a_duckdb_file_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    made, now = tmp_path / "made.duckdb", tmp_path / "now.duckdb"
    with closing(duckdb.connect(str(made))) as writer:
        writer.execute("CREATE TABLE customer (name VARCHAR)")
        writer.execute("CHECKPOINT")
        shutil.copyfile(made, now)
        logs = []
        for name in ("Ann", "Eve"):
            writer.execute(f"INSERT INTO customer VALUES ('{name}')")
            logs.append(Path(f"{made}.wal").read_bytes())
    log = Path(f"{now}.wal")
    log.write_bytes(logs[0])
    with closing(open_engine(f"duckdb:///{now}")) as engine:
        for content, rows in ((logs[0], [("Ann",)]), (logs[1], [("Ann",), ("Eve",)])):
            log.write_bytes(content)
            result = engine.execute("SELECT name FROM customer", Limits())
            assert isinstance(result, Rows)
            assert result.rows == rows


def test_a_pipe_beside_a_duckdb_file_is_not_waited_for(tmp_path: Path) -> None:
    with empty("duckdb", tmp_path) as place:
        place.run("CREATE TABLE customer (name VARCHAR)")
    file = next(path for path in tmp_path.iterdir() if path.suffix != ".wal")
    Path(f"{file}.wal").unlink(missing_ok=True)
    os.mkfifo(f"{file}.wal")
    assert "beside it is not a regular file" in refused(f"duckdb:///{file}")


@pytest.mark.parametrize("dialect", SERVERS)
def test_a_server_that_falls_silent_while_its_catalogue_is_read_is_given_up(
    dialect: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = "merit.sql.mysql.session" if dialect == "mariadb" else "merit.sql.postgres.session"
    place = request.getfixturevalue("mariadb" if dialect == "mariadb" else "postgres")
    with relay(place.url) as way, closing(open_engine(f"{way.url}?connect_timeout=2")) as engine:
        monkeypatch.setattr(f"{session}._CATALOGUE_S", 0.2)
        way.silent.set()
        started = time.monotonic()
        with pytest.raises(DatabaseUnusable):
            engine.health()
        assert time.monotonic() - started < 5 + STALL_S


def test_a_server_that_falls_silent_after_the_login_is_given_up(
    mariadb: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = MySQLSession._prepare
    with relay(mariadb.url) as way:

        def prepare_in_silence(session: MySQLSession) -> None:
            way.silent.set()
            prepare(session)

        monkeypatch.setattr(MySQLSession, "_prepare", prepare_in_silence)
        with pytest.raises(DatabaseUnusable, match="timed out"):
            open_engine(f"{way.url}?connect_timeout=2")
