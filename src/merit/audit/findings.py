"""What an audit went through, and what it could not prove."""

from dataclasses import dataclass

# A forger can write these into the files of a run without contradicting anything else in them or in the data.
_NEVER_PROVEN = (
    "that every reply is the model's own, of the model that the manifest names, drawn as it says",
    "that the first answers are those of the file whose hash the manifest names",
    "token counts, and what timings.json says",
    "the time limit and the versions of merit, Python and SQLite that the manifest names",
)


@dataclass(slots=True)
class Findings:
    """What an audit went through."""

    questions: int = 0
    stream: int = 0  # how many there are
    attempts: int = 0
    groundings: int = 0  # made again from the schema
    prompts: int = 0
    recalls: int = 0
    entries: int = 0
    ranked: bool = False  # whether every recall was ranked again
    judged: bool = False  # whether the data was at hand: every question compared with it, every attempt judged again
    label: str = ""  # what the run calls its dataset, where it is not the benchmark's name
    timeouts: int = 0  # attempts that met their time limit then, and not now
    unsteady: int = 0  # attempts whose rows depend on the clock or on chance, and are others now
    reviews: int = 0  # of answers, by a simulated reviewer
    corrections: int = 0  # of these
    shared_references: int = 0  # prompts with a correction of another question that has the same reference

    @property
    def on_trust(self) -> list[str]:
        """What the run says and this audit did not prove, in words for people."""
        unproven = list(_NEVER_PROVEN)
        if not self.judged:
            unproven += [
                "every verdict, and so what is right (prove it with --data)",
                "that questions, hints, schemas, shown values and fixed examples are the dataset's, and that none is "
                "left out (prove it with --data)",
            ]
            if self.corrections:
                unproven.append("that every correction is the reference of its own question (prove it with --data)")
        if self.label:
            unproven.append(f"that its dataset is rightly called {self.label}")
        if self.timeouts:
            unproven.append("that an attempt met the time limit then which does not meet it now")
        if self.unsteady:
            unproven.append("rows of attempts that ask for the time or for chance, and so what they voted for")
        if self.recalls and not self.ranked:
            unproven.append(
                "scores and ranking of recalls: which of the legal entries came first (prove it with --encoder)"
            )
        if self.questions < self.stream:
            unproven.append("that a run over the beginning of its stream was meant to end there")
        return unproven
