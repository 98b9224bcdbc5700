"""Every idea of related work: a test each that would fail for any other method."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from making.memories import WordEncoder, make_entry, make_precedent
from making.one_episode import CONFIRMED, NO_TABLE, RIGHT, TASK, WRONG, Counting, Told
from merit.agent import RELATED, Agent, Episode, Method, finalise, repair
from merit.agent.related.ace import Bullet, merged
from merit.agent.related.expel import changed
from merit.agent.related.similarity import masked, overlap, skeleton
from merit.memory import Entry, Memory
from merit.prompts import SPIDER
from merit.types import Column, Polarity, Question, Regime, Schema, Table, Verdict

SHOP = Schema(
    "shop",
    (
        Table("item", (Column("item_id", "INT", primary_key=True), Column("name", "TEXT"))),
        Table("sale", (Column("sale_id", "INT"), Column("item_id", "INT", foreign_keys=("item.item_id",)))),
        Table("staff", (Column("staff_id", "INT"), Column("name", "TEXT"))),
    ),
)


def episode_of(
    folder: Path,
    name: str,
    verdicts: Sequence[Verdict],
    replies: Sequence[str] = (),
    entries: Sequence[Entry] = (),
    *,
    sql: str = "SELECT 0",
    text: str = "how many",
    budget: int = 7,
) -> tuple[Episode, list[str]]:
    """An episode of a method over a memory of some entries, and its prompts."""
    model, first = Counting(replies), replace(TASK.first_answer, sql=sql, reply=sql)
    task = replace(
        TASK, question=Question("q", "shop", text), tables=SHOP, first_answer=first, position=50, reads_from=50
    )
    with Memory(folder / "memory", WordEncoder()) as memory:
        memory.commit_all(entries)
        agent = Agent(RELATED[name], budget, SPIDER, model, Told(verdicts), memory)
        return asyncio.run(repair(agent, task)), model.prompts


def versions(prompts: Sequence[str]) -> list[str]:
    """What each prompt says it is."""
    return [prompt.split("\n", 1)[0].removeprefix("PROMPT_VERSION: ") for prompt in prompts]


def answer(sql: str) -> str:
    return f"<answer>{sql}</answer>"


def left_by(episode: Episode, method: Method) -> Entry | None:
    return finalise(episode, method, "run", CONFIRMED)


def test_self_debugging_explains_before_every_repair(tmp_path: Path) -> None:
    replies = ["it counts rows", answer("SELECT 1"), "it counts one", answer("SELECT 2")]
    _, prompts = episode_of(tmp_path, "self_debugging", [WRONG, NO_TABLE, RIGHT], replies)
    assert versions(prompts) == ["spider-self-debugging-v1", "spider-repair-v3"] * 2
    assert "clause by clause" in prompts[0]
    assert "Outcome: status=EXECUTION_ERROR; db_error=no such table: x" in prompts[2]
    assert "[Local reflection 1] it counts rows\n[Local reflection 2] it counts one" in prompts[3]


def test_self_refine_hears_nothing_but_itself(tmp_path: Path) -> None:
    replies = ["count items", answer("SELECT 1"), "count all", answer("SELECT 2")]
    _, prompts = episode_of(tmp_path, "self_refine", [NO_TABLE, WRONG, RIGHT], replies)
    assert versions(prompts) == ["spider-self-refine-feedback-v1", "spider-self-refine-v1"] * 2
    assert not re.search("DENOTATION|EXECUTION|no such table|Status|[Ee]rror type", "".join(prompts))
    history = "[Query 1]\nSELECT 0\n[Feedback 1]\ncount items\n[Query 2]\nSELECT 1\n[Feedback 2]\ncount all"
    assert history in prompts[3]


def test_critic_rests_on_what_tools_found(tmp_path: Path) -> None:
    sql = "SELECT colour FROM item JOIN staff ON item.name = staff.name WHERE item.name = 'Milk' LIMIT 5"
    replies = ["the column is wrong", answer("SELECT 1")]
    episode, prompts = episode_of(tmp_path, "critic", [WRONG, RIGHT], replies, sql=sql, text="List all.")
    found = [
        "Execution: status DENOTATION_MISMATCH, message: (none)",
        "Schema: there is no column 'colour'",
        "Schema: no foreign key joins 'staff' to 'item'",
        "Values: 'Milk' is in neither the question nor its evidence",
    ]
    assert "FINDINGS OF TOOLS:\n" + "\n".join(found) + "\n" in prompts[0]
    assert episode.reflections[0].text == "\n".join([*found, "the column is wrong"])
    assert "[Local reflection 1] " + "\n".join(found) in prompts[1]


def test_critic_finds_what_would_mend_a_refused_query(tmp_path: Path) -> None:
    refused = Verdict(NO_TABLE.status, "no such table: items", NO_TABLE.cause)
    _, prompts = episode_of(tmp_path, "critic", [refused, RIGHT], sql="SELECT name FROM items", text="Names of items?")
    assert "Schema: there is no table 'items'" in prompts[0]
    assert len(re.findall("^Schema: .*'?item'?", prompts[0], re.MULTILINE)) == 2  # the name, and what grounding says


def test_critic_says_that_a_query_cannot_be_parsed(tmp_path: Path) -> None:
    _, prompts = episode_of(tmp_path, "critic", [NO_TABLE, RIGHT], sql="SELEC name FORM")
    assert "Schema: the query cannot be parsed" in prompts[0]


def test_din_sql_goes_through_its_stages(tmp_path: Path) -> None:
    replies = ["item.name", "EASY", answer("SELECT 1"), answer("SELECT 2")]
    _, prompts = episode_of(tmp_path, "din_sql", [NO_TABLE, WRONG, RIGHT], replies)
    stages = ("links", "class", "generation", "correction")
    assert versions(prompts) == [f"spider-din-sql-{stage}-v1" for stage in stages]
    links, classed = "SCHEMA LINKS:\nitem.name\n", "CLASS AND SUB-QUESTIONS:\nEASY\n"
    assert [links in prompt for prompt in prompts] == [False, True, True, True]
    assert [classed in prompt for prompt in prompts] == [False, False, True, True]
    assert ["OBSERVED OUTCOMES" in prompt for prompt in prompts] == [False, False, False, True]


def test_chase_sql_reasons_in_three_ways(tmp_path: Path) -> None:
    _, prompts = episode_of(tmp_path, "chase_sql", [WRONG, WRONG, WRONG, WRONG, RIGHT])
    ways = ("divide", "plan", "examples", "divide")
    assert versions(prompts) == [f"spider-chase-sql-{way}-v1" for way in ways]
    assert not [prompt for prompt in prompts if "SELECT" in prompt]  # each reasons from the question alone


def test_dail_sql_prefers_the_same_skeleton_and_then_the_masked_question(tmp_path: Path) -> None:
    sql = "SELECT name FROM item WHERE item_id = 3"
    shape = "SELECT title FROM book WHERE page = 9"
    book = {"schema": "Database: library\nTable: book\n  title TEXT\n  page INT", "db_id": "library"}
    entries: list[Entry] = [
        make_precedent(1, question="What name has item 3 today?", sql="SELECT COUNT(*) FROM item GROUP BY name"),
        make_precedent(2, question="Which title is on page 9?", sql=shape, **book),
        make_precedent(3, question="List every title that is on some page", sql=shape.replace("9", "8"), **book),
    ]
    text = "Which name is on item 3?"
    _, prompts = episode_of(tmp_path, "dail_sql", [WRONG, RIGHT], entries=entries, sql=sql, text=text)
    shown = re.findall(r"^Question: (.*)$", prompts[0], re.MULTILINE)
    assert shown == [entries[i].question for i in (0, 2, 1)]  # the best one last
    assert versions(prompts) == ["spider-initial-v3"]


def test_a_masked_question_and_a_skeleton_leave_the_database_out() -> None:
    assert masked("Which names have items over 30?", "Table: item\n  name TEXT") == [
        *("which", "<schema>", "have", "<schema>", "over", "<value>")
    ]
    one, other = (
        "SELECT a.x, b FROM t AS a WHERE y = 'it''s' ORDER BY z;",
        "select k from u as w where v = 2 order by q",
    )
    assert (
        skeleton(one)
        == skeleton(other)
        == ["select", "_", "from", "_", "as", "_", "where", "_", "=", "_", "order", "by", "_"]
    )
    assert (overlap("aab", "abb"), overlap("", "")) == (0.5, 0.0)


def test_act_sql_keeps_and_shows_the_reasoning(tmp_path: Path) -> None:
    entries = [make_precedent(1, lesson="Let's think step by step. Names are in item."), make_precedent(2)]
    replies = [answer("SELECT 1"), "Let's think step by step. Count."]
    episode, prompts = episode_of(tmp_path, "act_sql", [WRONG, RIGHT], replies, entries)
    assert versions(prompts) == ["spider-act-sql-v1", "spider-act-sql-reasoning-v1"]
    reasoned = "Question: question 1\nLet's think step by step. Names are in item.\nSQL: SELECT b1 FROM t"
    assert reasoned in prompts[0]
    assert "Question: question 2\nSQL: SELECT b2 FROM t" in prompts[0]
    entry = left_by(episode, RELATED["act_sql"])
    assert entry is not None
    assert (entry.polarity, entry.lesson) == (Polarity.PRECEDENT, "Let's think step by step. Count.")


def test_recode_looks_among_queries_with_the_same_clauses(tmp_path: Path) -> None:
    entries = [make_entry(i, question="how many", before="SELECT name FROM item") for i in range(4)]
    joined = make_entry(9, question="unlike", before="SELECT x FROM a JOIN b ON a.i = b.i WHERE c = 1 GROUP BY d")
    sql = "SELECT name FROM item JOIN sale ON item.item_id = sale.item_id"
    _, prompts = episode_of(tmp_path, "recode", [WRONG, RIGHT], entries=[*entries, joined], sql=sql)
    assert len(re.findall(r"^\[Confirmed successful repair", prompts[0], re.MULTILINE)) == 3
    assert "JOIN b" in prompts[0].split("[Confirmed successful repair 2]")[0]  # first, though least alike in words


def test_memo_sql_shows_pairs_of_an_error_and_its_fix(tmp_path: Path) -> None:
    entries = [
        make_entry(i, question="how many", before=before, lesson=f"Error: join\nSuggestion: mind {i}.")
        for i, before in enumerate(["SELECT 1", "SELECT 2", "SELECT 3", "SELECT a FROM b GROUP BY c HAVING d > 1"])
    ]
    replies = [answer("SELECT 9"), "Error: filter\nSuggestion: look twice."]
    episode, prompts = episode_of(tmp_path, "memo_sql", [WRONG, RIGHT], replies, entries)
    assert versions(prompts) == ["memo-sql-v1", "spider-memo-sql-suggestion-v1"]
    assert "Wrong SQL: SELECT 1\nRight SQL: SELECT b0 FROM t\nError: join\nSuggestion: mind 0." in prompts[0]
    assert (prompts[0].count("[Error and fix"), "HAVING" in prompts[0]) == (3, False)  # another skeleton comes last
    entry = left_by(episode, RELATED["memo_sql"])
    assert entry is not None
    assert entry.lesson == "Error: filter\nSuggestion: look twice."


def test_sqlfix_agent_reviews_and_shows_similar_repairs(tmp_path: Path) -> None:
    replies = ["a condition is missing", answer("SELECT 1")]
    _, prompts = episode_of(tmp_path, "sqlfix_agent", [WRONG, RIGHT], replies, [make_entry(1), make_entry(2)])
    assert versions(prompts) == ["spider-sqlfix-agent-review-v1", "spider-repair-v3"]
    assert "[Local reflection 1] a condition is missing" in prompts[1]
    assert prompts[1].count("[Confirmed successful repair") == 2


def test_magic_rewrites_the_latest_guideline_after_a_correction(tmp_path: Path) -> None:
    entries = [make_entry(7, lesson="1. Mind the joins."), make_entry(3, lesson="1. Older.")]
    replies = [answer("SELECT 1"), "1. Mind the joins.\n2. Count rows."]
    episode, prompts = episode_of(tmp_path, "magic", [WRONG, RIGHT], replies, entries)
    assert versions(prompts) == ["magic-v1", "spider-magic-manager-v1"]
    heading = "GUIDELINE FOR CORRECTING SQL, LEARNED FROM EARLIER FAILURES:\n1. Mind the joins.\n\nPROMPT_VERSION"
    assert heading in prompts[0]
    assert "CONFIRMED SUCCESSFUL REPAIR DIRECTIONS:\n(none)" in prompts[0]  # the guideline, not its source
    assert "GUIDELINE SO FAR:\n1. Mind the joins.\n" in prompts[1]
    entry = left_by(episode, RELATED["magic"])
    assert entry is not None
    assert entry.lesson == "1. Mind the joins.\n2. Count rows."
    assert "Older" not in "".join(prompts)


@pytest.mark.parametrize("name", ["magic", "expel", "memo_sql"])
def test_what_was_not_corrected_teaches_these_nothing(tmp_path: Path, name: str) -> None:
    episode, _ = episode_of(tmp_path, name, [WRONG], budget=2)
    assert (episode.reflections, left_by(episode, RELATED[name])) == ((), None)


def test_expel_votes_on_its_insights(tmp_path: Path) -> None:
    listed = "[3] Check joins.\n[1] Use LIKE."
    replies = [answer("SELECT 1"), "AGREE 1: Check joins.\nREMOVE 2\nADD: Count rows.\nso be it"]
    episode, prompts = episode_of(tmp_path, "expel", [WRONG, RIGHT], replies, [make_entry(7, lesson=listed)])
    assert "INSIGHTS FROM EARLIER QUESTIONS:\n1. Check joins.\n2. Use LIKE.\n" in prompts[0]
    assert versions(prompts) == ["expel-v1", "spider-expel-insights-v1"]
    assert episode.lesson == "[4] Check joins.\n[2] Count rows."


def test_operations_on_insights() -> None:
    insights = [(2, "a"), (1, "b")]
    assert changed(insights, "EDIT 2: c") == [(2, "a"), (2, "c")]
    assert changed(insights, "ADD: a\nADD:\nAGREE 9\nREMOVE 0\nADD: beyond the fourth") == insights
    assert changed(insights, "- **ADD**: d\nREMOVE") == [(2, "a"), (2, "d"), (1, "b")]
    assert changed(insights, "ADD: d") == [(2, "a"), (2, "d"), (1, "b")]
    assert changed(insights, "I would add: nothing") == insights
    full = [(3, f"insight {i}") for i in range(20)]
    assert changed(full, "REMOVE 20") == full[:-1]
    assert changed(full[:-1], "REMOVE 19")[-1] == (2, "insight 18")
    assert len(changed([], "\n".join(f"ADD: {i}" for i in range(9)))) == 4
    assert len(changed([], f"ADD: {'x' * 999}")[0][1]) == 300


@pytest.mark.parametrize(("last", "said"), [(RIGHT, "why it works"), (WRONG, "None was right")])
def test_reasoning_bank_distils_success_and_failure(tmp_path: Path, last: Verdict, said: str) -> None:
    entries = [
        make_entry(1, question="how many", lesson="Title: counting"),
        make_entry(2, question="how many", lesson="Title: failing", polarity=Polarity.NEGATIVE),
    ]
    replies = [answer("SELECT 1"), "Title: new"]
    episode, prompts = episode_of(tmp_path, "reasoning_bank", [WRONG, last], replies, entries, budget=1)
    assert versions(prompts) == ["reasoning-bank-v1", "spider-reasoning-bank-items-v1"]
    shown = "STRATEGIES FROM SIMILAR QUESTIONS:\n[Memory 1]\nTitle: failing\n[Memory 2]\nTitle: counting\n"
    assert shown in prompts[0]
    assert said in prompts[1]
    entry = left_by(episode, RELATED["reasoning_bank"])
    assert entry is not None
    assert entry.lesson == "Title: new"


@pytest.mark.parametrize("last", [RIGHT, WRONG])
def test_ace_reflects_and_curates_a_playbook(tmp_path: Path, last: Verdict) -> None:
    entry = make_entry(1, lesson="[+1 -0] Check joins.\n[+0 -2] Guess.")
    replies = [answer("SELECT 1"), "the join was wrong", "HELPFUL 1\nHARMFUL 2\nADD: Count rows."]
    episode, prompts = episode_of(tmp_path, "ace", [WRONG, last], replies, [entry], budget=1)
    assert versions(prompts) == ["ace-v1", "spider-ace-reflector-v1", "spider-ace-curator-v1"]
    assert "PLAYBOOK FROM EARLIER QUESTIONS:\n1. Check joins. (helped 1, harmed 0)\n2. Guess. (helped" in prompts[0]
    assert "REFLECTION:\nthe join was wrong\n" in prompts[2]
    assert episode.lesson == "[+2 -0] Check joins.\n[+0 -3] Guess.\n[+0 -0] Count rows."


def test_a_playbook_loses_what_harms_most() -> None:
    full = [Bullet(1, 0, f"bullet {i}") for i in range(39)]
    grown = merged([*full, Bullet(0, 3, "harmful")], "ADD: new\nADD: bullet 3")
    assert [bullet.text for bullet in grown] == [*(f"bullet {i}" for i in range(39)), "new"]


def test_generative_agents_weigh_importance(tmp_path: Path) -> None:
    entries = [
        make_entry(i, question="how many", position=40, lesson="10" if i == 3 else "1", polarity=polarity)
        for i, polarity in enumerate([Polarity.POSITIVE] * 5 + [Polarity.NEGATIVE])
    ]
    replies = [answer("SELECT 1"), "I would say 8 of 10."]
    episode, prompts = episode_of(tmp_path, "generative_agents", [WRONG, RIGHT], replies, entries)
    first = re.findall(r"^SQL delta: (.*)$", prompts[0], re.MULTILINE)[0]
    assert first == "SELECT a3 FROM t => SELECT b3 FROM t"
    assert len(re.findall(r"delta: ", prompts[0])) == 4
    assert versions(prompts) == ["spider-repair-v3", "spider-generative-agents-importance-v1"]
    assert episode.lesson == "8"


def test_generative_agents_prefer_what_is_recent(tmp_path: Path) -> None:
    entries = [make_entry(i, question="how many", before="SELECT a", after="SELECT b", position=i) for i in (5, 45)]
    _, prompts = episode_of(tmp_path, "generative_agents", [WRONG, RIGHT], entries=entries)
    ids = re.findall(r"Entry ID: (\S+)", prompts[0])
    with Memory(tmp_path / "memory", WordEncoder()) as memory:
        assert [memory.entry(identity).provenance.position for identity in ids] == [45, 5]


def test_memgpt_loads_the_pages_that_the_model_chooses(tmp_path: Path) -> None:
    entries = [make_entry(i, question=f"question {i}") for i in range(4)]
    replies = ["pages 2 and 4, not 99", answer("SELECT 1"), "none", answer("SELECT 2")]
    episode, prompts = episode_of(tmp_path, "memgpt", [WRONG, WRONG, RIGHT], replies, entries)
    assert versions(prompts) == ["spider-memgpt-paging-v1", "spider-repair-v3"] * 2
    archive = re.findall(r"^\d\. Result Mismatch, a change that was confirmed: (.*)$", prompts[0], re.MULTILINE)
    assert sorted(archive) == [f"question {i}" for i in range(4)]
    assert [note.text for note in episode.reflections] == ["2, 4", "none"]
    numbers = [archive[at].removeprefix("question ") for at in (1, 3)]
    assert [re.findall(r"^SQL delta: SELECT a(\d)", prompt, re.MULTILINE) for prompt in prompts[1::2]] == [numbers, []]


def test_memgpt_has_nothing_to_page_at_first(tmp_path: Path) -> None:
    episode, _ = episode_of(tmp_path, "memgpt", [WRONG, RIGHT])
    assert episode.reflections == ()


@pytest.mark.parametrize("name", [name for name, method in RELATED.items() if method.writes])
def test_without_an_oracle_nothing_is_called_confirmed(tmp_path: Path, name: str) -> None:
    """A query that merely ran is neither extracted from nor kept as a change that worked."""
    ran = Verdict(WRONG.status.EXECUTED, result="rows")
    episode, prompts = episode_of(tmp_path, name, [NO_TABLE, ran], budget=1)
    entry = finalise(episode, RELATED[name], "run", Regime.DBMS_ONLY)
    assert entry is None or entry.polarity is Polarity.PRECEDENT
    assert not [prompt for prompt in prompts if "confirmed to be right" in prompt or "confirmed to answer" in prompt]
