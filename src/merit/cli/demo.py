"""`merit demo`: score a small example that comes with the package."""

import tempfile
from contextlib import closing
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from merit.bundled import library
from merit.cli.options import SECONDS
from merit.cli.score import show
from merit.data import load, read_predictions
from merit.oracle import open_judge
from merit.score import score


@click.command()
@click.option("--timeout", "timeout_s", type=SECONDS, default=2.0, show_default=True)
def demo(timeout_s: float) -> None:
    """Judge ten sample answers over a small library database, twice: on it alone, and on its test suite."""
    console = Console()
    console.print(
        "Ten questions to a small library database, each with one hand-written sample answer: some right, some wrong, "
        "one that never ends, one that tries to delete. Each answer is judged on the database alone, and on its test "
        "suite: the same tables with other rows as well.\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        library.build(root)
        dataset = load("spider", root)
        predictions = read_predictions(root / "predictions.jsonl", dataset.questions, {})
        results = []
        for protocol in ("db", "suite"):
            with closing(open_judge(dataset, protocol, cache=None, timeout_s=timeout_s)) as judge:
                results.append(score(dataset, protocol, predictions, judge))
    table = Table("question and answer", "database alone", "test suite", show_lines=True)
    for question in dataset.questions:
        alone, suite = (result.verdicts[question] for result in results)
        said = f"\n[dim]{escape(alone.error)}[/]" if alone.error else ""
        asked = f"{question.text}\n[cyan]{escape(predictions[question.id])}[/]"
        table.add_row(asked, f"{alone.status}{said}", "same" if suite.status is alone.status else suite.status)
    console.print(table)
    for result in results:
        show(result, console)
    console.print(
        "\nThe suite tells answers that are right by luck from right ones. Score your own predictions with "
        "[bold]merit score spider --data FOLDER --pred FILE[/]."
    )
