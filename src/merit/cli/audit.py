"""`merit audit`: the proof that runs, and answers about one's own database, are what they claim."""

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from merit.audit import AuditData, Findings, audit_run
from merit.benchmark import Benchmark
from merit.bundled import NAME as BUNDLED
from merit.cache import cache_folder
from merit.cli.audit_live import LiveOutcome, audit_folders, is_live
from merit.cli.live import MEMORY
from merit.cli.options import CACHE, JSON, known_encoder
from merit.cli.own_data import OwnData
from merit.cli.terminal import Console, print_json, say
from merit.errors import AuditFailed, InputError, MeritError, RunUnusable, counted, short_hash
from merit.models import CachingEncoder, open_encoder
from merit.runs import RunView, is_finished, read_manifest, read_run, run_folders
from merit.runs.code import code_hash
from merit.runs.paths import MANIFEST
from merit.types import Distinct, Encoder

_OWN_ENCODER = "wordllama"  # comes with merit
_LONG_TIMEOUT_S = 60.0  # a statement's time limit above which the audit says why it takes long


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--data",
    "roots",
    multiple=True,
    type=click.Path(path_type=Path),
    help="The dataset's folder: compare all questions with it and judge all attempts again. Give it once for each "
    "dataset; a bundled run takes none.",
)
@click.option(
    "--examples",
    multiple=True,
    type=click.Path(path_type=Path),
    help="With --data: the file of fixed examples that a run was given, where they are not the training split's.",
)
@click.option(
    "--encoder",
    metavar="URI",
    callback=known_encoder,
    help="Rank every recall again with this encoder (default: wordllama, for runs that used it).",
)
@CACHE
@MEMORY
@JSON
def audit(
    runs: tuple[Path, ...],
    roots: tuple[Path, ...],
    examples: tuple[Path, ...],
    encoder: str | None,
    cache: Path | None,
    memory: str,
    as_json: bool,
) -> None:
    """Derive runs again from their records; exit 1 with the first contradiction of each.

    RUNS are run folders, or folders that hold some. What cannot be proven is listed at the end. --json prints one
    object: whether all hold, and for each run whether it holds (null where it could not be audited), the sentence that
    says why not, what was gone through, and what is taken on trust.

    The folder of answers about your own database (`merit audit .merit`) is audited, too: that no answer was shown
    anything later, retracted, stale, below the least grade or out of scope; that votes give the answers; and that
    history and memory account for each other. Every contradiction is listed; --json has them under folders.
    """
    live = audit_folders([folder for folder in runs if is_live(folder)], memory, quiet=as_json)
    runs = tuple(folder for folder in runs if not is_live(folder))
    paths, outcomes = _found(runs)
    _check_given(paths, roots, examples)
    total = len(outcomes) + len(paths)
    with ExitStack() as stack:
        parts = _SharedParts(roots, examples, encoder, cache or cache_folder(), stack)
        for path in paths:
            outcomes.append(parts.audit(path))
            if not as_json and (total > 1 or outcomes[-1].holds):
                outcomes[-1].show()
    failed = [outcome for outcome in outcomes if not outcome.holds]
    if as_json:
        holds = not failed and all(outcome.holds for outcome in live)
        records = ([outcome.record() for outcome in kind] for kind in (outcomes, live))
        print_json({"holds": holds, **dict(zip(("runs", "folders"), records, strict=True))})
    else:
        if total > 1 and not failed:
            click.echo(f"all {total} runs hold")
        show_trust([outcome.findings for outcome in outcomes if outcome.findings])
    _refuse(live)
    if failed and total == 1 and failed[0].error:
        raise failed[0].error
    if failed:
        raise AuditFailed(_counted_failures(failed, total))


def _refuse(live: Sequence[LiveOutcome]) -> None:
    """Fail for the first folder of answers that does not hold."""
    for outcome in live:
        if outcome.findings is None and outcome.error is not None:
            raise outcome.error
        if outcome.findings is not None and not outcome.holds:
            many = counted(len(outcome.findings.contradictions), "contradiction")
            raise AuditFailed(f"{outcome.path}: does not hold: {many} between its answers, words and memory")


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The outcome of one audit."""

    path: Path
    holds: bool | None  # None where it could not be audited
    findings: Findings | None = None
    error: MeritError | None = None
    other_code: bool = False  # whether another version of merit made the run

    def show(self) -> None:
        """Print it for people."""
        if self.findings is None:
            say(str(self.error), err=True)
            return
        Console().block(f"{self.path}: holds. {gone_through(self.findings)}", 0)
        if self.other_code:
            click.echo("note: it was made by another version of merit's code", err=True)

    def record(self) -> dict[str, Any]:
        """The same for a program."""
        findings = self.findings
        return {
            "run": str(self.path),
            "holds": self.holds,
            "why": str(self.error) if self.error else None,
            "findings": asdict(findings) | {"other_code": self.other_code} if findings else None,
            "on_trust": findings.on_trust if findings else [],
        }


def _found(given: Sequence[Path]) -> tuple[list[Path], list[_Outcome]]:
    """All runs to audit; what cannot be looked at may hold runs, so it is said and counts as not audited."""
    paths: list[Path] = []
    outcomes: list[_Outcome] = []
    for folder in given:
        faults: list[str] = []
        try:
            paths += run_folders(folder, faults)
        finally:
            for fault in faults:
                say(fault, err=True)
        outcomes += [_Outcome(folder, None, error=RunUnusable(fault)) for fault in faults]
    return paths, outcomes


def _counted_failures(failed: Sequence[_Outcome], total: int) -> str:
    wrong = sum(outcome.holds is False for outcome in failed)
    sentences = [f"{wrong} of {total} runs {'does' if wrong == 1 else 'do'} not hold"] if wrong else []
    if others := len(failed) - wrong:
        sentences.append(f"{others} of {total} runs could not be audited")
    return ", and ".join(sentences)


def _check_given(paths: Sequence[Path], roots: Sequence[Path], examples: Sequence[Path]) -> None:
    """Refuse folders and files that are not there or that no run could need."""
    names = set()
    for path in paths:
        with suppress(MeritError):  # reported when this run is audited
            names.add(read_manifest(path).identity.dataset.name)
    if roots and names == {BUNDLED}:
        raise InputError("--data: a bundled run takes none, its data comes with merit; leave --data out")
    if examples and not roots and BUNDLED not in names:
        raise InputError("--examples: only an audit with the data compares examples; give --data too")
    for root in roots:
        if not root.is_dir():
            raise InputError(f"{root}: no such folder; give the dataset's folder with --data")
    for file in examples:
        if not file.is_file():
            raise InputError(f"{file}: no such file; give a file of examples with --examples")


def gone_through(findings: Findings) -> str:
    """What an audit went through, for people."""
    ranked = "ranked again" if findings.ranked else "not ranked again (the run's encoder is not here; see --encoder)"
    judged = "judged again" if findings.judged else "verdicts taken from the run (see --data)"
    asked = "compared with the dataset" if findings.judged else "taken from the run"
    if findings.timeouts:
        judged += f", but for {findings.timeouts} that met the time limit then and not now"
    if findings.unsteady:
        judged += f", but for {findings.unsteady} whose rows depend on the time or on chance"
    if findings.groundings:
        judged += f"; {counted(findings.groundings, 'grounding')} made again"
    recalls = f", {counted(findings.recalls, 'recall')} legal and {ranked}" if findings.recalls else ""
    reviews = f", {counted(findings.reviews, 'review')} drawn again" if findings.reviews else ""
    if findings.corrections:
        reviews += f" ({counted(findings.corrections, 'correction')}; {_same_reference(findings)})"
    return (
        f"{findings.questions} of {counted(findings.stream, 'question')} ({asked}), "
        f"{counted(findings.attempts, 'attempt')} ({judged}), {counted(findings.prompts, 'prompt')}, "
        f"{counted(findings.entries, 'entry', 'entries')}{recalls}{reviews}"
    )


def _same_reference(findings: Findings) -> str:
    """How many prompts showed what is also their own question's reference: another question may have the same one."""
    if not findings.judged:
        return "no prompt showed its own question's"
    prompts = counted(findings.shared_references, "prompt")
    return f"no prompt showed its own question's, {prompts} that of another question with the same reference"


def show_trust(audited: Sequence[Findings], console: Console | None = None) -> None:
    """List what audits did not prove; what holds for some of them only says for how many."""
    counts = Counter(item for findings in audited for item in findings.on_trust)
    console = console or Console()
    if counts:
        console.print("taken on trust:")
    for item, count in counts.items():
        console.block(f"{item}{f' ({count} of {len(audited)} runs)' if count < len(audited) else ''}", 2, head="- ")


class _SharedParts:
    """What audits share: data and judges, each opened once."""

    def __init__(
        self, roots: Sequence[Path], examples: Sequence[Path], encoder: str | None, cache: Path, stack: ExitStack
    ) -> None:
        self._examples = examples
        self._encoder = encoder
        self._cache = cache
        self._stack = stack
        self._data = OwnData(roots, cache)
        self._opened: dict[tuple[str, str, Distinct | None, float], AuditData] = {}

    def audit(self, path: Path) -> _Outcome:
        """Audit one run."""
        with ExitStack() as stack:
            try:
                view = read_run(path, torn=not is_finished(path))  # the audit says that it is not finished
            except MeritError as error:
                return _Outcome(path, False, error=error)
            try:
                data, chosen = self._own_data(view), _encoder(view, self._encoder, self._cache, stack)
            except MeritError as error:
                return _Outcome(path, False if isinstance(error, AuditFailed) else None, error=error)
            if data is not None and view.identity.timeout_s > _LONG_TIMEOUT_S:
                say(
                    f"note: {path}: its statements may run for {view.identity.timeout_s:g} s each on every database",
                    err=True,
                )
            try:
                findings = audit_run(view, encoder=chosen, data=data)
            except MeritError as error:
                return _Outcome(path, False, error=error)
            return _Outcome(path, True, findings, other_code=view.identity.code != code_hash())

    def _own_data(self, view: RunView) -> AuditData | None:
        """A run's own data, if it comes with merit or is in one of the folders given; None where none was given."""
        benchmark = self._data.find(view)
        if benchmark is not None:
            return self._open(benchmark, view)
        if view.identity.dataset.name == BUNDLED:
            raise AuditFailed(
                f"{view.path / MANIFEST}: is not of the benchmark that comes with this merit (its content hash "
                "differs); it was edited, or made by another version of merit: audit it with that one "
                f"({view.manifest.made_with.merit})"
            )
        return None

    def _open(self, benchmark: Benchmark, view: RunView) -> AuditData:
        identity = view.identity
        key = (benchmark.content_hash, identity.protocol, identity.distinct, identity.timeout_s)
        if key not in self._opened:
            judged = self._stack.enter_context(benchmark.judged_by(*key[1:]))
            self._opened[key] = AuditData(judged, self._examples)
        return self._opened[key]


def _encoder(view: RunView, uri: str | None, folder: Path, stack: ExitStack) -> Encoder | None:
    wanted = view.identity.encoder
    if wanted is None:
        return None
    if uri is None and wanted.name != _OWN_ENCODER:
        # A run's own word is not enough to load a model, fetch one or ask an endpoint: that takes --encoder.
        return None
    opened = open_encoder(uri or _OWN_ENCODER)
    if opened.identity != wanted:
        if uri is None:
            return None
        here, there = (
            f"{identity.name} ({short_hash(identity.revision)}), of {identity.dimension} dimensions"
            for identity in (opened.identity, wanted)
        )
        raise InputError(f"{view.path}: was made with the encoder {there}, but --encoder {uri} is {here}; give its own")
    return stack.enter_context(closing(CachingEncoder(opened, folder)))
