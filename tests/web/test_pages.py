"""Pages in real browsers: a run is simulated again, viewed, changed, explained, saved and opened again."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.helpers.browsers import Browser, wait_until
from tests.helpers.pages import READY, data_of, move_to, set_input, state, submit, with_data
from tests.web.conftest import SCENARIO, saved_file, stored_run

from subflow_app.features.exporting.core.page_import import read_page
from subflow_app.features.exporting.core.web_page import write_page
from subflow_sim import Simulation, parse_scenario
from subflow_store import Store

pytestmark = pytest.mark.full("two browsers start and simulate")


@pytest.fixture
def opened(browser: Browser, page: Path) -> Browser:
    browser.open(page.as_uri())
    wait_until(browser, READY)
    return browser


def test_a_run_is_simulated_bit_for_bit(opened: Browser) -> None:
    assert state(opened).startswith("✓"), state(opened)
    assert opened.run("document.querySelectorAll('.chart').length") == 4
    assert "download" in opened.run("document.getElementById('tables').textContent")
    # A download without an end has no completion time, so the column is missing.
    assert "Completion" not in opened.run("document.getElementById('tables').textContent")
    assert opened.run("document.querySelectorAll('#events tr').length") > 5


def test_its_time_can_be_moved_by_keys_and_bar(opened: Browser) -> None:
    opened.run("(document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'End', bubbles: true})), 0)")
    wait_until(opened, "document.getElementById('now').textContent.startsWith('8')")
    move_to(opened, 2)
    wait_until(opened, "document.querySelector('#network .readout').textContent.startsWith('2')")


def test_why_is_answered(opened: Browser) -> None:
    move_to(opened, 3)
    opened.run("(document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'w', bubbles: true})), 0)")
    wait_until(opened, "document.querySelector('#why_answer code')")
    assert "RFC" in opened.run("document.getElementById('why_answer').textContent")
    rows = opened.run("[...document.querySelectorAll('#why_answer tr')].map((each) => each.textContent)")
    (capped,) = (each for each in rows if each.startswith("capped"))
    assert capped.removeprefix("capped").removeprefix("no").startswith("yes where the limit of one TCP")


def test_what_moved_an_agent_is_told_in_both_languages(browser: Browser, store: Store, tmp_path: Path) -> None:
    learned = SCENARIO.replace('"lia"', '"drl-cc"').replace('"8s"', '"7s"')
    browser.open(write_page(store, [stored_run(store, learned)], tmp_path / "learned.html").as_uri())
    wait_until(browser, READY)
    assert state(browser).startswith("✓")
    move_to(browser, 3)
    why = "document.getElementById('why_answer').textContent"
    browser.run("(document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'w', bubbles: true})), 0)")
    wait_until(browser, f"{why}.includes('median')")
    assert "A learning agent acted" in browser.run(why)
    assert "Inputs that changed the action" in browser.run(why)
    browser.run("(document.getElementById('language').click(), 0)")
    browser.run("(document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'w', bubbles: true})), 0)")
    wait_until(browser, f"{why}.includes('Eingaben, die die Aktion geändert haben')")
    assert "Anlass: Ein lernender Agent" in browser.run(why)


@pytest.mark.parametrize("moment", ["start", "cursor"])
def test_what_if_is_simulated_saved_and_comes_back_as_a_scenario(opened: Browser, moment: str) -> None:
    folder: Path = opened.folder  # type: ignore[attr-defined]
    for old in (*folder.glob("*.html"), *folder.glob("*.toml")):
        old.unlink()
    move_to(opened, 2)
    opened.run(f"(document.querySelector('input[name=from][value={moment}]').checked = true, 0)")
    loss = opened.run("[...document.querySelectorAll('#whatif_place input[type=text]')][2].getAttribute('aria-label')")
    set_input(opened, loss, "5")
    submit(opened)
    assert opened.run("document.getElementById('whatif_place').querySelector('.problem').textContent") == ""
    # Measures of flows come first, and a direction is written as in the network.
    differences = opened.run("[...document.querySelectorAll('#differences li')].map((each) => each.textContent)")
    assert differences[0].startswith("download, Goodput: ")
    assert differences[-1].startswith(("wifi →", "wifi ←", "lte →", "lte ←"))
    # The result is beside the button, and leads to the curves above.
    outcome = opened.run("document.querySelector('#whatif_place [role=status]').textContent")
    assert re.match(r"Goodput of download: [\d.]+ → [\d.]+ Mbit/s \(−[\d.]+ %\)\. See both", outcome)
    opened.run("(document.querySelector('#whatif_place .outcome button').click(), 0)")
    wait_until(opened, "(({top}) => top >= 0 && top < 200)(document.getElementById('changed').getBoundingClientRect())")
    signature = opened.run("document.getElementById('changed_signature').textContent")
    assert len(signature) == 16
    assert opened.run("document.getElementById('changed_run').innerText") == f"Signature {signature}"
    # The page now shows another run; the verdict on the recorded run remains beside it.
    assert opened.run("document.getElementById('state').className") != "exact"
    assert state(opened).startswith("changed: this is not the recorded run")
    # The file of the scenario has the change.
    opened.run("(document.getElementById('toml').click(), 0)")
    simulation = Simulation(parse_scenario(saved_file(opened, folder, ".toml").read_text(encoding="utf-8")), seed=3)
    simulation.run_until(simulation.duration_s)
    assert simulation.signature() == signature
    opened.run("(document.getElementById('save').click(), 0)")
    saved = shutil.copy(saved_file(opened, folder, ".html"), folder / f"again-{moment}.htm")
    found = read_page(Path(saved)).scenario()
    assert found.signature == signature
    simulation = Simulation(parse_scenario(found.text), seed=3)
    simulation.run_until(simulation.duration_s)
    assert simulation.signature() == signature
    again = Path(saved).with_suffix(".html")
    shutil.copy(saved, again)
    opened.open(again.as_uri())
    wait_until(opened, READY)
    assert "✓ bit for bit" in state(opened)
    assert not state(opened).startswith("✓")
    assert opened.run("document.getElementById('changed_signature').textContent") == signature
    opened.run("([...document.querySelectorAll('#whatif_place button')][1].click(), 0)")
    wait_until(opened, "document.getElementById('changed_run').hidden")
    assert opened.run("document.querySelector('#whatif_place [role=status]').textContent") == ""
    assert state(opened).startswith("✓")


def test_a_wrong_number_is_told(opened: Browser) -> None:
    label = opened.run("document.querySelector('#whatif_place input[type=text]').getAttribute('aria-label')")
    set_input(opened, label, "fast")
    opened.run("(document.querySelector('#whatif_place form').requestSubmit(), 0)")
    assert "fast" in opened.run("document.querySelector('#whatif_place .problem').textContent")


def test_its_language_and_look_change(opened: Browser) -> None:
    before = opened.run("document.documentElement.dataset.theme")
    opened.run("(document.getElementById('theme').click(), 0)")
    assert opened.run("document.documentElement.dataset.theme") != before
    opened.run("(document.documentElement.lang === 'de' || document.getElementById('language').click(), 0)")
    assert "Zahlen" in opened.run("document.body.innerText")
    assert opened.run("document.getElementById('speed').getAttribute('aria-label')") == "Tempo"
    opened.run("(document.getElementById('language').click(), 0)")
    assert "Figures" in opened.run("document.body.innerText")


def test_a_damaged_page_tells_so(browser: Browser, page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    other = tmp_path / "damaged.html"
    data = data_of(text)
    data["runs"][0]["scenario"]["scenario"]["duration"] = "long"
    other.write_text(with_data(text, data), encoding="utf-8")
    browser.open(other.as_uri())
    wait_until(browser, READY)
    assert "duration: a whole number" in state(browser)
    other.write_text(text.replace('{"format":1', '{"format":7'), encoding="utf-8")
    browser.open(other.as_uri())
    wait_until(browser, "document.body.dataset.ready === 'failed'")
    assert "format 7" in browser.run("document.getElementById('recorded').textContent")
    for part, told in (("core", "cannot run the simulator"), ("script", "Dieser Browser kann")):
        other.write_text(re.sub(rf'(id="{part}" data-size="\d+">.{{99}}).', r"\1~", text), encoding="utf-8")
        browser.open(other.as_uri())
        wait_until(browser, "document.body.dataset.ready === 'failed'")
        assert told in browser.run("document.getElementById('recorded').innerText")
        assert browser.run("document.querySelectorAll('#recorded svg polyline').length") > 3
