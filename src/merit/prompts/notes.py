"""Prompts of methods from related work: a task, what every prompt says, blocks of the method's own, and an ending."""

from collections.abc import Mapping, Sequence

from merit.prompts.blocks import Family, Prompt
from merit.prompts.render import ShownAttempt, framed, outcomes
from merit.types import Question

ANSWER = "Put exactly one final SQL query between <answer> and </answer> tags."


def note(
    family: Family, purpose: str, question: Question, schema: str, task: str, shown: Mapping[str, str], ending: str
) -> Prompt:
    """Ask for something of a method's own; `shown` are its blocks by heading, and an empty one is left out."""
    blocks = "\n\n".join(f"{heading}:\n{text}" for heading, text in shown.items() if text)
    values = {"TASK": task, "SHOWN_IF_ANY": blocks, "ENDING": ending}
    return framed("related/note", f"{family.name}-{purpose}-v1", family, question, schema, values)


def tried_block(family: Family, tried: Sequence[ShownAttempt]) -> dict[str, str]:
    """Every attempt and what became of it, as a block."""
    return {"ATTEMPTS AND OBSERVED OUTCOMES": outcomes(family, tried)}


def led_by(prompt: Prompt, purpose: str, heading: str, text: str) -> Prompt:
    """A prompt after a block; the same prompt where there is nothing to say first."""
    if not text:
        return prompt
    version = f"{purpose}-v1"
    return Prompt(version, f"PROMPT_VERSION: {version}\n\n{heading}:\n{text}\n\n{prompt.text}")
