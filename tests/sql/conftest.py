"""Tests of the processes that run statements start their own."""

import pytest


@pytest.fixture(autouse=True)
def kept_workers() -> None:
    """In the place of the fixture that keeps them for other tests."""
