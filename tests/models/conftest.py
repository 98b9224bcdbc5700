"""What tests of models share."""

from collections.abc import Iterator

import pytest

from making.endpoint import ChatServer


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """An endpoint, found where merit looks for one, without a key."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("MERIT_MODEL_REVISION", raising=False)
    with ChatServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server
