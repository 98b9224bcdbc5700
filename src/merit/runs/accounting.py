"""The paper's accounting, from the turns of a run alone (docs/spec.md, "Episodes, calls, tokens")."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from merit.agent import Attempt, Episode, Method, Reflection, RefusedStatement, polarity_of
from merit.errors import AuditFailed
from merit.memory import normalise_sql
from merit.runs.turn import Phase, Turn
from merit.types import Polarity, Regime, ReviewOutcome, Status

FORMAT = 2
_FIRST_FORMAT = 1  # of 0.1: attempts were counted as "judged", and oscillation left out repeats that were set aside


def account_as_recorded(
    turns: Sequence[Turn], method: Method, recorded: object, regime: Regime = Regime.DENOTATION_CONFIRMED
) -> dict[str, Any]:
    """What a run's own metrics should say, in the format that they are in."""
    counted = account(turns, method, regime)
    if not isinstance(recorded, dict) or recorded.get("format") != _FIRST_FORMAT:
        return counted
    oscillating = sum(oscillates(turn.episode, repeats=False) for turn in turns if turn.phase is Phase.ANSWER)
    return {
        **{("judged" if name == "db_executions" else name): value for name, value in counted.items()},
        "format": _FIRST_FORMAT,
        "oscillating": oscillating,
        "oscillation": accuracy(oscillating, counted["questions"]),
    }


def account(turns: Sequence[Turn], method: Method, regime: Regime = Regime.DENOTATION_CONFIRMED) -> dict[str, Any]:
    """Everything that can be counted; every number follows from the trajectories."""
    answers = [turn for turn in turns if turn.phase is Phase.ANSWER]
    wrong = [turn for turn in answers if not turn.initial_correct]
    repaired = [turn for turn in wrong if turn.final_correct]
    steps = sum(_repairs(turn.episode) for turn in answers)
    retrievals = sum(turn.recalls for turn in turns)
    attempts = [attempt for turn in turns for attempt in turn.episode.attempts]
    groundings = sum(attempt.written is not None for attempt in attempts)
    left = Counter(polarity_of(turn.episode, method) for turn in turns if turn.entry is not None)
    left.update(polarity for turn in turns if turn.review for polarity in turn.review.learned)
    questions, right = len(answers), sum(turn.final_correct for turn in answers)
    return {
        "format": FORMAT,
        "method": method.name,
        "online": method.online,
        "questions": questions,
        "initial_correct": questions - len(wrong),
        "correct": right,
        "initial_accuracy": accuracy(questions - len(wrong), questions),
        "accuracy": accuracy(right, questions),
        "repaired": len(repaired),
        "repaired_at_step": _counts(_repairs(turn.episode) for turn in repaired),
        "steps": round(steps / len(wrong), 3) if wrong else 0.0,
        "oscillating": sum(oscillates(turn.episode) for turn in answers),
        "oscillation": accuracy(sum(oscillates(turn.episode) for turn in answers), questions),
        "calls": _calls(turns),
        "tokens": _tokens(turns),
        "db_executions": sum(not attempt.repeat for attempt in attempts) + groundings,
        **({"groundings": groundings} if method.grounds else {}),
        "retrieval_calls": retrievals,
        "embedding_calls": retrievals * _queries(method) + left.total() if method.encodes else 0,
        "entries": {polarity.value: left[polarity] for polarity in Polarity},
        "initial_status": _statuses(turn.episode.first for turn in answers),
        "final_status": _statuses(turn.episode.final for turn in answers),
        "initial_failures": _counts(f.type for turn in answers if (f := turn.episode.first.failure) is not None),
        **({"review": _review(answers)} if regime is Regime.REVIEWED else {}),
    }


def half(turn: Turn, answered: int) -> int:
    """Which half of a stream of so many answers a turn is in, 0 or 1."""
    return turn.episode.task.position * 2 // answered


def _review(answers: Sequence[Turn]) -> dict[str, Any]:
    """What the reviewer said, and how answers fared before it was said."""
    parts: dict[str, list[Turn]] = {
        "reviewed": [turn for turn in answers if turn.review],
        "unreviewed": [turn for turn in answers if not turn.review],
        "first_half": [turn for turn in answers if half(turn, len(answers)) == 0],
        "second_half": [turn for turn in answers if half(turn, len(answers)) == 1],
    }
    said = Counter(turn.review.said for turn in answers if turn.review)
    return {
        **{word.value: said[word] for word in ReviewOutcome},
        **{
            name: {"questions": len(turns), "accuracy": accuracy(sum(turn.final_correct for turn in turns), len(turns))}
            for name, turns in parts.items()
        },
    }


def oscillates(episode: Episode, *, repeats: bool = True) -> bool:
    """Whether a trajectory contains the same SQL twice; repeats that were set aside are part of it."""
    sqls = [normalise_sql(attempt.sql) for attempt in episode.attempts if repeats or not attempt.repeat]
    return len(set(sqls)) < len(sqls)


def check_arithmetic(metrics: Mapping[str, Any], method: Method, regime: Regime, budget: int) -> None:
    """The paper's arithmetic among the reported numbers themselves (docs/spec.md: N + wrong x steps + reflections)."""
    calls, tokens, questions = metrics["calls"], metrics["tokens"], metrics["questions"]
    wrong = questions - metrics["initial_correct"]
    # Elsewhere the episodes are not those of the wrong first answers.
    told = regime.has_oracle and method.online
    reflections = calls["repair"] - metrics["repaired"] + wrong if method.reflects else 0
    most_notes = method.notes * (questions + calls["repair"])
    by_step = {int(step): count for step, count in metrics["repaired_at_step"].items()}
    rules = {
        "one first answer a question": calls["initial"] == questions,
        "all calls": calls["total"] == questions + calls["repair"] + calls["reflection"],
        "steps": not told or abs(wrong * metrics["steps"] - calls["repair"]) <= 0.0005 * wrong + 1e-9,
        "one reflection an unsuccessful attempt": not told
        or reflections <= calls["reflection"] <= reflections + most_notes,
        "right at last": not told or metrics["correct"] == metrics["initial_correct"] + metrics["repaired"],
        "repairs by step": sum(by_step.values()) == metrics["repaired"]
        and all((not method.grounds) <= step <= budget * method.draws for step in by_step),
        "all tokens": tokens["total"] == tokens["prompt"] + tokens["output"],
        "tokens by call": tokens["total"] == tokens["initial"] + tokens["repair"] + tokens["reflection"],
        "no call without its tokens": calls["reflection"] > 0 or tokens["reflection"] == 0,
        "a first status each": sum(metrics["initial_status"].values()) == questions,
        "a last status each": sum(metrics["final_status"].values()) == questions,
    }
    for rule, holds in rules.items():
        if not holds:
            raise AuditFailed(f"the accounting does not add up: {rule}")


def accuracy(right: int, total: int) -> float:
    """A percentage, rounded as the paper rounds."""
    return round(100.0 * right / total, 2) if total else 0.0


def _repairs(episode: Episode) -> int:
    return len(episode.attempts) - 1


def _queries(method: Method) -> int:
    """How many texts the encoder reads for one recall: precedents are asked for in other words."""
    return len({polarity is Polarity.PRECEDENT for polarity in method.recall.pools}) if method.recall else 0


def _calls(turns: Sequence[Turn]) -> dict[str, int]:
    initial = sum(turn.phase is Phase.ANSWER for turn in turns)
    repair = sum(_repairs(turn.episode) for turn in turns)
    reflection = sum(len(turn.episode.reflections) for turn in turns)
    return {"initial": initial, "repair": repair, "reflection": reflection, "total": initial + repair + reflection}


def _tokens(turns: Sequence[Turn]) -> dict[str, int]:
    first = [turn.episode.attempts[0] for turn in turns if turn.phase is Phase.ANSWER]
    later = [attempt for turn in turns for attempt in turn.episode.attempts[1:]]
    reflections = [reflection for turn in turns for reflection in turn.episode.reflections]
    every: list[Attempt | Reflection] = [*first, *later, *reflections]
    estimated = sum(call.tokens_estimated for call in every)
    return {
        "initial": _sum(first),
        "repair": _sum(later),
        "reflection": _sum(reflections),
        "prompt": sum(call.prompt_tokens for call in every),
        "output": sum(call.output_tokens for call in every),
        "total": _sum(every),
        **({"estimated_calls": estimated} if estimated else {}),  # whose tokens merit estimated, not the model's server
    }


def _sum(calls: Iterable[Attempt | Reflection]) -> int:
    return sum(call.prompt_tokens + call.output_tokens for call in calls)


def _statuses(attempts: Iterable[Attempt | RefusedStatement]) -> dict[str, int]:
    counts = Counter(attempt.verdict.status for attempt in attempts)
    return {status.value: counts[status] for status in Status if counts[status]}


def _counts(items: Iterable[object]) -> dict[str, int]:
    counts = Counter(str(item) for item in items)
    return {name: counts[name] for name in sorted(counts)}
