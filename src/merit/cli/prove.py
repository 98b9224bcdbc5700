"""`merit prove`: whether the memory helps on this database."""

import sys
from pathlib import Path

import click

from merit.cli.live import DATABASE, KEPT_IN, NAME, OWN_MODEL, author_or_user, check_learned, open_agent
from merit.cli.options import JSON
from merit.cli.plain import Number
from merit.cli.terminal import Console, print_json, say
from merit.errors import InputError, counted
from merit.live.measuring.proof import Proof, ProofCost, ProofVerdict
from merit.live.opening import NAME_A_MODEL


@click.command()
@DATABASE
@OWN_MODEL
@KEPT_IN
@NAME
@click.option("--limit", type=Number(int, 1), help="Only the last confirmed questions, so many.")
@click.option("--yes", is_flag=True, help="Do not ask whether it may cost that much.")
@click.option("--switch-off", is_flag=True, help="Where the memory harms: use it no more on this database.")
@click.option("--switch-on", is_flag=True, help="Use the memory of this database again, and prove nothing.")
@JSON
def prove(
    url: str | None,
    model: str | None,
    folder: Path,
    name: str,
    limit: int | None,
    yes: bool,
    switch_off: bool,
    switch_on: bool,
    as_json: bool,
) -> None:
    """Ask the confirmed questions again, in their order: with the memory of their time, and without any.

    An answer is right where its rows are those of the confirmed one. What is printed is the paired difference with its
    95% interval, how well the confidence fits, and what an additional right answer took. Nothing is learned from it.
    --json prints one object.
    """
    if switch_off and switch_on:
        raise InputError("--switch-off and --switch-on exclude each other; give one of them")
    check_learned(folder)
    with open_agent(url, folder, name, model) as agent:
        if switch_on:
            agent.switch_memory(None)
            say("the memory is in use")
            return
        if not agent.parts.has_model:
            raise InputError(NAME_A_MODEL)
        author = author_or_user("")
        cost = agent.proof_cost(limit, author=author)
        _agree(cost, yes)
        proof = agent.prove(limit=limit, tell=_tell if sys.stderr.isatty() else None, author=author)
        off = switch_off and proof.verdict is ProofVerdict.HARMS
        if off:
            low, high = proof.interval
            agent.switch_memory(f"a proof over {len(proof.turns)} questions: {_points(low)} to {_points(high)} points")
    if as_json:
        print_json({**proof.record(), "switched_off": off})
    else:
        _show(proof, off)


def _agree(cost: ProofCost, yes: bool) -> None:
    if not cost.questions:
        raise InputError(
            "no answer was confirmed yet, or all went stale, so there is nothing to prove; use `merit confirm` first"
        )
    tokens = "" if cost.tokens is None else f", about {cost.tokens:,} tokens"
    money = "" if cost.cost is None else f", about {cost.cost:.2f} in your currency"
    said = f"{counted(cost.questions, 'confirmed question')}: at most {cost.calls:,} calls of the model{tokens}{money}"
    say(said, err=True)
    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError("say --yes to go on without being asked")
    if not click.confirm("Go on?", err=True):
        raise InputError("nothing was asked, and nothing was proven")


def _tell(done: int, of_all: int) -> None:
    say(f"{done} of {of_all} ...", err=True)


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"


def _show(proof: Proof, off: bool) -> None:
    console = Console()
    low, high = proof.interval
    with_memory, without = proof.accuracy(memory=True) or 0.0, proof.accuracy(memory=False) or 0.0
    console.print(f"[bold]{proof.verdict}[/] ({counted(len(proof.turns), 'question')})")
    console.print(f"right with memory     {100 * with_memory:.1f}%")
    console.print(f"right without         {100 * without:.1f}%")
    console.print(
        f"difference            {_points(proof.difference)} points, 95% interval {_points(low)} to {_points(high)}"
    )
    for title, memory in (("with memory", True), ("without", False)):
        brier = proof.brier(memory=memory)
        console.print(f"Brier score {title:<12}" + ("-" if brier is None else f"{brier:.3f}"))
    if (tokens := proof.each("tokens")) is not None:
        cost = proof.each("cost")
        money = "" if cost is None else f", {cost:.4f} in your currency"
        console.print(f"an additional right answer took {tokens:,.0f} tokens more{money}")
    if off:
        console.print("the memory of this database is switched off; `merit prove --switch-on` uses it again")
    elif proof.verdict is ProofVerdict.HARMS:
        console.print("`merit prove --switch-off` uses it no more")
