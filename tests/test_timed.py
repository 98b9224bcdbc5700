"""Tests of short times are tried again where the machine stood still, and only there."""

import os
import subprocess
import sys
from pathlib import Path

from making.clock import COMES_S, TRIES

TESTS = Path(__file__).parent
SCENE = """
import ctypes, pytest

tries = {"spoilt": 0, "always": 0, "wrong": 0}

def stand_still():
    ctypes.PyDLL(None).usleep(400_000)  # no other thread of the process runs meanwhile

@pytest.mark.timed
def test_spoilt_once():
    tries["spoilt"] += 1
    if tries["spoilt"] == 1:
        stand_still()
        pytest.fail("late")

@pytest.mark.timed
def test_always_spoilt():
    tries["always"] += 1
    stand_still()
    pytest.fail("late")

def test_not_timed():
    tries["wrong"] += 1
    stand_still()
    pytest.fail("wrong")

def test_counts():
    print(tries)
    assert tries == {"spoilt": 2, "always": TRIES, "wrong": 1}
"""


def test_what_was_spoilt_is_tried_again_and_nothing_else(tmp_path: Path) -> None:
    scene = tmp_path / "test_scene.py"
    scene.write_text(SCENE.replace("TRIES", str(TRIES)))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        TESTS.parent / "pyproject.toml",
        "-p",
        "conftest",
        "--rootdir",
        tmp_path,
    ]
    done = subprocess.run(
        [*map(str, command), "-p", "no:cacheprovider", str(scene)],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        timeout=COMES_S,
    )
    assert "2 failed, 2 passed" in done.stdout, done.stdout
