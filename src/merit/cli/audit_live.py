"""`merit audit` on the folder of a person's own database: its answers, what they were shown and what was learned."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from merit.cli.live import memory_location
from merit.cli.terminal import Console, say
from merit.errors import MeritError, counted
from merit.live.auditing.audit import LiveFindings, audit_live
from merit.live.record.history import HISTORY
from merit.runs.paths import MANIFEST

_MOST_SAID = 20  # contradictions of one folder


def is_live(folder: Path) -> bool:
    """Whether a folder is that of live answers."""
    return (folder / HISTORY).is_file() and not (folder / MANIFEST).exists()


@dataclass(frozen=True, slots=True)
class LiveOutcome:
    """The outcome of one audit."""

    path: Path
    findings: LiveFindings | None
    error: MeritError | None = None

    @property
    def holds(self) -> bool | None:
        """None where it could not be audited."""
        return None if self.findings is None else self.findings.holds

    def show(self) -> None:
        """Print it for people."""
        found = self.findings
        if found is None:
            say(str(self.error), err=True)
            return
        for sentence in found.contradictions[:_MOST_SAID]:
            say(sentence, err=True)
        if (more := len(found.contradictions) - _MOST_SAID) > 0:
            say(f"and {counted(more, 'more contradiction')} (see --json)", err=True)
        verdict = "holds" if found.holds else "does not hold"
        gone_through = (
            f"{counted(found.answers, 'answer')}, {counted(found.words, 'word')} about them, "
            f"{counted(found.shown, 'shown entry', 'shown entries')}, "
            f"{counted(found.entries, 'entry', 'entries')} in the memory"
        )
        Console().block(f"{self.path}: {verdict}. {gone_through}", 0)

    def show_trust(self, console: Console) -> None:
        """List what was not proven."""
        if self.findings is not None:
            console.print("taken on trust:")
            for item in self.findings.on_trust:
                console.block(item, 2, head="- ")

    def record(self) -> dict[str, Any]:
        """The same for a program."""
        found = self.findings
        return {
            "folder": str(self.path),
            "holds": self.holds,
            "why": str(self.error) if self.error else None,
            "findings": asdict(found) if found else None,
            "on_trust": found.on_trust if found else [],
        }


def audit_folders(folders: Sequence[Path], memory: str, *, quiet: bool) -> list[LiveOutcome]:
    """Audit folders of live answers; unless `quiet`, say what came out."""
    outcomes = []
    for folder in folders:
        try:
            outcomes.append(LiveOutcome(folder, audit_live(folder, memory_location(None, folder, memory))))
        except MeritError as error:
            outcomes.append(LiveOutcome(folder, None, error))
        if not quiet:
            outcomes[-1].show()
            outcomes[-1].show_trust(Console())
    return outcomes
