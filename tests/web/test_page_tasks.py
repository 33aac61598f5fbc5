"""No task of a page takes long: it draws and responds between tasks, also with a hundred flows and with an agent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.helpers.browsers import Chromium, chromium_path, wait_until
from tests.helpers.pages import READY, move_to, set_input, submit
from tests.web.conftest import SCENARIO, stored_run

from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_app.features.exporting.core.web_page import write_page
from subflow_store import Store

pytestmark = pytest.mark.full("a browser starts, and draws a hundred flows")

MOST_S = 0.1
_HUNDRED = SCENARIO.replace("[[events]]", "count = 100\n[[events]]").replace('"8s"', '"30s"')
_PAGES = {
    "demo": lambda: open_scenario("demo").text,
    "hundred": lambda: _HUNDRED,
    "confluence": lambda: SCENARIO.replace('"lia"', '"confluence"').replace('"8s"', '"30s"'),
}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    if chromium_path() is None:
        pytest.skip("chromium is not installed here: Debian and Ubuntu get it from dev.py")
    made = Chromium(tmp_path_factory.mktemp("chromium"))
    made.look(1366, 768)
    yield made
    made.close()


def drawn(browser: Chromium) -> None:
    """Waits for three frames of the screen and the work that follows them."""
    browser.run(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))"
    )
    wait_until(browser, READY)


def act_and_draw(browser: Chromium, act: Callable[[], None]) -> None:
    act()
    drawn(browser)


def click(browser: Chromium, place: str) -> None:
    browser.run(f"(document.querySelector('{place}').click(), 0)")


def scrub(browser: Chromium) -> None:
    for step in range(20):
        move_to(browser, 1 + step / 4)
        drawn(browser)


def what_if(browser: Chromium) -> None:
    label = browser.run("document.querySelector('#whatif_place input[type=text]').getAttribute('aria-label')")
    set_input(browser, label, "3")
    submit(browser)
    assert browser.run("document.querySelectorAll('#differences li').length") > 0


def why(browser: Chromium) -> None:
    browser.run("(document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'w', bubbles: true})), 0)")
    wait_until(browser, "document.querySelector('#why_answer code, #why_answer table')")


def pick(browser: Chromium) -> None:
    click(browser, "details:has(#picker) summary")
    drawn(browser)
    click(browser, "#picker input")


def all_events(browser: Chromium) -> None:
    browser.run("document.getElementById('events').scrollIntoView()")
    drawn(browser)
    if browser.run("document.querySelectorAll('#events .choices').length"):
        click(browser, "#events .choices button:last-of-type")


@pytest.mark.parametrize("kind", _PAGES)
def test_no_task_takes_longer_than_a_tenth_of_a_second(
    chromium: Chromium, store: Store, tmp_path: Path, kind: str
) -> None:
    page = write_page(store, [stored_run(store, _PAGES[kind]())], tmp_path / f"{kind}.html")

    def open_page() -> None:
        chromium.open(page.as_uri())
        wait_until(chromium, READY)

    acts: dict[str, Callable[[], None]] = {"opening": open_page}
    acts |= {each.__name__: partial(each, chromium) for each in (scrub, what_if, why, pick, all_events)}
    acts |= {name: partial(click, chromium, f"#{name}") for name in ("language", "theme", "save")}
    took = {}
    for name, act in acts.items():
        took[name] = chromium.longest_task_s(partial(act_and_draw, chromium, act))
    assert max(took.values()) > 0.001, "nothing was measured"
    assert {name: seconds for name, seconds in took.items() if seconds > MOST_S} == {}
    assert chromium.problems == []
