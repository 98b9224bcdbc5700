"""What a look at a database and at the role that reads it finds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing about a role, and whether it is as it should be for a reader."""

    good: bool
    text: str


@dataclass(frozen=True, slots=True)
class Health:
    """An engine that answers, its role, and the statements that would make a role that only reads."""

    engine: str
    version: str
    role: str
    findings: tuple[Remark, ...]
    remedy: tuple[str, ...] = ()  # statements for an administrator; none where there is nothing to mend

    @property
    def good(self) -> bool:
        """Whether everything is as it should be."""
        return all(finding.good for finding in self.findings)
