"""Pages of sweeps and of counterexamples in real browsers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.browsers import Browser, wait_until
from tests.helpers.pages import READY, state
from tests.web.conftest import SCENARIO

from subflow_app.features.breaking.core.break_text import write_claim_page
from subflow_app.features.breaking.core.counterexample import named_counterexample
from subflow_app.features.exporting.core.study_pages import write_sweep_page
from subflow_app.features.sweeps.core.plan_file import SweepOptions, open_plan
from subflow_app.features.sweeps.core.sweep_job import SweepJob
from subflow_store import Store

pytestmark = pytest.mark.full("two browsers start and simulate")


@pytest.fixture(scope="module")
def sweep_page(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    scenario = folder / "two.toml"
    scenario.write_text(SCENARIO.replace('"8s"', '"7s"'), encoding="utf-8")
    axes = ("links.wifi.loss=0%,1%,2%", "flows.download.controller=lia,olia")
    job = SweepJob(open_plan(str(scenario), SweepOptions(axes=axes, seeds="1,2")), store, jobs=1)
    job.run().check()
    return write_sweep_page(store, store.sweeps.rows(limit=1)[0].id, folder / "sweep.html")


def press(browser: Browser, key: str) -> None:
    browser.run(
        f"(document.querySelector('canvas.sweep').dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}'}})), 0)"
    )
    wait_until(browser, READY)


def test_the_points_of_a_sweep_are_simulated_when_they_are_chosen(browser: Browser, sweep_page: Path) -> None:
    browser.open(sweep_page.as_uri())
    wait_until(browser, READY)
    selects = "[...document.querySelectorAll('#guide select')]"
    chosen = f"{selects}[1].selectedOptions[0].textContent"
    assert browser.run(chosen) == "links.wifi.loss = 0%, flows.download.controller = lia"
    assert state(browser).startswith("✓")
    # The page draws its chart at once, and the legend shows the line styles of the chart.
    styles = "[...document.querySelectorAll('#guide .swatch')].map((each) => each.className.trim())"
    assert browser.run(styles) == ["swatch", "swatch dashed"]
    press(browser, "ArrowRight")
    press(browser, "ArrowDown")
    assert browser.run(chosen) == "links.wifi.loss = 1%, flows.download.controller = olia"
    assert state(browser).startswith("✓")
    assert "95 % interval" in browser.run("document.querySelector('#guide [role=status]').textContent")
    browser.run(f"({selects}[2].value = '0', {selects}[2].dispatchEvent(new Event('change')), 0)")
    # The browser draws curves with the next frame.
    wait_until(browser, "document.querySelector('#charts .readout').textContent.includes('[2]')")
    wait_until(browser, READY)
    assert state(browser).startswith("✓")


def test_a_counterexample_shows_both_runs_and_why_they_part(browser: Browser, tmp_path: Path) -> None:
    page = write_claim_page(named_counterexample("improve-olia"), tmp_path / "claim.html")
    browser.open(page.as_uri())
    wait_until(browser, READY)
    wait_until(browser, "document.querySelector('#why_answer code')")
    assert browser.run("scrollY") == 0  # the headline comes before the reason
    assert "olia takes 0.36" in browser.run("document.getElementById('guide').textContent")
    assert browser.run("document.getElementById('now').textContent").startswith("3.4")
    assert "alpha" in browser.run("document.getElementById('why_answer').textContent")
    assert browser.run("document.querySelectorAll('#runs input[type=checkbox]').length") == 2
    assert state(browser).startswith("✓")
    browser.run("(document.querySelectorAll('#runs input[type=radio]')[1].click(), 0)")
    wait_until(browser, "document.getElementById('tables').textContent.includes('newreno')")
    assert state(browser).startswith("✓")
