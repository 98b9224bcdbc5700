"""`merit methods`, `predict`, `run`, `audit` and `show`, as a person uses them."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from making.benchmark import ITEMS, FickleModel, build
from making.clock import COMES_S, STALL_S
from making.commands import merit, refused
from making.endpoint import ChatServer, refusal
from making.grids import answering, write_grid
from making.runs import files_of, make_bench
from making.tampering import TURNS, Record, rewrite, turn_where
from merit.agent import METHODS, RELATED
from merit.cli.main import cli
from merit.memory import entries_in


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return build(tmp_path / "data")


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """First answers are wrong; the third attempt is right."""
    rules: list[dict[str, object]] = [{"contains": "-reflection-v3", "reply": "<reflection>Look again.</reflection>"}]
    for item in ITEMS:
        asked = f"QUESTION:\n{item.text}\n"
        rules += [
            {"contains": [asked, "[Attempt 2 - "], "reply": f"<answer>{item.reference}</answer>"},
            {"contains": [asked, "[Attempt 1 - "], "reply": f"<answer>{item.broken}</answer>"},
            {"contains": asked, "reply": f"<answer>{item.wrong}</answer>"},
        ]
    path = tmp_path / "script.jsonl"
    path.write_text("".join(json.dumps(rule) + "\n" for rule in rules))
    return path


@pytest.fixture
def initial(data: Path, script: Path, tmp_path: Path) -> Path:
    path = tmp_path / "initial.jsonl"
    result = merit("predict", "spider", "--data", data, "--model", f"scripted:{script}", "--out", path)
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def run(data: Path, script: Path, initial: Path, tmp_path: Path) -> Path:
    result = merit(*run_command(data, script, initial, tmp_path / "run"))
    assert result.exit_code == 0, result.output
    return tmp_path / "run"


def run_command(data: Path, script: Path, initial: Path, out: Path, method: str = "merit") -> list[object]:
    model = f"scripted:{script}"
    return ["run", "spider", "--data", data, "--initial", initial, "--method", method, "--model", model, "--out", out]


def test_methods_lists_all() -> None:
    shown = CliRunner().invoke(cli, ["methods"], env={"COLUMNS": "80"}).output
    assert [line.split()[0] for line in shown.splitlines()] == [*METHODS, *RELATED]  # piped: a line each
    assert all(method.summary in shown for method in [*METHODS.values(), *RELATED.values()])
    assert "recalls 4 precedent" in shown
    assert "recalls 4 of one pool" in shown
    assert "recalls 3 positive and 1 negative" in shown
    assert shown.count(" not online ") == 1
    records = json.loads(merit("methods", "--json").output)["methods"]
    assert [record["name"] for record in records] == [*METHODS, *RELATED]


def test_first_answers_are_asked_for_once(data: Path, script: Path, initial: Path) -> None:
    lines = [json.loads(line) for line in initial.read_text().splitlines()]
    assert [line["id"] for line in lines] == list(range(len(ITEMS)))
    assert {line["prompt_version"] for line in lines} == {"spider-initial-v3"}
    before = initial.read_bytes()
    again = merit("predict", "spider", "--data", data, "--model", f"scripted:{script}", "--out", initial)
    assert "0 first answers added" in again.output
    assert initial.read_bytes() == before


def test_programs_hear_of_first_answers_and_grids(
    data: Path, script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "initial.jsonl"
    asked = ["predict", "spider", "--data", data, "--model", f"scripted:{script}", "--out", out, "--json"]
    found = json.loads(merit(*asked).output)
    assert (found["out"], found["questions"], found["added"]) == (str(out), len(ITEMS), len(ITEMS))
    with ChatServer(answering) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        shown = merit("grid", write_grid(tmp_path, methods=["iterative"], seeds=[0, 1]), "--json")
    runs = json.loads(shown.stdout)["runs"]
    assert len(runs) == 2
    for name, metrics in runs.items():
        assert metrics == json.loads((tmp_path / "runs" / name / "metrics.json").read_text())


def test_first_answers_that_broke_off_are_completed(data: Path, script: Path, initial: Path) -> None:
    whole = initial.read_bytes()
    initial.write_bytes(whole[: len(whole) // 2])
    merit("predict", "spider", "--data", data, "--model", f"scripted:{script}", "--out", initial)
    assert initial.read_bytes() == whole


def test_the_first_of_a_stream_can_be_asked_for_alone(data: Path, script: Path, tmp_path: Path) -> None:
    some = tmp_path / "some.jsonl"
    merit(
        "predict", "spider", "--data", data, "--model", f"scripted:{script}", "--out", some, "--limit", 3, "--seed", 1
    )
    result = merit(*run_command(data, script, some, tmp_path / "run"), "--limit", 3, "--seed", 1)
    assert result.exit_code == 0, result.output


def test_a_run_says_what_came_of_it(data: Path, script: Path, initial: Path, tmp_path: Path) -> None:
    shown = merit(*run_command(data, script, initial, tmp_path / "run"))
    assert "100.00% of 12 questions, 0.00% at first" in shown.output
    assert "2.000 steps" in shown.output
    assert "12 positive, 0 negative entries\n" in shown.output
    found = json.loads(merit(*run_command(data, script, initial, tmp_path / "run"), "--json").output)
    assert found["calls"] == {"initial": 12, "repair": 24, "reflection": 0, "total": 36}
    some = merit(*run_command(data, script, initial, tmp_path / "other", "precedent"), "--budget", 0)
    assert "0 positive, 0 negative entries, 0 precedents\n" in some.output  # what it keeps is counted, also if none


def test_the_control_is_labelled(data: Path, script: Path, initial: Path, tmp_path: Path) -> None:
    shown = merit(*run_command(data, script, initial, tmp_path / "run", "transductive_batch"))
    assert "not an online method" in shown.output


def test_an_audit_says_what_it_checked(data: Path, run: Path) -> None:
    shown = merit("audit", run)
    assert shown.exit_code == 0
    assert (
        "holds. 12 of 12 questions (taken from the run), 36 attempts (verdicts taken from the run (see --data)), "
        "24 prompts, 12 entries" in shown.output
    )
    assert "24 recalls legal and ranked again" in shown.output
    with_data = merit("audit", run, "--data", data).output
    assert "12 of 12 questions (compared with the dataset), 36 attempts (judged again)" in with_data


def on_trust(shown: Result) -> list[str]:
    """What an audit lists at its end."""
    lines = shown.output.splitlines()
    return lines[lines.index("taken on trust:") + 1 :]


def test_an_audit_ends_with_what_it_could_not_prove(data: Path, run: Path, script: Path, initial: Path) -> None:
    always = [
        "- that every reply is the model's own, of the model that the manifest names, drawn as it says",
        "- that the first answers are those of the file whose hash the manifest names",
        "- token counts, and what timings.json says",
        "- the time limit and the versions of merit, Python and SQLite that the manifest names",
    ]
    without_data = [
        "- every verdict, and so what is right (prove it with --data)",
        "- that questions, hints, schemas, shown values and fixed examples are the dataset's, and that none is left out "
        "(prove it with --data)",
    ]
    beginning = "- that a run over the beginning of its stream was meant to end there"
    assert on_trust(merit("audit", run, "--data", data)) == always
    assert on_trust(merit("audit", run)) == [*always, *without_data]
    short = run.with_name("short")
    merit(*run_command(data, script, initial, short), "--limit", 3)
    assert on_trust(merit("audit", short, "--data", data)) == [*always, beginning]
    together = on_trust(merit("audit", run, short))
    assert together == [*always, *without_data, f"{beginning} (1 of 2 runs)"]
    (run / "metrics.json").unlink()
    broken = merit("audit", run, short, "--data", data)
    assert broken.exit_code != 0
    assert on_trust(broken)[: len(always) + 1] == [*always, beginning]


def test_an_audit_says_when_statements_may_take_long(
    run: Path, data: Path, script: Path, initial: Path, tmp_path: Path
) -> None:
    said = "its statements may run for 90 s each on every database"
    slow = tmp_path / "slow"
    assert merit(*run_command(data, script, initial, slow, "zero_shot"), "--timeout", 90).exit_code == 0
    assert f"note: {slow}: {said}" in merit("audit", slow, "--data", data).stderr
    assert "may run" not in merit("audit", run, "--data", data).output
    assert "may run" not in merit("audit", slow).output  # nothing is executed without the data


def test_what_is_told_by_an_encoder_that_is_not_here_is_taken_on_trust(tmp_path: Path) -> None:
    view = make_bench(tmp_path).run(tmp_path / "run", "merit")
    assert (
        "- scores and ranking of recalls: which of the legal entries came first (prove it with --encoder)"
        in on_trust(merit("audit", view.path))
    )


def test_a_folder_or_file_that_is_not_there_is_refused(run: Path, data: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert refused("audit", run, "--data", data, "--data", nowhere).startswith(f"{nowhere}: no such folder")
    assert refused("audit", run, "--data", data, "--examples", nowhere).startswith(f"{nowhere}: no such file")


def test_an_audit_is_given_the_examples_of_a_run(data: Path, script: Path, initial: Path, tmp_path: Path) -> None:
    examples, out = tmp_path / "examples.jsonl", tmp_path / "run"
    lines = [{"question": f"Example {number}?", "sql": f"SELECT {number}"} for number in range(4)]
    examples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = merit(*run_command(data, script, initial, out, "vanilla"), "--examples", examples)
    assert done.exit_code == 0, done.output
    assert merit("audit", out).exit_code == 0
    assert "give --data too" in refused("audit", out, "--examples", examples)
    assert "give the file they were taken from with --examples" in refused("audit", out, "--data", data)
    assert merit("audit", out, "--data", data, "--examples", examples).exit_code == 0


def test_an_audit_that_fails_exits_with_one_line(run: Path) -> None:
    text = (run / "predictions.jsonl").read_text()
    (run / "predictions.jsonl").write_text(text.replace("SELECT", "select", 1))
    assert "predictions.jsonl, line 1: is not the final SQL" in refused("audit", run)


def test_many_runs_are_audited_at_once_each_with_its_data(data: Path, run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    for name in ("one", "two", "deeper/three"):
        shutil.copytree(run, folder / name)
    other = build(tmp_path / "bird", layout="bird")
    shown = merit("audit", folder, "--data", other, "--data", data)
    assert shown.exit_code == 0
    assert shown.output.count("36 attempts (judged again)") == 3
    assert "all 3 runs hold" in shown.output
    (folder / "two" / "predictions.jsonl").write_text("")
    broken = CliRunner().invoke(cli, ["audit", str(folder), str(folder / "one")])
    assert broken.exit_code != 0
    assert "two/predictions.jsonl: 0 lines" in broken.stderr
    assert "1 of 4 runs does not hold" in str(broken.exception)


def test_an_audit_refuses_other_data_and_other_encoders(run: Path, tmp_path: Path) -> None:
    other = build(tmp_path / "other", canary="x")
    assert "holds another spider dev: its content hash is " in refused("audit", run, "--data", other)
    assert "unknown encoder" in refused("audit", run, "--encoder", "none")


def test_an_unknown_encoder_is_refused_even_where_none_is_needed(
    data: Path, script: Path, initial: Path, tmp_path: Path
) -> None:
    ours = run_command(data, script, initial, tmp_path / "run", "iterative")
    assert "foo: unknown encoder; use wordllama" in refused(*ours, "--encoder", "foo")
    assert merit(*ours).exit_code == 0
    assert "foo: unknown encoder; use wordllama" in refused("audit", tmp_path / "run", "--encoder", "foo")


def test_an_episode_can_be_read(run: Path) -> None:
    order = [json.loads(line)["question_id"] for line in (run / "trajectories.jsonl").read_text().splitlines()]
    shown = merit("show", run, order[-1]).output
    item = ITEMS[order[-1]]
    assert f"question {order[-1]}  {item.text}" in shown
    assert f"database  {item.db_id}, position 11 of the stream" in shown
    assert "attempt 0  the shared first answer" in shown
    assert "DENOTATION_MISMATCH  RESULT_MISMATCH" in shown
    assert "EXECUTION_ERROR" in shown
    assert "+ " in shown
    assert "- " in shown
    assert "recalled positive: 11 legal" in shown
    assert "1. pos-" in shown
    assert "right, left pos-" in shown
    first = merit("show", run, order[0], "--schema").output
    assert "recalled later by questions" in first
    assert "Table:" in first


def test_what_was_set_aside_and_which_answers_were_shown_can_be_read(
    data: Path, script: Path, initial: Path, tmp_path: Path
) -> None:
    lines = script.read_text().splitlines()
    for item in ITEMS[::2]:  # right at once, and so a precedent; the others say the same for ever
        rule = {"contains": f"QUESTION:\n{item.text}\n", "reply": f"<answer>{item.reference}</answer>"}
        lines.insert(0, json.dumps(rule))
    other = tmp_path / "other.jsonl"
    other.write_text("\n".join(lines))
    run = tmp_path / "run"
    done = merit(*run_command(data, other, initial, run, "precedent:draws=2"), "--budget", 2)
    assert done.exit_code == 0, done.output
    turns = [json.loads(line) for line in (run / "trajectories.jsonl").read_text().splitlines()]
    last = [turn for turn in turns if not turn["final_correct"]][-1]
    shown = merit("show", run, last["question_id"]).output
    assert shown.count("set aside: says attempt 0 again") == 4
    assert "recalled precedent: " in shown
    assert any(f"       {item.reference}" in shown for item in ITEMS[::2])
    assert " => " not in shown
    assert "for the same database; agreed or surer)" in shown
    assert merit("audit", run).exit_code == 0


def test_a_vote_can_be_read(tmp_path: Path) -> None:
    view = make_bench(tmp_path).run(tmp_path / "run", "precedent", regime="dbms_only", model=FickleModel(3))
    grades = {one.entry.id: one.entry.grade for one in entries_in(view.path / "memory")}
    poisoned = {turn.entry for turn in view.turns if turn.entry and not turn.final_correct}
    marked = set()
    for turn in view.turns:
        shown = merit("show", view.path, turn.episode.task.question.id).output
        results = [one.verdict.result for one in turn.episode.attempts]
        rows = list(dict.fromkeys(one for one in results if one))
        blocks = shown.replace("  the shared first answer", "").split("\nattempt ")[1:]
        for step, (block, result) in enumerate(zip(blocks, results, strict=True)):
            stands = "  stands" if step == turn.episode.chosen else ""
            assert block.startswith(f"{step}{stands}\n")
            alike = [str(i) for i, one in enumerate(results) if one == result and i != step]
            name = f"result {rows.index(result) + 1}" if result else "no rows"
            said = f"EXECUTED  {name}{', as attempt ' + ', '.join(alike) if alike else ''}  \n"
            assert (said in block) == (result is not None)
        for identity, rest in re.findall(r"\d\. (pre-\w+) (.*)", shown):
            assert rest.endswith(", poisoned") == (identity in poisoned)
            marked.add(identity in poisoned)
        if turn.entry:
            assert f"left {turn.entry} ({grades[turn.entry]})" in shown
            assert ("poisoned: kept as right, but the judge calls it wrong" in shown) != turn.final_correct
        assert "\n  + " not in shown  # draws are no changes of each other
    assert any(turn.episode.chosen not in (0, len(turn.episode.attempts) - 1) for turn in view.turns)
    assert marked == {True, False}


def test_long_sql_is_shown_without_a_comparison(run: Path) -> None:
    """Comparing two clauses of 60,000 letters takes minutes."""
    draw = random.Random(1)
    letters = [chr(0x4E00 + number) for number in range(150)]
    long = ["SELECT " + "".join(draw.choices(letters, k=60_000)) for _ in range(2)]
    named: list[object] = []

    def lengthen(records: list[Record]) -> None:
        turn = turn_where(records, lambda one: len(one["attempts"]) == 3)
        named.append(turn["question_id"])
        for attempt, sql in zip(turn["attempts"][1:], long, strict=True):
            attempt.update(sql=sql, reply=sql)

    rewrite(run, TURNS, lengthen)
    begun = time.monotonic()
    shown = merit("show", run, *named)
    assert shown.exit_code == 0, shown.output
    assert time.monotonic() - begun < 10 + STALL_S
    assert all(sql in shown.output for sql in long)


def test_reflections_are_shown(data: Path, script: Path, initial: Path, tmp_path: Path) -> None:
    merit(*run_command(data, script, initial, tmp_path / "run", "reflexion"))
    assert "reflection: Look again." in merit("show", tmp_path / "run", 0).output


def test_bad_input_is_one_sentence(data: Path, script: Path, initial: Path, run: Path, tmp_path: Path) -> None:
    ours = run_command(data, script, initial, run)
    assert "there is no method 'merlt'; did you mean 'merit'?" in refused(
        *run_command(data, script, initial, run, "merlt")
    )
    assert refused(*run_command(data, script, initial, run, "all")) == (
        "'all' names several methods, and one is expected; `merit grid` runs many"
    )
    assert "method 'merit:draws=2': 'draws' above 1 need a 'temperature'" in refused(
        *run_command(data, script, initial, run, "merit:draws=2")
    )
    assert "holds another run: the seed is 0 there and 4 here" in refused(*ours, "--seed", 4)
    assert "there is no run here, nor in a folder below (no manifest.json)" in refused("audit", tmp_path / "nowhere")
    assert "there is no run here (the folder does not exist)" in refused("show", tmp_path / "nowhere")
    (tmp_path / "a file").touch()
    said = refused(*ours, "--cache", tmp_path / "a file" / "cache")
    assert said.endswith("(Not a directory); choose another folder with MERIT_CACHE, or --cache in a command")
    assert "question '77' is not in its stream" in refused("show", run, 77)
    assert not (tmp_path / "new").exists()
    assert "unknown model" in refused("predict", "spider", "--data", data, "--model", "gpt", "--out", tmp_path / "x")
    assert "name a file in a folder that is there" in refused(
        "predict", "spider", "--data", data, "--model", f"scripted:{script}", "--out", tmp_path / "no" / "x"
    )


def test_a_script_that_does_not_fit_says_so(data: Path, script: Path, initial: Path, tmp_path: Path) -> None:
    script.write_text(json.dumps({"contains": "nothing like it", "reply": "x"}) + "\n")
    said = refused(*run_command(data, script, initial, tmp_path / "run"))
    assert "no line of the script fits the prompt" in said


def test_first_answers_of_another_model_are_not_mixed(data: Path, script: Path, initial: Path) -> None:
    script.write_text(json.dumps({"reply": "x"}) + "\n")
    lines = initial.read_text().splitlines()
    initial.write_text("\n".join(lines[:3]) + "\n")
    said = refused("predict", "spider", "--data", data, "--model", f"scripted:{script}", "--out", initial)
    assert "initial.jsonl, line 1: answered by scripted:script.jsonl@" in said


def test_predictions_of_a_run_can_be_scored(data: Path, run: Path) -> None:
    shown = merit("score", "spider", "--data", data, "--pred", run / "predictions.jsonl", "--json")
    assert json.loads(shown.output)["accuracy"] == 100.0


# Ctrl-C

_MERIT = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from merit.cli import main; main()"


def interrupted(arguments: list[object], server: ChatServer, after: int) -> tuple[int, str]:
    """Exit code and last words of a command that gets Ctrl-C when it has asked so many times."""
    process = subprocess.Popen(
        [sys.executable, "-c", _MERIT, *map(str, arguments)],  # a shell's background jobs ignore Ctrl-C: see _MERIT
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENAI_BASE_URL": server.url, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    before = server.requests
    while server.requests < before + after and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=COMES_S)
    assert out == ""
    return process.returncode, err


@pytest.mark.parametrize("command", ["predict", "run", "run, first answers", "grid"])
def test_ctrl_c_ends_in_one_sentence_and_the_same_command_goes_on(
    data: Path, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tmp_path / "initial.jsonl"
    with ChatServer(answering, latency_s=0.01) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        if command in ("run", "grid"):
            assert merit("predict", "spider", "--data", data, "--model", "openai:m", "--out", first).exit_code == 0
        common = ["--data", data, "--model", "openai:m", "--concurrency", 1]
        asked = {
            "predict": ["predict", "spider", *common, "--out", first],
            "run": ["run", "spider", *common, "--initial", first, "--method", "merit", "--out", tmp_path / "run"],
            "grid": ["grid", write_grid(tmp_path, methods=["merit", "iterative"]), "--concurrency", 1],
        }[command.partition(",")[0]]
        code, said = interrupted(asked, server, after=8)
        assert code == 130, said
        what = "turn" if command in ("run", "grid") else "first answer"
        said = re.sub(r"^merit: .*: not there yet; asking openai:m for the first answers\n", "", said)
        assert re.fullmatch(rf"merit: stopped; everything up to {what} \d+ is kept; the same command goes on\n", said)
        result = merit(*asked)
        assert result.exit_code == 0, result.output
    assert server.requests <= len({json.dumps(one.body, sort_keys=True) for one in server.asked}) + 1  # the one cut off
    assert len(first.read_text().splitlines()) == len(ITEMS)


# What may be spent


def test_what_a_run_cost_is_in_its_timings(data: Path, script: Path, initial: Path, tmp_path: Path) -> None:
    merit(*run_command(data, script, initial, tmp_path / "run"), "--prices", 1, 2)
    [session] = json.loads((tmp_path / "run" / "timings.json").read_text())["sessions"]
    sent = session["sent"]
    assert sent["calls"] == 24
    assert sent["cost"] > 0.001
    assert sent["cost"] == pytest.approx((sent["prompt_tokens"] + 2 * sent["output_tokens"]) / 1e6, abs=1e-6)


def test_a_run_whose_money_is_spent_goes_on_when_there_is_more(
    data: Path, script: Path, initial: Path, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "other-cache"))
    command = run_command(data, script, initial, tmp_path / "poor")
    said = refused(*command, "--prices", 1000, 1000, "--max-cost", 1.5)
    assert "was spent of the 1.5 allowed" in said
    assert said.endswith("every answer is kept: run the same again, for as much again, or allow more")
    assert "(by this command)" in said
    done = len((tmp_path / "poor" / "trajectories.jsonl").read_text().splitlines())
    assert 0 < done < len(ITEMS)
    assert merit(*command, "--prices", 1000, 1000, "--max-cost", 100).exit_code == 0
    assert files_of(tmp_path / "poor") == files_of(run)


def test_first_answers_end_with_the_money_and_keep_what_was_paid_for(data: Path, script: Path, tmp_path: Path) -> None:
    out = tmp_path / "initial.jsonl"
    paid = ["--concurrency", 1, "--prices", 1000, 1000]
    assert "was spent of the 0.1 allowed" in refused(*predicting(data, script, out), *paid, "--max-cost", 0.1)
    assert 0 < len(out.read_text().splitlines()) < len(ITEMS)
    assert "tokens were used of the 1 allowed" in refused(*predicting(data, script, out), "--max-tokens", 1)
    assert merit(*predicting(data, script, out)).exit_code == 0
    assert len(out.read_text().splitlines()) == len(ITEMS)


def test_a_limit_without_prices_is_refused_before_anything_begins(
    data: Path, script: Path, initial: Path, tmp_path: Path
) -> None:
    for command in (run_command(data, script, initial, tmp_path / "new"), predicting(data, script, tmp_path / "new")):
        assert "a limit on the cost needs prices: give --prices PROMPT OUTPUT" in refused(*command, "--max-cost", 1)
    assert not (tmp_path / "new").exists()


# Files of first answers that are something else.


def predicting(data: Path, script: Path, out: Path) -> list[object]:
    return ["predict", "spider", "--data", data, "--model", f"scripted:{script}", "--out", out]


SOMETHING_ELSE = [
    b"precious notes without a line end",
    b"precious notes\n",
    b"na\xefve caf\xe9\n",
    b"na\xefve caf\xe9",
    b'{"results": [1, 2]}\n',
    b'{"results": [1, 2]}',
    b'[{"id": 0, "sql": "SELECT 1"}]\n',
    b'{"id": 0, "sql": "SELECT 1"}\n',
    b"null\n",
    b"7\n",
    b"\n",
    b"[" * 100_000 + b"\n",
    b"[" * 100_000,
    b"\x00\x01\x02",
]


def test_a_file_that_holds_something_else_is_left_byte_for_byte(data: Path, script: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.txt"
    for content in SOMETHING_ELSE:
        out.write_bytes(content)
        said = refused(*predicting(data, script, out))
        assert said.startswith(f"{out}")
        assert len(said) < 600
        assert out.read_bytes() == content


EDITS: list[tuple[dict[str, object], str]] = [
    ({"prompt_tokens": -1}, "the field 'prompt_tokens' should be a number from 0 to 1099511627776, not -1"),
    ({"output_tokens": -1}, "the field 'output_tokens' should be a number from 0 to 1099511627776, not -1"),
    ({"prompt_tokens": True}, "the field 'prompt_tokens' should be a whole number, not true"),
    ({"output_tokens": 10**15}, "the field 'output_tokens' should be a number from 0 to 1099511627776, not 1000"),
    ({"prompt_tokens": 10**4000}, "1000000000000000000000000000000000000000 is too large"),
    ({"prompt_tokens": 1.0}, "the field 'prompt_tokens' should be a whole number"),
    ({"prompt_tokens": None}, "the field 'prompt_tokens' should be a whole number"),
    ({"sql": "SELECT 'better'"}, "the field 'sql' is not the SQL in the reply"),
    ({"reply": "I do not know."}, "the field 'sql' is not the SQL in the reply"),
    ({"id": [0]}, "the dataset has no question with id [0]"),
    ({"id": None}, "the dataset has no question with id null"),
    ({"db_id": "school"}, "the db_id of question 0 is"),
    ({"format": 2}, "first answers of format 2"),
    ({"sql": "\ud800"}, "the field 'sql' is not the SQL in the reply"),
]


def test_first_answers_that_were_edited_are_refused_and_left(data: Path, script: Path, initial: Path) -> None:
    first, *rest = initial.read_text().splitlines(keepends=True)
    for change, said in EDITS:
        initial.write_text("".join([json.dumps({**json.loads(first), **change}) + "\n", *rest]))
        before = initial.read_bytes()
        heard = refused(*predicting(data, script, initial))
        assert f"initial.jsonl, line 1: {said}" in heard
        assert len(heard) < 600
        assert initial.read_bytes() == before


def test_no_run_begins_with_first_answers_that_were_edited(
    data: Path, script: Path, initial: Path, tmp_path: Path
) -> None:
    first, *rest = initial.read_text().splitlines(keepends=True)
    for change, said in EDITS[:4]:
        initial.write_text("".join([json.dumps({**json.loads(first), **change}) + "\n", *rest]))
        assert said in refused(*run_command(data, script, initial, tmp_path / "run"))
        assert not (tmp_path / "run").exists()


def test_a_number_of_too_many_digits_is_refused(data: Path, script: Path, initial: Path) -> None:
    initial.write_text(initial.read_text().replace('"prompt_tokens": ', '"prompt_tokens": ' + "1" * 5000, 1))
    assert "initial.jsonl, line 1: " in refused(*predicting(data, script, initial))


def test_half_a_character_in_a_first_answer_is_no_crash(
    data: Path, script: Path, initial: Path, tmp_path: Path
) -> None:
    """JSON can spell it; the statement that a run starts from has a question mark there."""
    first, *rest = initial.read_text().splitlines(keepends=True)
    record = {**json.loads(first), "sql": "SELECT '\ud800'", "reply": "<answer>SELECT '\ud800'</answer>"}
    initial.write_text("".join([json.dumps(record) + "\n", *rest]))
    before = initial.read_bytes()
    assert merit(*predicting(data, script, initial)).exit_code == 0
    assert initial.read_bytes() == before
    assert merit(*run_command(data, script, initial, tmp_path / "run")).exit_code == 0
    assert merit("audit", tmp_path / "run").exit_code == 0
    assert "SELECT '?'" in merit("show", tmp_path / "run", 0).output


def test_first_answers_of_another_revision_of_a_model_are_not_mixed(data: Path, script: Path, initial: Path) -> None:
    """The same script by name, with one more line: another revision."""
    lines = initial.read_text().splitlines(keepends=True)
    initial.write_text("".join(lines[:3]))
    before = initial.read_bytes()
    script.write_text(script.read_text() + json.dumps({"contains": "something new", "reply": "x"}) + "\n")
    said = refused(*predicting(data, script, initial))
    assert "initial.jsonl, line 1: answered by scripted:script.jsonl@" in said
    assert "not by scripted:script.jsonl@" in said
    assert initial.read_bytes() == before


def test_first_answers_that_do_not_say_their_model_are_not_mixed(data: Path, script: Path, initial: Path) -> None:
    records = [json.loads(line) for line in initial.read_text().splitlines()[:3]]
    for record in records:
        del record["model"]
    initial.write_text("".join(json.dumps(record) + "\n" for record in records))
    before = initial.read_bytes()
    assert "answered by None" in refused(*predicting(data, script, initial))
    assert initial.read_bytes() == before


def test_a_prompt_over_the_models_context_is_told_and_nothing_is_lost(
    data: Path, script: Path, initial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "This model's maximum context length is 16 tokens. However, you requested 900 tokens."
    with ChatServer(refusal(400, words)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        command = run_command(data, script, initial, tmp_path / "run")
        command[command.index(f"scripted:{script}")] = "openai:small"
        said = refused(*command)
    assert "spider-repair-v3: openai:small: a prompt does not fit into the model's context" in said
    assert said.startswith("question ")
    assert (tmp_path / "run" / "manifest.json").is_file()
