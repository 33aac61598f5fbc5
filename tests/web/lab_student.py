"""A student who does a lab in its page, following the lab's solution."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from tests.helpers.browsers import Browser, wait_until
from tests.helpers.hands import Hands, KeyboardHands
from tests.helpers.pages import READY

from subflow_app.features.exporting.core.lab_page import group_of, label_of
from subflow_app.features.labs.core.lab import CHOICE, SKETCH, Lab, Step
from subflow_app.features.labs.core.progress import StepProgress
from subflow_app.features.labs.core.runner import run_lab
from subflow_app.features.labs.core.session import quantity
from subflow_app.features.labs.core.solution import COMPUTED, Order, curve_points, parse_order
from subflow_app.foundation.expressions import UNIT_WORTH

_UNITS = {"rate": ("Mbit/s", 1e6), "delay": ("ms", 1e-3), "loss": ("%", 0.01), "queue": ("pkt", 1.0)}


class LabStudent:
    """Operates an open page."""

    def __init__(self, browser: Browser, lab: Lab, hands: Hands | None = None) -> None:
        self.browser, self.lab, self.hands = browser, lab, hands or Hands(browser)
        self.assigned: dict[str, str] = {}
        self.steps: Mapping[str, StepProgress] = {}

    def begin_as(self, code: str) -> None:
        """Enters the code from which the numbers of a lab are drawn, and waits for the first step."""
        self.hands.fill("#code", code)
        self.hands.press("Enter")
        wait_until(self.browser, "document.querySelector('[data-step]') !== null")
        wait_until(self.browser, READY)

    def do_all(self) -> None:
        """Does all steps in order."""
        for step in self.lab.steps:
            self.do(step)

    def do(self, step: Step) -> None:
        """Does one step."""
        self.hands.click(f'[data-step="{step.id}"]')
        for text in step.do:
            self.obey(step, parse_order(text))
        if step.is_read_only:
            self.hands.click("#ending button.main")
        wait_until(self.browser, f"document.querySelector('[data-step=\"{step.id}\"]').textContent.startsWith('✓')")

    def obey(self, step: Step, order: Order) -> None:
        """Carries out one order of the solution."""
        match order.verb:
            case "open":
                self.assigned = {}
                if self.browser.run("document.querySelector('#scenario') === null"):
                    self.hands.click("#reset")  # the page has only one scenario
                else:
                    self.choose("#scenario", order.words[0])
            case "set":
                for key, value in order.values.items():
                    self.set(key, value)
            case "run":
                self.run(order)
            case "predict":
                self.predict(step, order.words[0])
            case "answer":
                self.answer(step, *order.words)
            case "sweep":
                self.sweep(order)
            case "event" | "fork":
                self.event(order)
            case other:
                raise AssertionError(other)

    def choose(self, selector: str, text: str) -> None:
        """Chooses an option of a menu, by its text."""
        place = f"document.querySelector({json.dumps(selector)})"
        options = self.browser.run(f"[...{place}.options].map((option) => option.text)")
        (rank, *_) = [i for i, each in enumerate(options) if each == text or each.endswith(f" ({text})")]
        self.hands.choose(selector, rank)

    def set(self, key: str, value: str) -> None:
        """Sets a value of the form."""
        path = key.split(".")
        if path[0] == "links" and len(path) == 3 and path[2] in _UNITS:
            self.hands.fill(f'[data-key="{key}"]', number_text(path[2], value))
            return
        group = group_of(key)
        if key == group:
            self.assigned = {name: said for name, said in self.assigned.items() if group_of(name) != group}
        self.assigned[key] = value
        changes = tuple((name, said) for name, said in self.assigned.items() if group_of(name) == group)
        # The original value of a scenario, without other changes, has no entry in the menu.
        if self.browser.run(f"document.querySelector('[data-key=\"{group}\"]') !== null"):
            self.choose(f'[data-key="{group}"]', label_of(changes))

    def run(self, order: Order) -> None:
        """Presses Ctrl+Enter once for each seed."""
        said = order.values.get("seeds") or order.values.get("seed") or ""
        first, _, last = said.partition("..")
        for seed in range(int(first), int(last or first) + 1) if said else [None]:
            if seed is not None:
                self.hands.fill('[data-key="seed"]', str(seed))
            before = self.runs()
            self.hands.press("Enter", "Control")
            wait_until(self.browser, f"document.querySelectorAll('#runs input').length > {before}")
            wait_until(self.browser, READY)
        if said:
            self.hands.fill('[data-key="seed"]', "1")

    def runs(self) -> int:
        """Number of runs."""
        return int(self.browser.run("document.querySelectorAll('#runs input').length"))

    def predict(self, step: Step, said: str) -> None:
        """Draws, chooses or types a prediction."""
        asked = step.prediction
        assert asked is not None
        if asked.kind == CHOICE:
            self.press_option("#prediction", said)
        elif asked.kind == SKETCH and isinstance(self.hands, KeyboardHands):
            self.hands.fill("#prediction input", said)
            for button in ("label + button", "button.main"):
                self.hands.click(f"#prediction {button}")
        elif asked.kind == SKETCH:
            left, top, width, height = self.hands.box(".sketch")
            until = asked.until_s or 1.0
            reach = asked.top or 100.0
            points = [
                (left + 48 + (width - 58) * at / until, top + 8 + (height - 32) * (1 - min(value / reach, 1.0)))
                for at, value in curve_points(said)
            ]
            self.hands.draw(points)
            self.hands.click("#prediction button.main")
        else:
            self.hands.fill("#prediction input", said)
            self.hands.press("Enter")

    def answer(self, step: Step, question: str, said: str) -> None:
        """Chooses or types an answer; waits until it is judged."""
        if step.question(question).is_text:
            return  # pages omit free texts
        place = f'[data-question="{question}"]'
        if said == COMPUTED:
            said = self.computed(step, question)
        if step.question(question).options:
            self.press_option(place, said)
        else:
            self.hands.fill(f"{place} input", said)
            self.hands.press("Enter")
        wait_until(self.browser, f"document.querySelector('{place} .exact, {place} .problem:not(:empty)')")

    def computed(self, step: Step, question: str) -> str:
        """The right number, from the program's own runs of the solution."""
        self.steps = self.steps or run_lab(self.lab).progress.steps
        value = self.steps[step.id].answers[question][-1].value
        assert isinstance(value, float)
        unit = step.question(question).unit
        return f"{value / UNIT_WORTH.get(unit, 1.0):.9g} {unit}"

    def press_option(self, place: str, text: str) -> None:
        """Presses the button with that text."""
        options = self.browser.run(
            f"[...document.querySelectorAll('{place} .options button')].map((b) => b.textContent)"
        )
        assert text in options, (text, options)
        self.hands.click(f"{place} .options button:nth-child({options.index(text) + 1})")

    def sweep(self, order: Order) -> None:
        """Enters values and seeds, and starts all runs at once."""
        (key, values), *_ = [(key, said) for key, said in order.values.items() if key != "seeds"]
        self.hands.unfold("#sweep_part")
        self.choose("#sweep_key", group_of(key))
        path, said = key.split("."), values.split(",")
        if path[-1] in _UNITS:
            said = [number_text(path[-1], value) for value in said]
        first, _, last = order.values.get("seeds", "1..1").partition("..")
        self.hands.fill("#sweep_values", ", ".join(said))
        self.hands.fill("#sweep_seeds", f"{first}..{last}")
        wanted = self.runs() + len(said) * (int(last) - int(first) + 1)
        self.hands.press("Enter")
        wait_until(self.browser, f"document.querySelectorAll('#runs input').length === {wanted}")
        wait_until(self.browser, READY)
        self.assigned.update({key: said[-1]} if path[-1] not in _UNITS else {})

    def event(self, order: Order) -> None:
        """Enters an event: of the scenario, or of the last run from that time on."""
        values = dict(order.values)
        self.hands.unfold("#event_part")
        at, link = values.pop("at"), values.pop("link")
        ((what, value),) = values.items()
        self.hands.fill("#event_time", f"{quantity(at, 's'):g}")
        self.choose("#event_link", link)
        place = "document.getElementById('event_what')"
        chosen = {"false": "down", "true": "back"}.get(value, what)
        self.browser.run(f"({place}.value = '{chosen}', {place}.dispatchEvent(new Event('change')), 0)")
        if what in _UNITS:
            self.hands.fill("#event_value", number_text(what, value))
        before = self.runs()
        self.hands.click("#event_fork" if order.verb == "fork" else "#event button[type=submit]")
        if order.verb == "fork":
            wait_until(self.browser, f"document.querySelectorAll('#runs input').length > {before}")
            wait_until(self.browser, READY)

    def hand_in(self, name: str, folder: Path) -> Path:
        """Hands the results in; returns the saved file."""
        for old in folder.glob("*.json"):
            old.unlink()
        self.hands.fill("#student", name)
        self.hands.click("#write")
        end = time.monotonic() + 60
        while time.monotonic() < end:
            found = [path for path in folder.glob("*.json") if path.stat().st_size > 0]
            if found and not [*folder.glob("*.part"), *folder.glob("*.crdownload")]:
                return found[0]
            time.sleep(0.05)
        raise AssertionError(f"nothing was saved in {folder}: {self.browser.run('document.body.innerText')}")


def number_text(what: str, value: str) -> str:
    """A quantity in the unit of the form."""
    unit, factor = _UNITS[what]
    return f"{quantity(value, unit) / factor:.9g}"
