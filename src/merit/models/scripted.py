"""A model that answers from a script: for tests and examples; its name says so.

A script is a JSON-lines file. Each line has `reply`, and optionally `contains`, a text or a list of texts that must all
occur in the prompt; the first line that fits answers. So an answer depends on the prompt alone.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from merit.errors import InputError, ModelFailed
from merit.models.token_counts import LEAVE_OUT
from merit.reading import check_fields, read_json_lines, read_text
from merit.types import Completion, ModelIdentity, Sampling

_FORM = 'a line of a script is {"reply": "SELECT 1"}, or with "contains": "a text of the prompt" too'


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """One line of a script."""

    contains: tuple[str, ...]
    reply: str


class ScriptedCompleter:
    """Answers by the first rule that fits; tokens are counted as words."""

    concurrency = 1
    recorded = False

    def __init__(self, rules: Sequence[ScriptedReply], name: str = "scripted") -> None:
        self._rules = tuple(rules)
        revision = hashlib.sha256(repr(self._rules).encode()).hexdigest()[:16]
        self.identity = ModelIdentity(name, revision)

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The reply of the first rule that fits; a script neither samples nor counts tokens as a model does."""
        if sampling.max_prompt_tokens is not None:
            raise InputError(f"{self.identity.name}: a script has no tokenizer to cut prompts by; {LEAVE_OUT}")
        for rule in self._rules:
            if all(text in prompt for text in rule.contains):
                return Completion(rule.reply, len(prompt.split()), len(rule.reply.split()))
        raise ModelFailed(
            f"{self.identity.name}: no line of the script fits the prompt that ends {prompt[-60:]!r}; "
            "end the script with a line that has no 'contains'"
        )

    async def close(self) -> None:
        """Nothing to close."""


def read_script(path: Path) -> ScriptedCompleter:
    """The model that a script file describes."""
    try:
        return ScriptedCompleter(_rules(path), f"scripted:{path.name}")
    except InputError as error:
        raise InputError(f"{error}; {_FORM}" if path.is_file() else str(error)) from None


def _rules(path: Path) -> list[ScriptedReply]:
    rules = []
    for number, record in read_json_lines(read_text(path), path):
        where = f"{path}, line {number}"
        check_fields(record, {"reply": str}, where)
        for name in set(record) - {"reply", "contains"}:
            raise InputError(f"{where}: the field {name!r} means nothing here")
        contains = record.get("contains", [])
        texts = [contains] if isinstance(contains, str) else contains
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise InputError(f"{where}: the field 'contains' should be a text or a list of texts, not {contains!r}")
        rules.append(ScriptedReply(tuple(texts), record["reply"]))
    if not rules:
        raise InputError(f"{path}: the script is empty")
    return rules
