"""One server and one browser for all tests of the page: both take seconds to start."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from making.browser import browser, find_browser
from making.endpoint import ChatServer
from making.looking import Looking
from making.page import ServedPage, ToldModel, make_shop


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a browser where there is none."""
    if find_browser() is None:
        skip = pytest.mark.skip(reason="no browser: install chromium and chromium-driver, or set MERIT_BROWSER")
        for item in items:
            if "opened" in getattr(item, "fixturenames", ()):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    folder = tmp_path_factory.mktemp("served")
    make_shop(folder / "shop.sqlite")
    model = ToldModel()
    with ChatServer(model) as endpoint:
        page = ServedPage(folder, model, endpoint)
        page.start()
        try:
            yield page
        finally:
            model.go.set()
            page.kill()


@pytest.fixture(scope="session")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="session")
def opened(served: ServedPage, downloads: Path) -> Iterator[Looking]:
    with browser(1200, 900) as driver:
        driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
        yield Looking(driver, served.address)


@pytest.fixture
def look(opened: Looking) -> Iterator[Looking]:
    """The browser; a test fails where the page logged an error that it did not expect."""
    opened.errors()
    yield opened
    assert opened.errors() == []
