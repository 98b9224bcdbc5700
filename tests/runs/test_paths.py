"""Finding the folders of runs."""

import os
from pathlib import Path

import pytest

from merit.errors import InputError, RunUnusable
from merit.runs import find_runs, read_manifest, run_folders


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


ENDLESS = "a" * 300  # longer than any file's name


def test_what_cannot_be_looked_at_is_left_out_and_named(tmp_path: Path) -> None:
    good, linked = make(tmp_path / "good"), make(tmp_path / "elsewhere" / "run")
    view = tmp_path / "view"
    view.mkdir()
    for name, target in (
        ("good", good),
        ("linked", linked),
        ("long", ENDLESS),
        ("loop", "loop"),
        ("none", "none-such"),
    ):
        (view / name).symlink_to(target)
    faults: list[str] = []
    assert find_runs(view, deepest=3, faults=faults) == [view / "good", view / "linked"]
    assert sorted(faults) == [
        f"{view / 'long'}: cannot be looked at (File name too long); it is left out",
        f"{view / 'loop'}: cannot be looked at (Too many levels of symbolic links); it is left out",
    ]
    assert find_runs(view, deepest=3) == [view / "good", view / "linked"]


def test_of_very_many_the_first_are_named(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / str(number)).symlink_to(ENDLESS)
    faults: list[str] = []
    assert find_runs(tmp_path, deepest=1, faults=faults) == []
    assert len(faults) == 21
    assert faults[-1] == f"{tmp_path}: more entries below cannot be looked at; they are left out"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into every folder")
def test_a_folder_that_may_not_be_looked_into(tmp_path: Path) -> None:
    good, closed = make(tmp_path / "good"), make(tmp_path / "closed")
    closed.chmod(0)
    faults: list[str] = []
    try:
        assert run_folders(tmp_path, faults) == [good]
    finally:
        closed.chmod(0o755)
    assert faults == [f"{closed}: cannot be looked at (Permission denied); it is left out"]


def test_a_manifest_that_cannot_be_read_is_found_so_that_reading_it_says_why(tmp_path: Path) -> None:
    good = make(tmp_path / "good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "manifest.json").symlink_to(ENDLESS)
    assert run_folders(tmp_path) == find_runs(tmp_path, deepest=2) == [tmp_path / "bad", good]
    assert run_folders(tmp_path / "bad") == [tmp_path / "bad"]
    with pytest.raises(InputError, match=r"manifest.json: cannot be read \(File name too long\)"):
        read_manifest(tmp_path / "bad")
