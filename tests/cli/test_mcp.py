"""`merit mcp`: what is refused before anything is served."""

import builtins
from pathlib import Path
from typing import Any

import pytest

from making.commands import good, refused
from making.live import make_shop


def test_help_names_the_transports() -> None:
    said = " ".join(good("mcp", "--help").output.split())
    assert "Model Context Protocol" in said
    assert "--http" in said


def test_a_folder_without_a_database_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "no database was named" in refused("mcp")
    assert "cannot be entered" in refused("mcp", "--project", tmp_path / "nowhere")
    assert "no database was named" in refused("mcp", "--project", tmp_path)


def test_a_port_that_is_taken_is_refused(tmp_path: Path) -> None:
    database = f"sqlite:///{make_shop(tmp_path / 'shop.sqlite')}"
    assert "cannot be served on" in refused("mcp", "--http", "--host", "203.0.113.1", "--database", database)


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **more: Any) -> Any:
        if name == "merit.mcp":
            raise ModuleNotFoundError("No module named 'mcp'", name="mcp.server")
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert "pip install '.[mcp]'" in refused("mcp")
