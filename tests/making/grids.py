"""Grids over the small benchmark, and an endpoint's answers to its questions."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from making.benchmark import ITEMS
from making.endpoint import Asked, Reply, as_json, completion
from merit.cli.main import cli

METHODS = ["iterative", "merit", "reflexion", "dynamic_rag"]


def answering(asked: Asked) -> Reply:
    """Right at the third attempt or so, by the prompt alone."""
    prompt = asked.prompt
    item = next(item for item in ITEMS if f"QUESTION:\n{item.text}\n" in prompt)
    tried = prompt.count("[Attempt ")
    text = item.reference if tried >= 2 + len(item.text) % 3 else (item.wrong, item.broken)[tried % 2]
    if "-reflection-v3" in prompt:
        return as_json(completion(f"<reflection>After {tried}.</reflection>", len(prompt.split()), 3))
    return as_json(completion(f"<answer>{text}</answer>", len(prompt.split()), 5))


def write_grid(folder: Path, **changes: Any) -> Path:
    fields = {"out": "runs", "model": "openai:m", "methods": METHODS, "seeds": [0], **changes}
    dataset = {"name": "spider", "data": "data", "initial": "initial.jsonl", **fields.pop("dataset", {})}
    lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
    lines += ["[[dataset]]", *(f"{name} = {json.dumps(value)}" for name, value in dataset.items())]
    path = folder / f"{fields['out']}.toml"
    path.write_text("\n".join(lines))
    return path


def run_grid(path: Path, *options: str) -> Result:
    return CliRunner().invoke(cli, ["grid", str(path), *options])
