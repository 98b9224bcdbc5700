"""A browser in the hands of a person: going places, pressing buttons, reading."""

import time
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from making.clock import COMES_S

_BAD = ("serious", "critical")


@cache
def _axe() -> str:
    return (files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")


class Looking:
    """The page as somebody uses it."""

    def __init__(self, driver: Any, address: str) -> None:
        self.driver = driver
        self.address = address

    def go(self, place: str = "#/") -> None:
        """Open an address of the page anew."""
        self.driver.get("about:blank")
        self.driver.get(self.address + place)
        self.driver.execute_async_script("const done = arguments[0]; merit.ready.then(() => done())")

    def until(self, seen: Callable[[], Any], seconds: float = COMES_S) -> Any:
        wait = WebDriverWait(
            self.driver, seconds, poll_frequency=0.03, ignored_exceptions=[StaleElementReferenceException]
        )
        return wait.until(lambda _: seen())

    def all(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def one(self, selector: str) -> Any:
        """The first element, once it is there."""
        return self.until(lambda: self.all(selector))[0]

    def text(self, selector: str = "main") -> str:
        found = self.driver.execute_script("return document.querySelector(arguments[0])?.innerText ?? ''", selector)
        return str(found)

    def sees(self, words: str, selector: str = "main") -> bool:
        """Wait until some words are there."""
        try:
            return bool(self.until(lambda: words in self.text(selector)))
        except TimeoutException:
            raise AssertionError(f"{words!r} is not in {self.text(selector)!r}") from None

    def texts(self, selector: str) -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText ?? one.textContent)"
        return list(self.driver.execute_script(script, selector))

    def press(self, label: str, within: str = "main") -> None:
        """Press the first button or link that begins with these words."""

        def found() -> Any:
            buttons = self.all(f"{within} button, {within} a")
            return next((one for one in buttons if one.is_displayed() and one.text.startswith(label)), None)

        self.driver.execute_script("arguments[0].click()", self.until(found))

    def key(self, *keys: str) -> None:
        """Press keys wherever the focus is, a text letter by letter."""
        for letter in "".join(keys):
            ActionChains(self.driver, duration=0).send_keys(letter).perform()

    def chord(self, *keys: str) -> None:
        """Press keys together, the last one while the others are held."""
        chain = ActionChains(self.driver)
        for key in keys[:-1]:
            chain.key_down(key)
        chain.send_keys(keys[-1])
        for key in keys[:-1]:
            chain.key_up(key)
        chain.perform()

    def offers(self, name: str) -> bool:
        """Wait until the SQL editor offers a name, which it shows in pieces."""
        return bool(self.until(lambda: self._is_offered(name)))

    def _is_offered(self, name: str) -> bool:
        code = "return [...document.querySelectorAll('.ace_autocomplete .ace_line')].map((one) => one.textContent)"
        return any(name in line for line in self.script(code))

    def key_offering(self, key: str, name: str) -> None:
        """Press a key after which the SQL editor offers a name, again where it does not: typing overtook it."""
        for _ in range(10):
            self.key(key)
            try:
                self.until(lambda: self._is_offered(name), 5)
                return
            except TimeoutException:
                self.key(Keys.BACKSPACE)
        raise AssertionError(f"{name} is not offered")

    def rewrite(self, text: str) -> None:
        """Another text in the SQL editor, whose suggestions are closed."""
        self.script("arguments[0].focus()", self.one(".ace_text-input"))
        self.chord(Keys.CONTROL, "a")
        self.key(text, Keys.ESCAPE)

    def ask(self, question: str) -> str:
        """Ask by the form and wait for the answer; its id."""
        self.go()
        self.one("#ask").send_keys(question, Keys.ENTER)
        self.until(lambda: "#/answer/" in self.driver.current_url)
        self.sees(question, "article.answer h1")
        return str(self.driver.current_url.rsplit("/", 1)[1])

    def script(self, code: str, *given: Any) -> Any:
        return self.driver.execute_script(code, *given)

    def errors(self) -> list[str]:
        """What the browser complained about since the last look."""
        return [line["message"] for line in self.driver.get_log("browser") if line["level"] == "SEVERE"]

    def barriers(self) -> list[str]:
        """What axe-core finds serious on what is shown, with where it is."""
        self.driver.execute_script(_axe())
        found = self.driver.execute_async_script(
            "const done = arguments[0];axe.run(document, {resultTypes: ['violations']}).then((r) => done(r.violations))"
        )
        return [
            f"{one['id']}: {node['html'][:160]} ({node['any'][:1]})"
            for one in found
            if one["impact"] in _BAD
            for node in one["nodes"]
        ]

    def barriers_in_both_themes(self) -> list[str]:
        found = []
        for theme in ("dark", "light"):
            self.set_theme(theme)
            found += [f"{theme}: {one}" for one in self.barriers()]
        return found

    def resize(self, width: int) -> None:
        """Another width; 400 px and less as a phone has it."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width <= 400}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def set_theme(self, name: str) -> None:
        """Light or dark, as the system says it."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def elsewhere(self) -> list[str]:
        """Whatever the page fetched that is not of its own server."""
        names = self.script("return performance.getEntriesByType('resource').map((one) => one.name)")
        return [name for name in names if not name.startswith((self.address, "data:", "blob:"))]

    def settle(self, seconds: float = 0.1) -> None:
        time.sleep(seconds)
