"""merit.toml: every field, and every mistake that a person can make in it."""

import random
import re
from contextlib import suppress
from pathlib import Path

import pytest

from making.fuzzing import tries
from making.hostile import flip_in
from making.semantics import CORTEX, OSSIE, SHOP, write, write_dbt
from merit.context import open_context
from merit.errors import InputError
from merit.settings import (
    DEFAULT_PRIVATE,
    AskingSettings,
    BudgetSettings,
    CheckSettings,
    Settings,
    matches,
    read_settings,
)
from merit.settings.read import SECTIONS

WHOLE = """
[database]
name = "shop"
url_env = "SHOP_URL"
rows = "never"
timeout = 10
include = ["public", "sales"]
exclude = ["sales.tmp_*", "sales.orders.note"]
private = ["*email*", "customers.region"]

[model]
uri = "openai:gpt-small"

[budget]
calls = 8
tokens = 40_000
seconds = 60
cost = 0.05
cost_per_day = 2
prices = [0.15, 0.6]

[rules]
fiscal_year = "The fiscal year begins in April."

[glossary]
TAC = "total active customers"
"net revenue" = "revenue without tax"

[context]
dbt = "target"
semantic = ["ossie.yaml", "cortex.yaml"]

[memory]
url = "postgresql://team@host/memories?schema=shop"
"""
LEAST = '[database]\nname = "shop"\nurl = "sqlite:///shop.db"\n'


def read(tmp_path: Path, text: str) -> Settings:
    return read_settings(write(tmp_path / "merit.toml", text))


def test_every_field_is_read(tmp_path: Path) -> None:
    settings = read(tmp_path, WHOLE)
    database = settings.database
    assert (database.name, database.url_env, database.rows, database.timeout_s) == ("shop", "SHOP_URL", "never", 10)
    assert database.include == ("public", "sales")
    assert database.exclude == ("sales.tmp_*", "sales.orders.note")
    assert (settings.model.uri, settings.model.encoder) == ("openai:gpt-small", "wordllama")
    assert settings.budget == BudgetSettings(8, 40_000, 60, 0.05, cost_per_day=2, prices=(0.15, 0.6))
    assert settings.rules == {"fiscal_year": "The fiscal year begins in April."}
    assert settings.glossary["net revenue"] == "revenue without tax"
    assert settings.memory.resolved_url({}) == "postgresql://team@host/memories?schema=shop"
    assert settings.context.dbt == tmp_path / "target"
    assert settings.context.semantic == (tmp_path / "ossie.yaml", tmp_path / "cortex.yaml")


def test_name_and_url_are_enough(tmp_path: Path) -> None:
    settings = read(tmp_path, LEAST)
    assert settings.database.resolved_url({}) == "sqlite:///shop.db"
    assert settings.database.rows == "prompt"
    assert settings.budget.schema_tokens == 8000
    assert settings.context.comments
    assert settings.memory.resolved_url({}) == ""


def test_a_url_comes_from_the_environment(tmp_path: Path) -> None:
    database = read(tmp_path, WHOLE).database
    assert database.resolved_url({"SHOP_URL": "postgresql://a:b@c/d"}) == "postgresql://a:b@c/d"
    with pytest.raises(InputError, match="^SHOP_URL: the environment variable is not set"):
        database.resolved_url({})
    memory = read(tmp_path, LEAST + '[memory]\nurl_env = "TEAM"').memory
    assert memory.resolved_url({"TEAM": "postgresql://a:b@c/d"}) == "postgresql://a:b@c/d"
    with pytest.raises(InputError, match="^TEAM: the environment variable is not set"):
        memory.resolved_url({})


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://reader:hunter2@host/shop",
        "postgresql://reader:hunter2/#?@host/shop",
        "postgresql://:hunter2@host/shop",
        "postgresql://reader@host/shop?password=hunter2",
        "postgresql://reader@host/shop?sslmode=require&sslpassword=hunter2",
        "mysql://reader@host/shop?passwd=hunter2",
        "duckdb:///x?motherduck_token=hunter2",
        "mysql://reader@host/shop?pass=hunter2",
        "postgresql://reader:hunter2[@host/shop",
    ],
)
def test_a_password_in_the_file_is_refused_and_not_repeated(url: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"merit.toml, \[database\]: the field 'url' holds a password") as caught:
        read(tmp_path, f"[database]\nname = 'shop'\nurl = '{url}'\n")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://reader@host:5432/shop?sslmode=require",
        "mysql://reader@127.0.0.1:3306/shop",
        "sqlite:///folder/a@b.db",
        "postgresql://reader@[::1]:5432/shop",
        "postgresql:///shop?host=/run/postgresql",
        "postgresql://reader@host/shop?sslkey=reader.key",
        "mysql://reader@host/shop?ssl_key=reader.key",
        "postgresql://reader@host/shop?passfile=.pgpass",
    ],
)
def test_a_url_without_a_password_is_taken(url: str, tmp_path: Path) -> None:
    assert read(tmp_path, f"[database]\nname = 'shop'\nurl = '{url}'\n").database.url == url


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "[database]: give either 'url', or 'url_env'"),
        (LEAST + 'url_env = "X"', "[database]: give either 'url', or 'url_env'"),
        ('[database]\nurl = "sqlite:///a"', "[database]: the field 'name' is missing"),
        ('[database]\nname = "a/b"\nurl = "sqlite:///a"', "[database]: the field 'name' cannot be 'a/b'"),
        ('[database]\nname = "a"\nurl = "shop.db"', "[database]: the field 'url' should be a URL"),
        ('[database]\nname = "a"\nurl_env = "A-B"', "should be the name of an environment variable"),
        (LEAST + 'rows = "sometimes"', "the field 'rows' cannot be 'sometimes'; write 'prompt' or 'never'"),
        (LEAST + "timeout = 0", "the field 'timeout' cannot be 0; write a number above 0"),
        (LEAST + "timeout = true", "the field 'timeout' cannot be true; write a number without quotes"),
        (LEAST + 'include = "a"', "the field 'include' cannot be 'a'; write a list of texts in brackets"),
        (LEAST + 'exclude = ["a.b.c.d"]', "the field 'exclude' has the pattern 'a.b.c.d'; write SCHEMA, SCHEMA.TABLE"),
        (LEAST + 'private = [" "]', "the field 'private' has the pattern ' '; write COLUMN, TABLE.COLUMN"),
        (LEAST + "include = [1]", "the field 'include' should be a list of at most 500 texts"),
        (LEAST + 'tabels = ["a"]', "the field 'tabels' means nothing here; known are name, url"),
        (LEAST + 'password = "x"', "'password' cannot be in a file; set it as an environment variable"),
        (LEAST + '[model]\napi_key = "x"', "[model]: 'api_key' cannot be in a file"),
        (LEAST + 'pass = "x"', "'pass' cannot be in a file; set it as an environment variable"),
        (LEAST + "[models]\n", "'models' means nothing here; known are [database], [model]"),
        (LEAST + "[checks]\n", "[glossary], [[check]]"),
        ("database = 5", "database should be a table; write [database] on a line"),
        (LEAST + "[budget]\ncalls = -1", "[budget]: the field 'calls' cannot be -1; write a number above 0"),
        (LEAST + "[budget]\ncost = nan\nprices = [1, 2]", "the field 'cost' cannot be nan"),
        (LEAST + "[budget]\ncost = 1", "[budget]: a limit on cost needs 'prices'"),
        (LEAST + "[budget]\nprices = [1]", "the field 'prices' should be two numbers"),
        (LEAST + "[rules]\na = 1", "[rules]: 'a' should be a text in quotes, of at most 2000 characters"),
        (LEAST + f'[glossary]\na = "{"x" * 3000}"', "[glossary]: 'a' should be a text in quotes"),
        (LEAST + '[context]\ndbt = ["a"]', "[context]: the field 'dbt' cannot be ['a']; write a text in quotes"),
        (LEAST + '[context]\nsemantic = "a\\u0000"', "[context]: a path cannot be"),
        (LEAST + '[memory]\nurl = "postgresql://a:b@c/d"', "[memory]: the field 'url' holds a password"),
        (
            LEAST + '[memory]\nurl = "mysql://a@c/d"',
            "[memory]: the field 'url' should be that of a PostgreSQL database",
        ),
        (LEAST + '[memory]\nurl = "folder"', "[memory]: the field 'url' should be a URL"),
        (LEAST + '[memory]\nurl_env = "A-B"', "[memory]: the field 'url_env' should be the name of an environment"),
        (LEAST + '[memory]\nurl = ""', "[memory]: the field 'url_env' should be the name of an environment"),
        (LEAST + '[memory]\nurl = "postgresql://c/d"\nurl_env = "A"', "[memory]: give either 'url', or 'url_env'"),
        (LEAST + f"timeout = {10**400}", "a number in the field 'timeout' is too large; integers have at most 64 bits"),
        (LEAST + f"timeout = -{10**400}", "a number in the field 'timeout' is too large"),
        (LEAST + f"[budget]\ncalls = {10**400}", "a number in the field 'calls' is too large"),
        (LEAST + f"[budget]\nprices = [1, 0x{'f' * 5000}]", "a number in the field 'prices' is too large"),
        (LEAST + f"[asking]\ncandidates = 0x{'f' * 5000}", "a number in the field 'candidates' is too large"),
        (LEAST + f"[serve]\nkeep_days = {2**63}", "a number in the field 'keep_days' is too large"),
        (LEAST + f"[[check]]\nx = {{y = [[0x{'f' * 5000}]]}}", "a number in the field 'y' is too large"),
        ("[database", "not valid TOML"),
        ("a" + ".a" * 400 + " = 1", "line 1: more than 300 dots"),
        ("a = " + "[" * 10_000, "TOML"),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="merit.toml") as caught:
        read(tmp_path, text)
    assert fault in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="merit.toml: no such file"):
        read_settings(tmp_path / "merit.toml")


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("*email*", "sales.customers.Email_2", True),
        ("*email*", "emails.id", False),
        ("customers.*", "customers.id", True),
        ("customers.*", "sales.customers.id", True),
        ("customers.*", "sales.orders.id", False),
        ("sales.customers.id", "Customers.ID", True),
        ("sales.customers.id", "hr.customers.id", False),
        ("id", "customers.id", True),
        ("ID", "customers.idea", False),
    ],
)
def test_patterns(pattern: str, name: str, fits: bool) -> None:
    assert matches([pattern], name) is fits


def test_private_columns_are_those_that_match_and_all_where_no_row_may_be_read(tmp_path: Path) -> None:
    usual = read(tmp_path, LEAST).database
    assert usual.is_private("users", "Password_Hash")
    assert not usual.is_private("users", "name")
    never = read(tmp_path, LEAST + 'rows = "never"').database
    assert never.is_private("users", "name")
    open_door = read(tmp_path, LEAST + "private = []").database
    assert not open_door.is_private("users", "email")


def test_a_context_is_made_of_all_that_the_file_names_in_its_order(tmp_path: Path) -> None:
    write(tmp_path / "ossie.yaml", OSSIE)
    write(tmp_path / "cortex.yaml", CORTEX)
    write_dbt(tmp_path / "target")
    context = open_context(SHOP, read(tmp_path, WHOLE))
    assert context.rules == ("The fiscal year begins in April.", "Amounts are in euros.", "Round money to cents.")
    assert context.glossary["TAC"] == "total active customers"
    assert context.tables["sales.orders"].description.startswith("One row for each order")  # Ossie's, listed first
    assert context.tables["customers"].description == "Everyone who ever bought"  # dbt's, before the comment
    assert context.columns["sales.orders", "customer_id"].description == "Who bought"  # the comment, before the catalog
    assert {one.rpartition(":")[0].partition(":")[0] for one in context.contradictions} == {
        "sales.orders",
        "customers",
        "sales.orders.total",
        "sales.orders.placed_at",
        "sales.orders.customer_id",
    }


def test_a_path_that_cannot_be_is_named(tmp_path: Path) -> None:
    for text in (f'dbt = "{"x" * 600}"', f'semantic = "{"x" * 290}"', 'dbt = "nowhere"'):
        with pytest.raises(InputError, match="no such file|cannot be read"):
            open_context(SHOP, read(tmp_path, f"{LEAST}[context]\n{text}"))


def test_comments_can_be_left_out(tmp_path: Path) -> None:
    assert open_context(SHOP, read(tmp_path, LEAST + "[context]\ncomments = false")).tables == {}
    assert open_context(SHOP, read(tmp_path, LEAST)).tables["customers"].description == "People who buy"


def test_asking_and_calibration_are_read(tmp_path: Path) -> None:
    text = '[asking]\ncandidates = 5\nleast = 3\nenough = 0.8\n[model]\ncalibration = "own/calibration.json"\n'
    settings = read(tmp_path, LEAST + text)
    assert settings.asking == AskingSettings(5, 3, 0.8)
    assert settings.model.calibration == tmp_path / "own" / "calibration.json"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[asking]\ncandidates = 0", r"\[asking\]: the field 'candidates' cannot be 0; write a number from 1 to 100"),
        ("[asking]\nleast = 9", r"\[asking\]: 'least' cannot be above 'candidates', which is 8"),
        ("[asking]\nenough = 1.5", r"\[asking\]: the field 'enough' cannot be 1.5; write a share above 0, up to 1"),
        ("[asking]\nenough = nan", r"\[asking\]: the field 'enough' cannot be nan"),
        ('[model]\nuri = "openai:m?key=hunter2"', r"\[model\]: the field 'uri' holds a password or a key"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_so_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        read(tmp_path, LEAST + text)
    assert "hunter2" not in str(refused.value)


def test_any_damaged_file_is_read_or_refused(tmp_path: Path) -> None:
    draw = random.Random(3)
    for _ in range(tries(20)):
        path = write(tmp_path / "merit.toml", WHOLE)
        flip_in(path, draw)
        with suppress(InputError):
            read_settings(path)


def test_the_example_of_the_documentation_is_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "merit-toml.md").read_text()
    examples = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert read(tmp_path, examples[0]).database.name == "shop"
    fields = {name for section in SECTIONS.values() for name in section}
    assert [name for name in fields if f"| `{name}` |" not in page] == []
    assert [f"`{pattern}`" for pattern in DEFAULT_PRIVATE if f"`{pattern}`" not in page] == []


# Checks and grades

CHECK = '\n[[check]]\nname = "no loss"\nsql = "SELECT * FROM answer WHERE revenue < 0"\n'


def test_checks_and_grades_are_read(tmp_path: Path) -> None:
    settings = read(tmp_path, LEAST + CHECK + 'table = "sales"\n[memory]\nrecall = "confirmed"\nkeep = "agreed"\n')
    assert settings.checks == (CheckSettings("no loss", "SELECT * FROM answer WHERE revenue < 0", table="sales"),)
    assert (settings.memory.recall, settings.memory.keep) == ("confirmed", "agreed")
    default = read(tmp_path, LEAST).memory
    assert (default.recall, default.keep) == ("tested", "tested")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[check]\n", "a check should be a table; write [[check]] on a line"),
        (CHECK + CHECK, "[[check]] 2: another check is called 'no loss', too"),
        ('[[check]]\nname = "x"\n', "[[check]] 1: the field 'sql' is missing"),
        ('[[check]]\nname = "x"\nsql = "SELECT 1"\n', "the field 'sql' should return what must not be in an answer, such as SELECT * FROM answer"),
        ('[[check]]\nname = "x"\nsql = "DELETE FROM answer"\n', "the field 'sql' should return what must not be"),
        (CHECK + "metrics = 1\n", "[[check]] 1: the field 'metrics' means nothing here; known are name, sql, question, table, metric"),
        (CHECK + 'question = ""\n', "the field 'question' should be a text in quotes, of at most 300 characters"),
        ('[memory]\nscope = "mine"\n', "[memory]: the field 'scope' cannot be 'mine'; write one of personal, team, database"),
        ('[memory]\nscope = "team"\n', "[memory]: the scope 'team' needs the team's name"),
        ('[memory]\nteam = "  "\n', "[memory]: the field 'team' should be a name on one line"),
        ('[memory]\nkeep = "all"\n', "[memory]: the field 'keep' cannot be 'all'; write one of confirmed, tested, agreed, executed"),
    ],
)  # fmt: skip
def test_a_check_or_grade_that_means_nothing_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        read(tmp_path, LEAST + text)
