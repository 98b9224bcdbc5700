"""What one person keeps to themselves reaches nobody else, by whatever route, until somebody promotes it."""

import json
import random
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path

import pytest

from making.shop import COUNT, PAID, Model, open_shop
from merit.errors import Conflict, InputError, NotVisible
from merit.formats import FoundPairs, Pair
from merit.live import LiveAgent, export_pairs
from merit.live.auditing.audit import audit_live
from merit.live.judging.curating import Curator
from merit.live.judging.promoting import promote
from merit.live.judging.review import waiting
from merit.live.record.history import History
from merit.live.record.purging import Purge, purge_all
from merit.memory import Deletion, FileStore, Memory, with_id
from merit.models import open_encoder
from merit.settings import MemorySettings
from merit.types import Grade, Sampling, Viewer

QUESTION = "How many orders are there?"
SECRET = "SELECT count(*) FROM orders WHERE 'zebra' = 'zebra'"
PERSONAL = MemorySettings(scope="personal")
SALES = MemorySettings(scope="team", team="sales")
_encoder_opened_once = cache(open_encoder)
_MARKS = count(1)


@pytest.fixture(autouse=True, scope="module")
def _surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MERIT_CACHE", str(tmp_path_factory.mktemp("cache")))
        patched.setattr("merit.live.opening.open_encoder", _encoder_opened_once)
        yield


@pytest.fixture
def model() -> Model:
    return Model(COUNT)


@pytest.fixture
def shop(tmp_path: Path, model: Model) -> Iterator[LiveAgent]:
    with open_shop(tmp_path, model, memory=PERSONAL) as agent:
        yield agent


@pytest.fixture
def everyone(tmp_path: Path, model: Model, shop: LiveAgent) -> Iterator[LiveAgent]:
    """The same folder with the scope that there is without any setting."""
    with open_shop(tmp_path, model) as agent:
        yield agent


def prompts_of(model: Model, agent: LiveAgent, author: str, question: str = QUESTION) -> str:
    """What the model is shown; the same question each time, but not the same text, which would not be asked again."""
    model.prompts.clear()
    agent.ask(question + "?" * next(_MARKS), author=author)
    assert model.prompts
    return "\n".join(model.prompts)


def problems(tmp_path: Path) -> tuple[str, ...]:
    return audit_live(tmp_path / "own").contradictions


def holds(tmp_path: Path) -> bool:
    assert problems(tmp_path) == ()
    return True


def test_a_personal_correction_is_shown_to_its_author_alone(shop: LiveAgent, model: Model, tmp_path: Path) -> None:
    said = shop.correct(shop.ask(QUESTION, author="ada").id, SECRET, author="ada")
    assert said.scope == "personal:ada"
    assert len(said.entries) == 2
    assert "zebra" in prompts_of(model, shop, "ada")
    for other in ("bob", "", "ada2", "Ada"):
        assert "zebra" not in prompts_of(model, shop, other)
    assert holds(tmp_path)


def test_the_same_said_by_two_people_are_two_entries(shop: LiveAgent, model: Model) -> None:
    pairs = FoundPairs((Pair(QUESTION, SECRET, "line 1"),), ())
    ada = shop.import_pairs(pairs, grade=Grade.CONFIRMED, author="ada")
    bob = shop.import_pairs(pairs, grade=Grade.CONFIRMED, author="bob")
    assert ada.entries[0].id != bob.entries[0].id
    assert bob.known == 0
    assert "zebra" in prompts_of(model, shop, "bob")
    assert "zebra" not in prompts_of(model, shop, "eve")


def test_a_personal_entry_blocks_no_entry_of_everyone(shop: LiveAgent, everyone: LiveAgent, model: Model) -> None:
    pairs = FoundPairs((Pair(QUESTION, SECRET, "line 1"),), ())
    shop.import_pairs(pairs, grade=Grade.EXECUTED, author="ada")
    imported = everyone.import_pairs(pairs, grade=Grade.CONFIRMED, author="ada")
    assert (len(imported.entries), imported.known) == (1, 0)
    assert "zebra" in prompts_of(model, shop, "bob")
    again = shop.import_pairs(pairs, grade=Grade.CONFIRMED, author="bob")  # everyone knows it already
    assert (len(again.entries), again.known) == (0, 1)


def test_a_personal_rejection_counts_for_its_author_alone(shop: LiveAgent, model: Model, tmp_path: Path) -> None:
    shop.reject(shop.ask(QUESTION, author="ada").id, reason="zebra", author="ada")
    assert "zebra" in prompts_of(model, shop, "ada")
    assert shop.ask(QUESTION, author="ada").remarks
    assert "zebra" not in prompts_of(model, shop, "bob")
    assert not shop.ask(QUESTION, author="bob").remarks
    assert holds(tmp_path)


def test_a_personal_word_takes_nothing_from_others(
    shop: LiveAgent, everyone: LiveAgent, model: Model, tmp_path: Path
) -> None:
    kept = everyone.confirm(everyone.ask(QUESTION, author="bob").id, author="bob").entries[0]
    shop.reject(shop.ask(QUESTION, author="ada").id, reason="not so", author="ada")
    assert kept in everyone.ask(QUESTION, author="bob").recalled
    everyone.reject(everyone.ask(QUESTION, author="ada").id, author="ada")
    assert kept not in everyone.ask(QUESTION, author="bob").recalled
    assert holds(tmp_path)
    assert "zebra" not in prompts_of(model, shop, "bob")


def test_a_personal_word_leaves_others_answers_to_be_judged(shop: LiveAgent, tmp_path: Path) -> None:
    shop.confirm(shop.ask(QUESTION, author="ada").id, author="ada")
    other = shop.ask(QUESTION, author="bob").id
    assert [item.id for item in waiting(tmp_path / "own") if not item.is_entry] == [other]


def test_what_is_personal_is_about_an_answer_of_ones_own(shop: LiveAgent) -> None:
    answer = shop.ask(QUESTION, author="ada").id
    with pytest.raises(InputError, match="was asked by ada, and what you say about it would be yours alone"):
        shop.confirm(answer, author="bob")
    with pytest.raises(InputError, match="needs the name of its author"):
        shop.confirm(shop.ask(QUESTION).id)
    shop.confirm(answer, author="ada")
    with pytest.raises(InputError, match="only they can take it back"):
        shop.withdraw(answer, author="bob")
    shop.withdraw(answer, author="ada")


def test_a_conversation_does_not_carry_it_over(shop: LiveAgent, model: Model) -> None:
    first = shop.ask(QUESTION, author="ada")
    shop.correct(first.id, SECRET, author="ada")
    resting = shop.ask("How many orders?", author="ada")  # was shown the correction
    following = shop.ask("And now?", author="ada", earlier=[resting.id])
    for answer in (first, resting, following):
        with pytest.raises(NotVisible, match="rests on what is for other people alone"):
            shop.ask("And in May?", author="bob", earlier=[answer.id])
        with pytest.raises(NotVisible):
            shop.why(answer.id, author="bob")
        with pytest.raises(NotVisible):
            shop.without_memory(answer.id, author="bob")
        assert shop.why(answer.id, author="ada").asked.id == answer.id
    model.prompts.clear()
    shop.ask("And in May?", author="ada", earlier=[first.id])
    assert "zebra" in "".join(model.prompts)


def test_a_rejection_that_was_taken_back_stays_hidden_in_what_rests_on_it(tmp_path: Path) -> None:
    model = Model(lambda prompt, _: SECRET if "zebra" in prompt else COUNT)
    with open_shop(tmp_path, model, memory=PERSONAL) as shop:
        first = shop.ask(QUESTION, author="ada").id
        shop.reject(first, reason="zebra", author="ada")
        resting = shop.ask(QUESTION, author="ada")
        assert "zebra" in resting.sql
        shop.withdraw(first, author="ada")
        shop.why(first, author="bob")  # nothing stands against it any more
        with pytest.raises(NotVisible):
            shop.why(resting.id, author="bob")
        assert "zebra" in shop.why(resting.id, author="ada").asked.sql


def test_a_correction_that_was_taken_back_stays_hidden_in_what_follows_it(tmp_path: Path) -> None:
    model = Model(lambda prompt, _: SECRET if "zebra" in prompt else COUNT)
    with open_shop(tmp_path, model, memory=PERSONAL) as shop:
        first = shop.ask(QUESTION, author="ada").id
        said = shop.correct(first, SECRET, author="ada")
        for entry in said.entries:  # so that the conversation alone carries it over
            shop.parts.memory.delete(entry, "by hand")
        following = shop.ask("And now?", author="ada", earlier=[first])
        assert "zebra" in following.sql
        assert not following.recalled
        shop.withdraw(first, author="ada")
        with pytest.raises(NotVisible):
            shop.why(following.id, author="bob")


def test_a_rejection_taken_back_before_the_question_hides_nothing(shop: LiveAgent, tmp_path: Path) -> None:
    first = shop.ask(QUESTION, author="ada").id
    shop.reject(first, reason="zebra", author="ada")
    shop.withdraw(first, author="ada")
    path = tmp_path / "own" / "history.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:  # as if it had been hours ago
        line["time"] = "2026-01-01T00:00:00+00:00"
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines), encoding="utf-8")
    shop.why(shop.ask(QUESTION, author="ada").id, author="bob")


def test_nobody_else_makes_it_everyones(shop: LiveAgent, everyone: LiveAgent) -> None:
    shop.correct(shop.ask(QUESTION, author="ada").id, SECRET, author="ada")
    resting = shop.ask("How many orders?", author="ada").id
    for judge in (
        lambda: everyone.confirm(resting, author="bob"),
        lambda: everyone.reject(resting, author="bob"),
        lambda: everyone.correct(resting, COUNT, author="bob"),
    ):
        with pytest.raises(NotVisible, match="rests on what is for other people alone"):
            judge()
    assert everyone.confirm(resting, author="ada").scope == ""  # it is hers to say


def test_an_answer_that_rests_on_it_is_kept_for_no_more_people(tmp_path: Path) -> None:
    """Otherwise what the model repeats of a personal example would be everyone's."""

    def repeats(prompt: str, _: Sampling) -> str:
        return SECRET if "zebra" in prompt else COUNT

    kept = MemorySettings(keep="executed", recall="executed")
    model = Model(repeats)
    with open_shop(tmp_path, model, memory=PERSONAL) as agent:
        agent.correct(agent.ask(QUESTION, author="ada").id, SECRET, author="ada")
    with open_shop(tmp_path, model, memory=kept) as agent:
        answer = agent.ask("How many orders are there now?", author="ada")
        assert answer.sql == SECRET
        (entry,) = History(tmp_path / "own").find(answer.id)[0].kept
        assert agent.parts.memory.scope_of(entry) == "personal:ada"
        follow_up = agent.ask("And then?", author="ada", earlier=[answer.id])
        (entry,) = History(tmp_path / "own").find(follow_up.id)[0].kept
        assert agent.parts.memory.scope_of(entry) == "personal:ada"
        assert "zebra" not in prompts_of(model, agent, "bob", "How many orders are there now?")
        for other in agent.history()[-1].kept:
            assert agent.parts.memory.scope_of(other) is None
        personal = agent.parts.memory.entry(entry)
    assert holds(tmp_path)
    with closing(FileStore(tmp_path / "own" / "memory")) as store:
        forged = with_id(replace(personal, id="", provenance=replace(personal.provenance, scope=None)))
        store.append([forged, Deletion(personal.id, "forged")])
    path = tmp_path / "own" / "history.jsonl"
    path.write_text(path.read_text().replace(f'"kept":["{personal.id}"]', f'"kept":["{forged.id}"]'))
    (problem,) = problems(tmp_path)
    assert f"kept {forged.id} for more people than an entry that it was shown" in problem


def test_neither_contradictions_nor_checks_nor_exports_show_it(shop: LiveAgent, everyone: LiveAgent) -> None:
    everyone.confirm(everyone.ask(QUESTION, author="bob").id, author="bob")
    other = "SELECT count(*) + 1 AS number FROM orders WHERE 'zebra' = 'zebra'"
    shop.correct(shop.ask(QUESTION, author="ada").id, other, author="ada")
    assert len(shop.contradictions(author="ada")) == 1
    assert shop.contradictions(author="bob") == shop.contradictions() == []
    assert shop.proof_cost(author="ada").questions == shop.proof_cost(author="bob").questions == 1
    assert [case.expected for case in shop.check(author="ada").cases] == [other]
    assert [case.expected for case in shop.check(author="bob").cases] == [COUNT]
    listed = shop.parts.memory.listed()
    assert [pair.sql for pair in export_pairs(listed, viewer=Viewer("bob")).pairs] == [COUNT]
    assert len(export_pairs(listed, viewer=Viewer("ada")).pairs) == 2


def test_a_proof_shows_no_other_persons_entries(shop: LiveAgent, model: Model) -> None:
    for number in range(3):
        shop.correct(shop.ask(f"{QUESTION[:-1]} {number}?", author="ada").id, SECRET, author="ada")
    shop.confirm(shop.ask(QUESTION, author="bob").id, author="bob")
    model.prompts.clear()
    assert len(shop.prove(author="bob").turns) == 1
    assert "zebra" not in "".join(model.prompts)
    assert [turn.recalled for turn in shop.prove(author="ada").turns] == [0, 1, 2]


def test_a_team_sees_its_own_entries(tmp_path: Path, model: Model) -> None:
    with open_shop(tmp_path, model, memory=SALES) as agent:
        said = agent.correct(agent.ask(QUESTION, author="ada").id, SECRET, author="ada")
        assert said.scope == "team:sales"
        assert "zebra" in prompts_of(model, agent, "bob")
        receipt = agent.history()[-1].receipt
        assert receipt is not None
        assert receipt.settings["team"] == "sales"
    with open_shop(tmp_path, model, memory=MemorySettings(team="support")) as agent:
        assert "zebra" not in prompts_of(model, agent, "ada")
    with open_shop(tmp_path, model) as agent:
        assert "zebra" not in prompts_of(model, agent, "bob")
    assert holds(tmp_path)


def test_promotion_lets_a_team_see_it_and_withdrawing_takes_it_back(tmp_path: Path, model: Model) -> None:
    personal = MemorySettings(scope="personal", team="sales")
    with open_shop(tmp_path, model, memory=personal) as agent:
        answer = agent.ask(QUESTION, author="ada").id
        said = agent.correct(answer, SECRET, author="ada")
        own = agent.ask(QUESTION, author="ada")
        (waits,) = [item for item in waiting(tmp_path / "own") if item.promotes]
        assert (waits.id, waits.scope) == (said.entries[0], "personal:ada")
        made = Curator(agent.parts, agent.limits).promote(waits.id, "cara")
        assert [entry.provenance.scope for entry in made] == ["team:sales"] * 2  # the change as well
        assert {entry.provenance.author for entry in made} == {"ada"}
        assert not any(item.promotes for item in waiting(tmp_path / "own"))
        assert "zebra" in prompts_of(model, agent, "bob")
        assert holds(tmp_path)
        with pytest.raises(Conflict, match="not recalled any more .promoted as pre-"):
            promote(agent.parts.memory, waits.id, "sales", "cara")
        uses = {use.asked.id for use in Curator(agent.parts, agent.limits).uses(waits.id)}
        assert uses >= {own.id, agent.history()[-1].id}  # of the personal entry, and of the team's
        everyones = promote(agent.parts.memory, made[0].id, "", "cara")
        assert holds(tmp_path)
        agent.withdraw(answer, author="ada")
        assert "zebra" not in prompts_of(model, agent, "bob")
        assert "zebra" not in prompts_of(model, agent, "ada")
        assert holds(tmp_path)
        agent.correct(answer, SECRET, author="ada")  # it is hers again, and can be promoted again
        assert "zebra" not in prompts_of(model, agent, "bob")
        again = promote(agent.parts.memory, said.entries[0], "", "cara")
        assert {entry.id for entry in again} == {entry.id for entry in everyones}
        assert "zebra" in prompts_of(model, agent, "bob")
    assert holds(tmp_path)


def test_what_is_taken_back_meanwhile_is_not_promoted(shop: LiveAgent, tmp_path: Path) -> None:
    answer = shop.ask(QUESTION, author="ada").id
    entry = shop.correct(answer, SECRET, author="ada").entries[0]
    memory = shop.parts.memory
    listed, first = memory.listed, [True]

    def withdrawn_meanwhile() -> list[object]:
        found = listed()
        if first:
            first.clear()
            shop.withdraw(answer, author="ada")
        return found  # type: ignore[return-value]

    memory.listed = withdrawn_meanwhile  # type: ignore[assignment]
    with pytest.raises(Conflict, match="taken back meanwhile; nothing was promoted"):
        promote(memory, entry, "", "cara")
    del memory.listed
    assert [item for item in memory.listed() if item.recallable] == []
    assert holds(tmp_path)


def test_an_edited_entry_stays_whose_it_was(shop: LiveAgent, model: Model) -> None:
    entry = shop.confirm(shop.ask(QUESTION, author="ada").id, author="ada").entries[0]
    curator = Curator(shop.parts, shop.limits, Viewer("ada"))
    assert curator.edit(entry, QUESTION, SECRET, "ada").provenance.scope == "personal:ada"
    assert "zebra" not in prompts_of(model, shop, "bob")
    with pytest.raises(InputError, match="there is no entry"):
        Curator(shop.parts, shop.limits, Viewer("bob")).find(entry)


def test_a_purge_takes_what_is_a_persons(shop: LiveAgent, tmp_path: Path) -> None:
    pairs = FoundPairs((Pair(QUESTION, SECRET, "line 1", "the wiki"),), ())
    shop.import_pairs(pairs, grade=Grade.CONFIRMED, author="ada")
    shop.close()
    assert purge_all(tmp_path / "own", Purge(authors=("ada",))).entries == 1
    assert "zebra" not in (tmp_path / "own" / "memory" / "memory.jsonl").read_text()


def test_a_forged_receipt_that_shows_another_persons_entry_is_caught(tmp_path: Path, model: Model) -> None:
    with open_shop(tmp_path, model, memory=PERSONAL) as agent:
        agent.confirm(agent.ask(QUESTION, author="ada").id, author="ada")
        shown = agent.ask(QUESTION, author="ada")
    assert shown.recalled
    assert holds(tmp_path)
    path = tmp_path / "own" / "history.jsonl"
    lines = path.read_text().splitlines()
    forged = json.loads(lines[-1])
    for author, team, who in (("bob", "", "bob"), ("", "", "somebody unnamed"), ("bob", "sales", "bob of the team")):
        receipt = {**forged["receipt"], "settings": {**forged["receipt"]["settings"], "team": team}}
        path.write_text("\n".join([*lines[:-1], json.dumps({**forged, "author": author, "receipt": receipt})]) + "\n")
        assert {f"which is for ada alone, and {who}" in problem for problem in problems(tmp_path)} == {True}
    path.write_text("\n".join([*lines[:-1], json.dumps({**forged, "author": "bob", "receipt": None})]) + "\n")
    assert {"which is for ada alone, and bob asked" in problem for problem in problems(tmp_path)} == {True}


def test_a_word_and_what_it_left_are_for_the_same_people(tmp_path: Path, model: Model) -> None:
    with open_shop(tmp_path, model, memory=PERSONAL) as agent:
        agent.confirm(agent.ask(QUESTION, author="ada").id, author="ada")
    path = tmp_path / "own" / "history.jsonl"
    path.write_text(path.read_text().replace('"scope":"personal:ada"', '"scope":""'))
    (problem,) = audit_live(tmp_path / "own").contradictions
    assert "is for ada alone, and was said for everyone" in problem


@pytest.mark.parametrize("seed", range(3))
def test_whatever_people_do_nothing_reaches_the_wrong_prompt(tmp_path: Path, seed: int) -> None:
    """Every correction has a word of its own; it may stand only in prompts of people whom it is for."""
    rng, model, number = random.Random(seed), Model(COUNT), 0
    settings = {
        "ada": PERSONAL,
        "bob": MemorySettings(scope="personal", team="sales"),
        "cy": SALES,
        "di": MemorySettings(),
    }
    agents = {name: open_shop(tmp_path, model, memory=kept) for name, kept in settings.items()}
    secrets: dict[str, str] = {}  # the answer that a word was said about
    try:
        for _ in range(40):
            author = rng.choice(list(agents))
            agent, history = agents[author], History(tmp_path / "own")
            judged = list(history.feedback().values())
            choice = rng.random()
            if choice < 0.6 or not judged:
                model.prompts.clear()
                answer = agent.ask(
                    rng.choice([QUESTION, "How many orders?", "Orders, how many?"]) + "?" * next(_MARKS), author=author
                )
                _check_prompts("\n".join(model.prompts), secrets, author, agent)
                if rng.random() < 0.6:
                    number += 1
                    secrets[f"secret{number}x"] = answer.id
                    sql = f"SELECT {number} AS number, 'secret{number}x' AS word FROM orders LIMIT 1"
                    agent.correct(answer.id, sql, author=author)
                elif rng.random() < 0.5:
                    number += 1
                    secrets[f"secret{number}x"] = answer.id
                    agent.reject(answer.id, reason=f"secret{number}x", author=author)
            elif choice < 0.8:
                word = rng.choice(judged)
                with_right = agents[word.author]
                with_right.withdraw(word.answer, author=word.author)
            else:
                listed = [item.entry for item in agent.parts.memory.listed() if item.recallable]
                scoped = [entry for entry in listed if entry.provenance.scope not in (None, "team:sales")]
                if scoped:
                    promote(agent.parts.memory, rng.choice(scoped).id, rng.choice(["", "sales"]), author)
    finally:
        for agent in agents.values():
            agent.close()
    assert holds(tmp_path)


def _check_prompts(prompts: str, secrets: dict[str, str], author: str, agent: LiveAgent) -> None:
    viewer, history = agent.parts.viewer(author), agent.parts.history
    live = {item.entry.delta: item.entry.provenance.scope for item in agent.parts.memory.listed() if item.recallable}
    for word, answer in secrets.items():
        if word not in prompts:
            continue
        said = history.find(answer)[1]
        seen = [viewer.sees(scope) for delta, scope in live.items() if word in delta]
        if said is not None:
            seen.append(viewer.sees(said.scope or None))
        assert any(seen), f"{word} reached {author}"


def test_an_index_that_says_otherwise_is_refused(shop: LiveAgent, tmp_path: Path) -> None:
    """A row is held against its entry: a forged index cannot show what is not for all."""
    shop.confirm(shop.ask(QUESTION, author="ada").id, author="ada")
    segments = shop.parts.memory._index.segments.values()
    for segment in segments:
        for row in range(segment.count):
            segment._scopes[row] = 0
        segment._scoped = 0
    with pytest.raises(Exception, match="is not the entry that the index names"):
        shop.ask(QUESTION, author="bob")


def test_a_snapshot_keeps_scopes(tmp_path: Path, model: Model) -> None:
    with open_shop(tmp_path, model, memory=PERSONAL) as agent:
        agent.correct(agent.ask(QUESTION, author="ada").id, PAID, author="ada")
    assert (tmp_path / "own" / "memory" / "index" / "index.json").exists()
    with open_shop(tmp_path, model, memory=PERSONAL) as agent:
        assert "state = 'paid'" in prompts_of(model, agent, "ada")
        assert "state = 'paid'" not in prompts_of(model, agent, "bob")
    shutil.rmtree(tmp_path / "own" / "memory" / "index")
    with Memory(tmp_path / "own" / "memory", None) as memory:
        assert {memory.scope_of(item.entry.id) for item in memory.listed()} == {"personal:ada"}
