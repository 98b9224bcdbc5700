"""A headless browser, where there is one; nothing is ever downloaded."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from making.clock import COMES_S

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)


def find_browser() -> tuple[str, str] | None:
    """The browser and its driver: MERIT_BROWSER, or what is installed."""
    given = os.environ.get("MERIT_BROWSER")
    found = given or next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    return (found, driver) if found and driver else None


def look_like(driver: Any, width: int = 1280, height: int = 900, *, dark: bool = False, phone: bool = False) -> None:
    """Another window for what is opened from now on; `phone` sets the size as a phone would."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    colour = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [colour]})


@contextmanager
def browser(width: int = 1280, height: int = 900, *, dark: bool = False, phone: bool = False) -> Iterator[Any]:
    """A browser of its own, with nothing in it."""
    there = find_browser()
    assert there is not None, "find_browser() says whether there is one"
    os.environ["SE_OFFLINE"] = "true"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = there[0]
        for flag in (*_FLAGS, f"--user-data-dir={Path(profile)}", f"--window-size={width},{height}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(there[1]))
        try:
            look_like(driver, width, height, dark=dark, phone=phone)
            driver.set_script_timeout(COMES_S)
            yield driver
        finally:
            driver.quit()
