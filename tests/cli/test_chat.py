"""`merit chat`: one question a line, and what a person thinks of the last answer."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from making.shop import make_shop
from merit.cli.main import cli
from merit.live import Asked, Corrected, History, Rejected

SQL = "SELECT count(*) FROM orders"


@pytest.fixture(autouse=True)
def _shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_shop(tmp_path / "shop.sqlite")
    (tmp_path / "script.jsonl").write_text(json.dumps({"reply": f"<answer>{SQL}</answer>"}) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))


def chat(*lines: str) -> Result:
    command = ["chat", "--database", "shop.sqlite", "--model", "scripted:script.jsonl", "--author", "ada"]
    return CliRunner().invoke(cli, command, input="\n".join(lines) + "\n")


def test_questions_and_what_is_thought_of_the_answers(tmp_path: Path) -> None:
    done = chat("How many orders?", ":sql SELECT 3", "", "And paid?", ":no it counts all", ":why", ":Quit", "Never?")
    assert done.exit_code == 0, done.output
    assert "corrected; remembered as pre-" in done.output
    assert "rejected; nothing to remember" in done.output
    assert "examples that the model was shown: pre-" in done.output
    asked, corrected, second, rejected = History(tmp_path / ".merit").events()
    assert isinstance(asked, Asked)
    assert isinstance(second, Asked)
    assert (asked.question, second.question, second.earlier) == ("How many orders?", "And paid?", (asked.id,))
    assert isinstance(corrected, Corrected)
    assert corrected.author == "ada"
    assert isinstance(rejected, Rejected)
    assert rejected.reason == "it counts all"


def test_a_mistake_is_told_and_the_conversation_goes_on() -> None:
    done = chat(":yes", ":maybe", "How many?", ":sql", ":sql SELECT x", ":yes", ":yes", "How many orders now?")
    told = [line for line in done.output.splitlines() if line.startswith("merit: ")]
    assert told[:4] == [
        "merit: nothing was asked yet",
        "merit: there is no command :maybe; there are :yes  :no [REASON]  :sql SELECT ...  :why  :quit",
        "merit: write the SQL behind it, such as :sql SELECT count(*) FROM orders",
        "merit: the correction does not run (no such column: x); nothing was kept",
    ]
    assert "was confirmed already, on " in told[4]
    assert done.exit_code == 1
    assert done.output.rstrip().endswith("(100% of the votes, not calibrated)")
