"""Finding the folders of runs."""

from pathlib import Path

import pytest

from merit.errors import RunUnusable
from merit.runs import find_runs, run_folders


def make(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")
    return folder


def test_a_run_is_found_itself_and_below(tmp_path: Path) -> None:
    near, far = make(tmp_path / "b"), make(tmp_path / "a" / "x" / "y" / "z")
    assert run_folders(near) == find_runs(near, deepest=0) == [near]
    assert run_folders(tmp_path) == [far, near]
    assert find_runs(tmp_path, deepest=3) == [near]
    assert find_runs(tmp_path, deepest=4) == [far, near]


def test_a_folder_without_runs(tmp_path: Path) -> None:
    assert find_runs(tmp_path) == find_runs(tmp_path, deepest=3) == []
    with pytest.raises(RunUnusable, match="there is no run here, nor in a folder below"):
        run_folders(tmp_path)
