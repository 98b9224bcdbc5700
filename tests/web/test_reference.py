"""The documents of the server say what it does."""

import re
from pathlib import Path

from making.serving import Served
from merit.web.app import make_app

ROOT = Path(__file__).parents[2]


def test_the_reference_lists_every_route(shop: Served) -> None:
    document = make_app(shop.site).openapi()
    real = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    told = set(re.findall(r"^\| `([A-Z]+ /[^`]*)` \|", (ROOT / "docs/reference/http.md").read_text(), re.MULTILINE))
    assert told == real


def test_the_container_serves_as_the_documents_say() -> None:
    """It could not be built where it was written: at least what it copies is there, and it takes no secret."""
    text = (ROOT / "Dockerfile").read_text()
    for name in re.findall(r"^COPY (?!--from)(.*) \./", text, re.MULTILINE):
        assert all((ROOT / one).exists() for one in name.split())
    assert "USER 10001" in text
    assert not re.search(r"(?i)(password|token|key)=", text)
