"""A recording that answers in a model's place, or raises where it has no answer."""

from merit.errors import InputError, NotRecorded
from merit.models.answers import AnswerStore, answer_key
from merit.types import Completion, ModelIdentity, Sampling


class ReplayCompleter:
    """Answers only what the recorded model answered."""

    concurrency = 1
    recorded = True

    def __init__(self, store: AnswerStore, model: str = "") -> None:
        """Replay the answers of `model`, which need not be named where the recording has one only."""
        self._store = store
        known = [identity for identity, _ in store.models()]
        matches = [
            identity for identity in known if model in ("", identity.name, f"{identity.name}@{identity.revision}")
        ]
        if len(matches) != 1:
            names = (
                ", ".join(
                    f"{identity.name}@{identity.revision}" if identity.revision else identity.name for identity in known
                )
                or "none"
            )
            store.close()
            raise InputError(f"{store.path}: name the model to replay as replay:FILE#MODEL; recorded are: {names}")
        self._identity = matches[0]

    @property
    def identity(self) -> ModelIdentity:
        """The recorded model's: a replayed run is that model's run."""
        return self._identity

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The recorded answer."""
        key = answer_key(self._identity, prompt, sampling)
        if (answer := self._store.get(key)) is not None:
            return answer
        raise NotRecorded(
            f"{self._store.path}: no recorded answer of {self._identity.name} to the prompt {key.hex()[:12]}; "
            "ask a live model",
            key.hex(),
        )

    async def close(self) -> None:
        """Close the recording."""
        self._store.close()
