"""The script that shows explorables in a browser: it has the same numbers as the program, and responds to controls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from PySide6.QtQml import QJSEngine, QJSValue
from PySide6.QtWidgets import QApplication
from tests.helpers.browsers import Chromium, chromium_path, wait_until
from tests.helpers.formulas import NAMES, NUMBERS
from tests.helpers.members import for_each

from subflow_app.features.exporting.core.web_page import explorable_element
from subflow_app.features.labs.core.explorables import Point, explorable_names, load_explorable
from subflow_app.foundation.resources import resource_path

SCRIPT = resource_path("web/explorable.js")


@pytest.fixture(scope="module")
def engine(qapp: QApplication) -> QJSEngine:
    """A JavaScript engine without a page."""
    assert qapp is not None  # the engine needs an application
    made = QJSEngine()
    assert not evaluated(made, SCRIPT.read_text(encoding="utf-8")).isError()
    return made


def evaluated(engine: QJSEngine, script: str) -> QJSValue:
    """Result of a script; PySide's stubs wrongly declare a list."""
    return cast("QJSValue", engine.evaluate(script))


def number(engine: QJSEngine, call: str) -> float:
    found = evaluated(engine, call)
    assert not found.isError(), found.toString()
    return found.toNumber()


@for_each(("text", "value"), NUMBERS)
def test_a_formula_has_this_number(engine: QJSEngine, text: str, value: float) -> None:
    found = number(engine, f"evaluate_formula({json.dumps(text)}, {json.dumps(NAMES)})")
    assert found == pytest.approx(value, nan_ok=True)


@for_each("text", ["c", "a b", "(a", "a +", "alert(1)", "constructor", "a.b", "1; 2", "min()", ""])
def test_nothing_else_is_a_formula(engine: QJSEngine, text: str) -> None:
    found = evaluated(engine, f"evaluate_formula({json.dumps(text)}, {json.dumps(NAMES)})")
    assert found.isError()
    assert "SyntaxError" in found.toString()


@pytest.mark.parametrize("name", explorable_names())
def test_it_gives_what_the_program_gives(engine: QJSEngine, name: str) -> None:
    explorable = load_explorable(name)
    described = json.dumps(explorable.document())
    for place, each in enumerate(explorable.inputs):
        for value in (each.least, each.value, each.stepped(each.value, 3), each.most):
            inputs = {**explorable.defaults(), each.name: value * each.worth}
            wanted = explorable.values(inputs)[explorable.result.name]
            call = f"explorable_values({described}, {json.dumps(inputs)})[{json.dumps(explorable.result.name)}]"
            assert number(engine, call) == pytest.approx(wanted)
        for steps in (-10, -1, 1, 10):
            moved = number(engine, f"input_stepped({described}.inputs[{place}], {each.value}, {steps})")
            assert moved == pytest.approx(each.stepped(each.value, steps))
    _x, y = explorable.curve(explorable.defaults())
    last = number(engine, f"explorable_curve({described}, {json.dumps(explorable.defaults())})[120][1]")
    assert last == pytest.approx(y[-1])


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Chromium]:
    """A browser with the page of an explorable, which forbids external styles and scripts."""
    if chromium_path() is None:
        pytest.skip("Chromium is not installed")
    explorable = load_explorable("utilisation")
    measured = [Point({"buffer": 17, "rate": 1e7}, 0.859), Point({"buffer": 17, "rate": 2e7}, 0.8)]
    policy = "default-src 'none'; script-src 'self' file:"
    (tmp_path / "explorable.js").write_bytes(SCRIPT.read_bytes())
    (tmp_path / "page.html").write_text(
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<script src="explorable.js"></script>{explorable_element(explorable, "en", measured)}',
        encoding="utf-8",
    )
    made = Chromium(tmp_path / "profile")
    made.open((tmp_path / "page.html").as_uri())
    wait_until(made, "document.querySelector('.explorable .chosen') !== null")
    yield made
    made.close()


@pytest.mark.full("a browser starts")
def test_numbers_are_dragged_typed_and_moved_with_keys(browser: Chromium) -> None:
    def do(script: str) -> Any:
        return browser.run(
            f"(() => {{ const field = document.querySelector('[role=spinbutton][aria-label^=Buffer]');{script} }})()"
        )

    shown = "return [field.value, document.querySelectorAll('.formula strong')[2].textContent];"
    press = "field.dispatchEvent(new KeyboardEvent('keydown', {key: '%s', bubbles: true}));"
    point = "field.dispatchEvent(new PointerEvent('%s', {clientX: %d, pointerId: 1, bubbles: true}));"
    assert do(shown) == ["17", "87.3 %"]
    assert do("return document.querySelectorAll('.measured').length;") == 1
    assert do(press % "ArrowUp" + shown)[0] == "18"
    assert do(press % "PageUp" + shown)[0] == "28"
    assert do(press % "Home" + shown) == ["0", "75 %"]
    assert do(press % "End" + shown) == ["150", "100 %"]
    assert do("field.value = '42'; field.dispatchEvent(new Event('change'));" + shown) == ["42", "96.5 %"]
    assert do("field.value = 'much'; field.dispatchEvent(new Event('change'));" + shown)[0] == "42"
    drag = "field.setPointerCapture = () => {};" + point % ("pointerdown", 100) + point % ("pointermove", 150)
    assert do(drag + point % ("pointerup", 150) + shown)[0] == "72"
    assert do("return getComputedStyle(field).cursor;") == "ew-resize"
    label = do("return document.querySelector('.explorable svg').getAttribute('aria-label');")
    assert label == "Utilisation: 99.8 %"
