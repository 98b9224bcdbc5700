"""What tests of commands share."""

from pathlib import Path

import pytest


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A model that always says the same, which is right for nothing."""
    path = tmp_path / "script.jsonl"
    path.write_text('{"reply": "<answer>SELECT 1</answer>"}\n')
    return f"scripted:{path}"
