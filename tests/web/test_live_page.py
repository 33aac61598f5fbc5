"""The page of the demo that the guide embeds: the shipped scenario, its recorded run, and all files for a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from guide_live import DEMO, DEMO_PAGE, demo, demo_figure
from tests.golden.update import SIGNATURES, kept_in
from tests.helpers.browsers import Browser, wait_until
from tests.helpers.pages import READY, data_of, move_to, set_input, state, submit

from subflow_app.foundation.resources import find_scenario

MOST_B = 600_000
# Rows of the network's picture with the colour of queues, as shares of its height.
ROWS_OF_QUEUES = """(() => {
  const canvas = document.querySelector('.topology'), style = getComputedStyle(document.documentElement);
  const full = style.getPropertyValue('--full').match(/\\w\\w/g).map((part) => parseInt(part, 16));
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height), rows = new Set();
  for (let i = 0; i < data.length; i += 4)
    if (full.every((part, k) => data[i + k] === part)) rows.add(Math.floor(i / 4 / canvas.width) / canvas.height);
  return [...rows];
})()"""


def test_it_is_the_shipped_scenario_and_its_run() -> None:
    (run,) = data_of(demo_figure().page)["runs"]
    assert run["toml"] == find_scenario(DEMO).read_text(encoding="utf-8")
    assert run["signature"] == kept_in(SIGNATURES)[DEMO]


def test_it_is_one_small_file() -> None:
    page = demo_figure().page
    assert len(page.encode()) < MOST_B
    assert re.findall(r"<(?:script|link|img|iframe)[^>]* (?:src|href)=(?!\"data:)", page) == []


def test_it_has_the_words_of_both_languages() -> None:
    german = data_of(demo_figure().page)["words"]["german"]
    assert german["An acknowledgement came"] != "An acknowledgement came"
    assert "{time} s after its start" in german


def test_the_guide_embeds_it_from_beside_its_first_page() -> None:
    assert f'data-live="../{DEMO_PAGE}"' in demo()
    assert demo().count("<svg") == 2  # throughput and congestion window, before it runs


@pytest.mark.full("two browsers start")
def test_a_visitor_plays_it_asks_why_and_changes_the_loss(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / DEMO_PAGE).write_text(demo_figure().page, encoding="utf-8")
    browser.open((tmp_path / DEMO_PAGE).as_uri())
    wait_until(browser, READY)
    assert state(browser).startswith("✓")
    # At the start, the only queue is that of dsl, which leads from the server upwards; its bar lies on this line.
    wait_until(browser, "document.querySelector('#network .readout').textContent.includes('dsl → 1')")
    rows = browser.run(ROWS_OF_QUEUES)
    assert rows
    assert max(rows) < 0.5
    browser.run("(document.getElementById('play').click(), 0)")
    wait_until(browser, "Number(document.getElementById('time').value) > 0.2")
    browser.run("(document.getElementById('play').click(), 0)")

    move_to(browser, 26.0)
    browser.run("(document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'w', bubbles: true})), 0)")
    wait_until(browser, "document.getElementById('why_answer').textContent.includes('s:')")

    set_input(browser, "wifi: Loss (%)", "2")
    submit(browser)
    assert not state(browser).startswith("✓")
    wait_until(browser, "document.querySelectorAll('#differences li').length > 0")
