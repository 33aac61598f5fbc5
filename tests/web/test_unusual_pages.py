"""Pages in real browsers with unusual content: script controllers, arriving flows, a run too large for a page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.helpers.browsers import Browser, wait_until
from tests.helpers.pages import READY, data_of, move_to, set_input, state, submit, with_data
from tests.helpers.scripts import write_scenario
from tests.web.conftest import saved_file

from subflow_app.features.editor.core.scenario_source import ScenarioSource, open_scenario
from subflow_app.features.exporting.core.page_import import read_page
from subflow_app.features.exporting.core.web_page import write_page
from subflow_app.features.running.core.runs import RunJob
from subflow_sim import Simulation
from subflow_store import Store

pytestmark = pytest.mark.full("two browsers start and simulate")
CHANGED = "document.getElementById('changed_signature').textContent"
PROBLEM = "document.querySelector('#whatif_place .problem').textContent"


def written(store: Store, source: ScenarioSource, folder: Path) -> Path:
    """The page of a run of the scenario."""
    result = RunJob(source.scenario, source.text, store=store).run()
    assert result.run_id is not None
    return write_page(store, [result.run_id], folder / "run.html")


def saved_signature(browser: Browser, folder: Path) -> str:
    """Signature of a local run of the page's saved scenario; it must equal the signature in the saved page."""
    downloads: Path = browser.folder  # type: ignore[attr-defined]
    for old in (*downloads.glob("*.html"), *downloads.glob("*.toml")):
        old.unlink()
    browser.run("(document.getElementById('toml').click(), 0)")
    alone = Simulation(open_scenario(str(saved_file(browser, downloads, ".toml"))).scenario)
    alone.run_until(alone.duration_s)
    browser.run("(document.getElementById('save').click(), 0)")
    found = read_page(Path(shutil.copy(saved_file(browser, downloads, ".html"), folder / "saved.html"))).scenario()
    simulation = Simulation(found.scenario)
    simulation.run_until(simulation.duration_s)
    assert simulation.signature() == found.signature == alone.signature()
    return found.signature


@pytest.mark.parametrize("moment", ["start", "cursor"])
def test_scripts_are_executed_explained_and_changed(
    browser: Browser, store: Store, tmp_path: Path, moment: str
) -> None:
    browser.open(written(store, open_scenario(str(write_scenario(tmp_path))), tmp_path).as_uri())
    wait_until(browser, READY)
    assert state(browser).startswith("✓")
    move_to(browser, 2.5)
    browser.run("(document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'w', bubbles: true})), 0)")
    wait_until(browser, "document.querySelector('#why_answer td code')")
    # The answer has the executed lines of the script.
    assert "left = slow_start(w, ack)" in browser.run("document.getElementById('why_answer').textContent")
    move_to(browser, 1.5)
    browser.run(f"(document.querySelector('input[name=from][value={moment}]').checked = true, 0)")
    set_input(browser, "x: Rate (Mbit/s)", "2")
    submit(browser)
    assert browser.run(PROBLEM) == ""
    first = browser.run(CHANGED)
    assert saved_signature(browser, tmp_path) == first
    set_input(browser, "f: Controller", "olia")
    submit(browser)
    second = browser.run(CHANGED)
    assert saved_signature(browser, tmp_path) == second != first


def test_flows_that_arrive_are_those_of_the_run_and_change_together(
    browser: Browser, store: Store, tmp_path: Path
) -> None:
    source = open_scenario("drlcc-sc5", overrides=["duration=20s"])
    browser.open(written(store, source, tmp_path).as_uri())
    wait_until(browser, READY)
    assert state(browser).startswith("✓")
    menu = "document.querySelector('#whatif_place select[aria-label$=Controller]')"
    browser.run(f"({menu}.value = 'olia', {menu}.dispatchEvent(new Event('change', {{bubbles: true}})), 0)")
    submit(browser)
    assert browser.run(PROBLEM) == ""
    assert saved_signature(browser, tmp_path) == browser.run(CHANGED)


def test_what_is_too_large_is_told_before_it_begins(browser: Browser, page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    data = data_of(text)
    data["runs"][0]["scenario"]["scenario"]["duration"] = int(1e15)
    data["runs"][0]["duration_s"] = 1e6
    other = tmp_path / "long.html"
    other.write_text(with_data(text, data), encoding="utf-8")
    browser.open(other.as_uri())
    wait_until(browser, READY)
    assert "too large for a page" in state(browser)
    # A change that is too large leaves the run of the page.
    browser.open(page.as_uri())
    wait_until(browser, READY)
    set_input(browser, "wifi: Rate (Mbit/s)", "1000000")
    set_input(browser, "lte: Rate (Mbit/s)", "1000000")
    submit(browser)
    assert "too large for a page" in browser.run(PROBLEM)
    assert state(browser).startswith("✓")
    assert browser.run(CHANGED) == ""
