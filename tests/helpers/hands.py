"""A person's mouse and keyboard in the browsers of `browsers`: a page receives the events of real devices."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from tests.helpers.browsers import Browser, Chromium, Firefox

Point = tuple[float, float]

_KEYS = {
    "Enter": ("\ue007", 13),
    "Tab": ("\ue004", 9),
    "Home": ("\ue011", 36),
    "ArrowUp": ("\ue013", 38),
    "ArrowRight": ("\ue014", 39),
    "ArrowDown": ("\ue015", 40),
    "a": ("a", 65),
}
_MODIFIERS = {"Control": ("\ue009", 2), "Shift": ("\ue008", 8)}


class Hands:
    """Clicks, draws and types."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser

    def box(self, selector: str) -> tuple[float, float, float, float]:
        """Left, top, width and height of an element after scrolling to it, once it rests."""
        before = None
        for _ in range(100):  # drawing the curves of a run moves what lies below them
            found = self.browser.run(
                f"(() => {{ const place = document.querySelector({json.dumps(selector)});"
                " if (!place) return null; place.scrollIntoView({block: 'center', behavior: 'instant'});"
                " const box = place.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; })()"
            )
            assert found is not None, f"no element matches {selector}"
            if found == before:
                return tuple(found)
            before = found
            time.sleep(0.05)
        raise AssertionError(f"{selector} never rests")

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

    def press(self, name: str, held: str = "") -> None:
        """Presses a key by its name, while Control or Shift is held."""
        code, number = _KEYS[name]
        if isinstance(self.browser, Chromium):
            event: dict[str, Any] = {"key": name, "code": name, "windowsVirtualKeyCode": number}
            event |= {"modifiers": _MODIFIERS[held][1]} if held else {}
            typed: dict[str, Any] = {"text": "\r"} if name == "Enter" and not held else {}
            if (name, held) == ("a", "Control"):
                typed = {"commands": ["selectAll"]}  # otherwise the keyboard settings of the system add this
            self.browser.ask("Input.dispatchKeyEvent", type="keyDown", **event, **typed)
            self.browser.ask("Input.dispatchKeyEvent", type="keyUp", **event)
            return
        holder = _MODIFIERS[held][0] if held else ""
        self._act([*(("keyDown", one) for one in holder), *_strokes(code), *(("keyUp", one) for one in holder)])

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

    def choose(self, selector: str, rank: int) -> None:
        """Chooses an option of a menu by its rank."""
        place = f"document.querySelector({json.dumps(selector)})"
        self.browser.run(
            f"({place}.selectedIndex = {rank}, {place}.dispatchEvent(new Event('change', {{bubbles: true}})), 0)"
        )

    def unfold(self, selector: str) -> None:
        """Opens a `details` element."""
        self.browser.run(f"(document.querySelector({json.dumps(selector)}).open = true, 0)")

    def _mouse(self, kind: str, point: Point) -> None:
        assert isinstance(self.browser, Chromium)
        event: dict[str, Any] = {"x": point[0], "y": point[1], "button": "left", "buttons": 1, "clickCount": 1}
        self.browser.ask("Input.dispatchMouseEvent", type=kind, **event)

    def _keys(self, text: str) -> None:
        self._act(_strokes(text))

    def _act(self, strokes: Sequence[tuple[str, str]]) -> None:
        actions = [{"type": kind, "value": letter} for kind, letter in strokes]
        self._perform({"type": "key", "id": "keyboard", "actions": actions})

    def _perform(self, source: dict[str, Any]) -> None:
        assert isinstance(self.browser, Firefox)
        self.browser.ask("WebDriver:PerformActions", {"actions": [source]})


def _strokes(text: str) -> list[tuple[str, str]]:
    return [(kind, letter) for letter in text for kind in ("keyDown", "keyUp")]


class KeyboardHands(Hands):
    """Uses only the keyboard: Tab moves to an element, and keys operate it."""

    def go_to(self, selector: str) -> None:
        """Moves the focus to an element, by Tab or Shift+Tab."""
        place = f"document.querySelector({json.dumps(selector)})"
        where = f"(({place}) === document.activeElement ? 0 : document.activeElement === document.body ? 4 : \
            document.activeElement.compareDocumentPosition({place}) & 6)"
        for _ in range(200):
            towards = self.browser.run(where)
            if towards == 0:
                return
            self.press("Tab", "" if towards & 4 else "Shift")
        raise AssertionError(f"the keyboard does not reach {selector}")

    def click(self, selector: str) -> None:
        """Presses a button."""
        self.go_to(selector)
        self.press("Enter")

    def draw(self, points: Sequence[Point]) -> None:
        """Refuses: a keyboard has no pointer."""
        raise AssertionError("no mouse")

    def fill(self, selector: str, text: str) -> None:
        """Replaces the text of a field."""
        self.go_to(selector)
        self.press("a", "Control")
        self.type(text)

    def choose(self, selector: str, rank: int) -> None:
        """Chooses an option of a menu by its rank."""
        self.go_to(selector)
        for key in ("Home", *["ArrowDown"] * rank):
            self.press(key)

    def unfold(self, selector: str) -> None:
        """Opens a `details` element."""
        if not self.browser.run(f"document.querySelector({json.dumps(selector)}).open"):
            self.click(f"{selector} > summary")
