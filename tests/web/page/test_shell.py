"""The page's document: its parts, its policy, and the libraries that packages carry."""

import base64
import hashlib
import re
from importlib.metadata import requires
from pathlib import Path

import pytest

from merit.errors import InputError
from merit.web.page import check_libraries, library, policy, shell
from merit.web.page import libraries as held
from merit.web.page.libraries import LIBRARIES, Library
from merit.web.page.shell import script

PARTS = Path(__file__).parents[3] / "src/merit/web/page/parts"


def test_only_its_own_script_and_files_of_its_server_may_run() -> None:
    [body] = re.findall(r"<script>(.*?)</script>", shell(), re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}' 'self'" in policy()
    assert "unsafe" not in policy()
    assert "default-src 'none'" in policy()
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", shell())


def test_scripts_never_read_text_as_markup() -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", script())


def test_parts_stay_readable_and_all_of_them_are_used() -> None:
    lines = {path.name: path.read_text().splitlines() for path in PARTS.iterdir()}
    assert [name for name, text in lines.items() if len(text) > 300] == []
    assert [name for name, text in lines.items() if name.endswith(".js") and max(map(len, text)) > 120] == []
    assert [name for name, text in lines.items() if name != "page.html" and text[0] not in shell()] == []


def test_libraries_are_those_of_the_pinned_packages() -> None:
    check_libraries()
    for name in LIBRARIES:
        found = library(name)
        assert found is not None
        assert hashlib.sha256(found[1]).hexdigest() == LIBRARIES[name].sha256
        assert LIBRARIES[name].integrity in shell()
    assert library("../../etc/passwd") is None
    pinned = [one for one in requires("merit-sql") or [] if one.startswith(("django-ace", "mpld3"))]
    assert all("==" in one for one in pinned)
    assert len(pinned) == 2


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (Library("d3.js", "mpld3/js/d3.v5.min.js", "0" * 64), "not the file of the version that merit was tested with"),
        (Library("d3.js", "mpld3/js/nowhere.js", "0" * 64), "not installed; run, in"),
        (Library("d3.js", "no_such_package/d3.js", "0" * 64), "not installed; run, in"),
    ],
)
def test_another_library_than_expected_is_refused(
    changed: Library, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "LIBRARIES", {"d3.js": changed})
    library.cache_clear()
    with pytest.raises(InputError, match=words):
        check_libraries()
    library.cache_clear()
