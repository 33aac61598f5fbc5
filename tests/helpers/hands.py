"""A person's mouse and keyboard in the browsers of `browsers`: a page receives the events of real devices."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from tests.helpers.browsers import Browser, Chromium, Firefox

Point = tuple[float, float]

_KEYS = {"Enter": ("\ue007", 13), "F5": ("\ue035", 116), "ArrowRight": ("\ue014", 39), "ArrowUp": ("\ue013", 38)}


class Hands:
    """Clicks, draws and types."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser

    def box(self, selector: str) -> tuple[float, float, float, float]:
        """Left, top, width and height of the element found by a selector, after scrolling to it."""
        found = self.browser.run(
            f"(() => {{ const place = document.querySelector({json.dumps(selector)});"
            " if (!place) return null; place.scrollIntoView({block: 'center'});"
            " const box = place.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; })()"
        )
        assert found is not None, f"there is no {selector}"
        return tuple(found)

    def click(self, selector: str) -> None:
        """Clicks the middle of an element."""
        left, top, width, height = self.box(selector)
        self.draw([(left + width / 2, top + height / 2)])

    def draw(self, points: Sequence[Point]) -> None:
        """Presses at the first point, moves along the others, and releases at the last."""
        if isinstance(self.browser, Chromium):
            self._mouse("mousePressed", points[0])
            for point in points[1:]:
                self._mouse("mouseMoved", point)
            self._mouse("mouseReleased", points[-1])
            return
        moves = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0} for x, y in points]
        actions = [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0}]
        self._perform({"type": "pointer", "id": "mouse", "actions": actions})

    def type(self, text: str) -> None:
        """Types into the focused element."""
        if isinstance(self.browser, Chromium):
            self.browser.ask("Input.insertText", text=text)
            return
        self._keys(text)

    def press(self, name: str) -> None:
        """Presses a key by its name."""
        code, number = _KEYS[name]
        if isinstance(self.browser, Chromium):
            told = {"key": name, "code": name, "windowsVirtualKeyCode": number}
            typed = {"text": "\r"} if name == "Enter" else {}
            self.browser.ask("Input.dispatchKeyEvent", type="keyDown", **told, **typed)
            self.browser.ask("Input.dispatchKeyEvent", type="keyUp", **told)
            return
        self._keys(code)

    def fill(self, selector: str, text: str) -> None:
        """Replaces the text of a field."""
        is_there = f"document.activeElement === document.querySelector({json.dumps(selector)})"
        for _ in range(20):  # drawing may move the field away from the mouse
            self.click(selector)
            if self.browser.run(is_there):
                break
            time.sleep(0.1)
        self.browser.run("(document.activeElement.select(), 0)")
        self.type(text)

    def _mouse(self, kind: str, point: Point) -> None:
        assert isinstance(self.browser, Chromium)
        told: dict[str, Any] = {"x": point[0], "y": point[1], "button": "left", "buttons": 1, "clickCount": 1}
        self.browser.ask("Input.dispatchMouseEvent", type=kind, **told)

    def _keys(self, text: str) -> None:
        actions = [{"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")]
        self._perform({"type": "key", "id": "keyboard", "actions": actions})

    def _perform(self, source: dict[str, Any]) -> None:
        assert isinstance(self.browser, Firefox)
        self.browser.ask("WebDriver:PerformActions", {"actions": [source]})
