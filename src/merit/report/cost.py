"""How runs repair and what it costs (paper, Table 3, and costs that its accounting leaves out)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from merit.report.accuracy import BARS, DATASET, RANKED, around, group_notes, seeds_column, seeds_of
from merit.report.cells import Row, lead, number, words
from merit.report.figure import Figure, FigureShape, Series
from merit.report.group import RunGroup, ScoredRun, file_suffix
from merit.report.names import ABLATIONS, method_label
from merit.report.statistics import mean
from merit.report.table import ReportColumn, ReportTable
from merit.runs.timings import sessions

_LEADERS = (
    "Bold and underlined are the best and the second within a dataset and metric; ablations and methods that are not "
    f"online, repair nothing, or were not run with all seeds, take no part in that. {RANKED}"
)


@dataclass(frozen=True, slots=True)
class TokenPrices:
    """The price of a million prompt and output tokens, in any currency."""

    prompt: float
    output: float

    def of(self, prompt: float, output: float) -> float:
        """The cost of this many tokens."""
        return (prompt * self.prompt + output * self.output) / 1e6


_STEPS = (
    "repair generations per initially wrong question; above the budget where draws are set aside (they count here, not "
    "in the budget), or where an agent that is told only what runs repairs right answers, too"
)


def repair_table(groups: Sequence[RunGroup]) -> ReportTable:
    """Repaired questions, steps, oscillation, tokens and calls, as the paper has them."""
    measures: dict[str, tuple[Callable[[ScoredRun], float], int]] = {
        "repaired": (lambda run: run.counts["repaired"], 1),
        "steps": (_steps, 3),
        "oscillation": (lambda run: 100.0 * run.counts["oscillating"] / len(run.answers), 2),
        "tokens": (lambda run: run.counts["tokens"]["total"] / 1e6, 3),
        "calls": (lambda run: run.counts["calls"]["total"], 0),
    }
    rows: list[Row] = []
    for group in groups:
        group_rows, ranked = _rows(group, measures), _ranked(group, lambda fair: _rows(fair, measures))
        for key in measures:
            lead(group_rows, key, ranked, low=key != "repaired")
        rows += group_rows
    columns = (
        DATASET,
        ReportColumn("method", "Method", numeric=False),
        ReportColumn("repaired", "Rep.↑", note="initially wrong, right at last"),
        ReportColumn("steps", "Steps↓", note=_STEPS),
        ReportColumn("oscillation", "Osc.↓", note="percent of all questions whose trajectory holds the same SQL twice"),
        ReportColumn(
            "tokens", "Tok.↓", note="prompt and output tokens of all calls, first answers included, in millions"
        ),
        ReportColumn("calls", "Calls↓", note="model calls: first answers, repairs and reflections"),
        seeds_column(rows),
    )
    note = f"Means over seeds. {_LEADERS} {group_notes(groups)}"
    return ReportTable("repair", "Repair behaviour and inference cost", note, columns, tuple(rows))


def cost_table(groups: Sequence[RunGroup], prices: TokenPrices | None) -> ReportTable:
    """Time, lookups, money, and what one more right answer takes."""
    measures: dict[str, tuple[Callable[[ScoredRun], float | None], int]] = {
        "prompt_tokens": (lambda run: run.counts["tokens"]["prompt"] / 1e6, 3),
        "output_tokens": (lambda run: run.counts["tokens"]["output"] / 1e6, 3),
        "embedding_calls": (lambda run: run.counts["embedding_calls"], 0),
        "retrieval_calls": (lambda run: run.counts["retrieval_calls"], 0),
        "db_executions": (lambda run: run.counts["db_executions"], 0),
    }
    if prices is not None:
        measures["money"] = (lambda run: prices.of(*(run.counts["tokens"][kind] for kind in ("prompt", "output"))), 4)

    def rows_of(group: RunGroup) -> list[Row]:
        rows = _rows(group, measures)
        for row, method in zip(rows, group.methods, strict=True):
            runs = group.of(method.name)
            row["tokens_extra"] = number(_per_extra(runs, lambda prompt, output: prompt + output), 0)
            if prices is not None:
                row["money_extra"] = number(_per_extra(runs, prices.of), 4)
        return rows

    rows: list[Row] = []
    for group in groups:
        group_rows, ranked = rows_of(group), _ranked(group, rows_of)
        for key in ("tokens_extra", "money", "money_extra"):
            if group_rows and key in group_rows[0]:
                lead(group_rows, key, ranked, low=True)
        rows += [
            {**row, **_seconds(group.of(method.name))} for row, method in zip(group_rows, group.methods, strict=True)
        ]
    money = ""
    if prices is not None:
        each = f"{prices.prompt:g} per million prompt and {prices.output:g} per million output tokens"
        money = f"Money is in the currency of the prices, {each}. "
    note = (
        "Means over seeds. Seconds are of the machines and moments the runs were made on (timings.json), added up over "
        "work side by side, and with what was done to look ahead; a dash is a run that did not keep them. What one "
        "more right answer takes: everything but the first answers, divided by how many more are right at last than at "
        "first, over all seeds. "
        f"{money}{_LEADERS} {group_notes(groups)}"
    )
    return ReportTable(
        "cost", "Cost beyond the paper's accounting", note, (*_cost_columns(prices), seeds_column(rows)), tuple(rows)
    )


def frontier_figures(groups: Sequence[RunGroup]) -> list[Figure]:
    """Accuracy against the tokens a question takes, one figure a group."""
    figures = []
    for group in groups:
        series = []
        for method in group.methods:
            runs = group.of(method.name)
            tokens = mean([run.counts["tokens"]["total"] / len(run.answers) for run in runs])
            accuracies = [run.accuracy for run in runs]
            low, high = around(accuracies)
            series.append(Series(method_label(method), (tokens,), (mean(accuracies),), (low,), (high,)))
        note = (
            f"Means over seeds. {BARS} Tokens are prompt and output tokens of all calls, first answers included. "
            f"{group.about}"
        )
        identity, title = f"frontier{file_suffix(groups, group)}", f"Accuracy against cost, {group.label}"
        x, y = "Tokens per question", "Exec. accuracy (%)"
        figures.append(Figure(identity, title, note, x, y, FigureShape.POINTS, tuple(series), beside="repair"))
    return figures


def _cost_columns(prices: TokenPrices | None) -> tuple[ReportColumn, ...]:
    money = (
        ReportColumn("money", "Money", note="all tokens at the given prices"),
        ReportColumn("money_extra", "Money / extra", note="money per additional right answer"),
    )
    return (
        DATASET,
        ReportColumn("method", "Method", numeric=False),
        ReportColumn("prompt_tokens", "Prompt", note="prompt tokens, millions"),
        ReportColumn("output_tokens", "Output", note="output tokens, millions"),
        ReportColumn("wall_s", "Wall s", note="seconds from beginning to end, over all sessions of a run"),
        ReportColumn("model_s", "Model s", note="seconds of the calls it sent; an answer that was kept takes none"),
        ReportColumn("embedding_calls", "Emb.", note="texts of its recalls and entries, encoded anew or kept"),
        ReportColumn("embedding_s", "Emb. s", note="seconds of encoding, of the whole process where runs share one"),
        ReportColumn("retrieval_calls", "Retr.", note="recalls"),
        ReportColumn("retrieval_s", "Retr. s", note="seconds of recalling"),
        ReportColumn(
            "db_executions",
            "DB exec.",
            note="attempts run on their database, and on those of a suite until one differs; a repeat is not run again",
        ),
        ReportColumn("database_s", "DB s", note="seconds of running and judging SQL"),
        ReportColumn("tokens_extra", "Tok. / extra", note="tokens per additional right answer"),
        *(money if prices is not None else ()),
    )


def _rows(group: RunGroup, measures: dict[str, tuple[Callable[[ScoredRun], Any], int]]) -> list[Row]:
    rows: list[Row] = []
    for method in group.methods:
        runs = group.of(method.name)
        row = {"dataset": words(group.label), "method": words(method_label(method)), "seeds": seeds_of(runs)}
        for key, (measure, digits) in measures.items():
            row[key] = number(mean([measure(run) for run in runs]), digits)
        rows.append(row)
    return rows


def _ranked(group: RunGroup, rows_of: Callable[[RunGroup], list[Row]]) -> list[Row | None]:
    """The rows that decide which method leads."""
    fair = group.ranking(m for m in group.methods if m.online and m.repairs and m.name not in ABLATIONS)
    by_name = dict(zip((method.name for method in fair.methods), rows_of(fair), strict=True))
    return [by_name.get(method.name) for method in group.methods]


def _steps(run: ScoredRun) -> float:
    wrong = len(run.answers) - run.counts["initial_correct"]
    repairs = sum(len(turn.episode.attempts) - 1 for turn in run.answers)
    return repairs / wrong if wrong else 0.0


def _per_extra(runs: Sequence[ScoredRun], price: Callable[[float, float], float]) -> float | None:
    """What all calls but those for first answers took, per additional right answer; None where there is none."""
    extra = sum(run.counts["correct"] - run.counts["initial_correct"] for run in runs)
    spent = 0.0
    for run in runs:
        first = [turn.episode.attempts[0] for turn in run.answers]
        tokens = run.counts["tokens"]
        spent += price(
            tokens["prompt"] - sum(attempt.prompt_tokens for attempt in first),
            tokens["output"] - sum(attempt.output_tokens for attempt in first),
        )
    return spent / extra if extra > 0 else None


_KINDS = {"retrieval_s": "recall", "database_s": "judge"}


def _seconds(runs: Sequence[ScoredRun]) -> Row:
    """Mean seconds by kind; a dash where a run did not record them."""
    timings = [_timings(run) for run in runs]
    row: Row = {}
    for key in ("wall_s", "embedding_s", "model_s", *_KINDS):
        values = [timing[key] for timing in timings if key in timing]
        row[key] = number(mean(values) if len(values) == len(runs) else None, 1)
    return row


def _timings(run: ScoredRun) -> dict[str, float]:
    """Seconds of a run over all its sessions; only the kinds that every session recorded."""
    try:
        taken = [_session(session) for session in sessions(run.view.path)]
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}  # timings are optional; the table shows a dash
    kinds = set.intersection(*map(set, taken)) if taken else set()
    return {key: sum(session[key] for session in taken) for key in kinds}


def _session(record: dict[str, Any]) -> dict[str, float]:
    seconds = {"wall_s": float(record["wall_s"])}
    encoded = record.get("embedding_of_process", record.get("embedding", {}))  # the older name
    seconds["embedding_s"] = float(encoded.get("seconds", 0.0))
    shared = "sent" in record or "sent_by_process" in record  # older: what all runs of a process sent, not this one
    if "sent" in record:
        seconds["model_s"] = float(record["sent"]["seconds"])
    elif not shared:
        seconds["model_s"] = _worked(record["work"], "model")
    if "ahead" in record or not shared:  # older sessions did not record the work of looking ahead
        for key, kind in _KINDS.items():
            seconds[key] = _worked(record["work"], kind) + _worked(record.get("ahead", {}), kind)
    return seconds


def _worked(work: dict[str, Any], kind: str) -> float:
    return float(work.get(kind, {}).get("seconds", 0.0))
