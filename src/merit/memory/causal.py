"""The causal rule: every recall passes through here (paper, section 3.1, checks i to iv).

(i)   Only finalised episodes: nothing but committed entries has a row at all.
(ii)  Never the current question's own attempts, whenever they were made.
(iii) Only sources at strictly earlier positions.
(iv)  No reference text: an entry has no field for it (`types.entry`). The one exception, a simulated reviewer's
      correction in the regime `reviewed`, is marked by its author.

Beyond the paper: only what is for everyone, or for the person who asks (`types.scope`).
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from merit.memory.policy import Cue, Databases

Mask = npt.NDArray[np.bool_]


class Sources(Protocol):
    """Where the rows of a pool come from, a column each."""

    @property
    def positions(self) -> npt.NDArray[np.int64]:
        """The stream position of each row's episode."""
        ...

    @property
    def questions(self) -> npt.NDArray[np.int64]:
        """The code of each row's question."""
        ...

    @property
    def databases(self) -> npt.NDArray[np.int64]:
        """The code of each row's database."""
        ...

    @property
    def committed(self) -> npt.NDArray[np.int64]:
        """The sequence number of each row's entry."""
        ...

    @property
    def withheld(self) -> Mask:
        """Which rows are deleted or stale."""
        ...

    @property
    def scopes(self) -> npt.NDArray[np.int64]:
        """The code of each row's scope, 0 where it is for everyone."""
        ...

    @property
    def has_scoped(self) -> bool:
        """Whether a row is not for everyone."""
        ...

    def is_all_earlier(self, position: int) -> bool:
        """Whether every row comes from before `position`."""
        ...

    def has_question(self, question: int) -> bool:
        """Whether a row comes from this question."""
        ...

    @property
    def has_withheld(self) -> bool:
        """Whether a row is deleted or stale."""
        ...


@dataclass(frozen=True, slots=True)
class CueCodes:
    """The codes that a cue's own question and database have in an index, and those of the scopes its viewer sees."""

    question: int
    database: int
    scopes: tuple[int, ...] = ()


def legal(sources: Sources, cue: Cue, own: CueCodes, allowed: Databases) -> Mask | None:
    """Which rows may be recalled, None for all.

    In a stream nearly every recall may use everything, so that is found out first without looking at each row.
    """
    untouched = cue.until is None and not sources.has_question(own.question) and not sources.has_withheld
    untouched = untouched and not sources.has_scoped
    if allowed is Databases.ANY and untouched and sources.is_all_earlier(cue.position):
        return None
    mask = sources.positions < cue.position
    mask &= sources.questions != own.question
    mask &= ~sources.withheld
    if sources.has_scoped:
        mask &= np.isin(sources.scopes, (0, *own.scopes))
    if cue.until is not None:
        mask &= sources.committed <= cue.until
    if allowed is Databases.SAME:
        mask &= sources.databases == own.database
    elif allowed is Databases.OTHER:
        mask &= sources.databases != own.database
    return mask
