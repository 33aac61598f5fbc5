"""Figures of the guide that are runs: small pages that share one core, and simulate when they are asked to."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from pathlib import Path

import pytest
from tests.helpers.browsers import Browser, wait_until
from tests.helpers.pages import READY

from subflow_app.core.exporting.live_figure import LiveFigure, live_figure
from subflow_app.core.exporting.web_page import shared_parts

GUIDE = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def figure() -> LiveFigure:
    return live_figure("reno-sawtooth", "cwnd_pkts", ["duration=20s", "warmup=2s"], "shared.js")


def test_a_figure_is_small_for_it_shares_the_core(figure: LiveFigure) -> None:
    assert len(figure.page.encode()) < 20_000
    assert figure.page.index('<script src="shared.js">') < figure.page.index("<script>")
    assert 'id="core" data-size="0"></script>' in figure.page
    assert figure.picture.count("<svg") == 1
    assert re.fullmatch(r"reno-sawtooth-[0-9a-f]{8}\.html", figure.file)


def test_its_policy_knows_its_own_scripts_and_what_lies_beside(figure: LiveFigure) -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', figure.page)
    (boot,) = re.findall(r"<script>(.*?)</script>", figure.page, re.DOTALL)
    assert "sha256-" + b64encode(hashlib.sha256(boot.encode()).digest()).decode() in policy
    assert "'self' file: 'wasm-unsafe-eval'" in policy
    assert "unsafe-inline" not in policy


@pytest.mark.full("two browsers start")
def test_it_runs_where_it_stands(browser: Browser, figure: LiveFigure, tmp_path: Path) -> None:
    (tmp_path / "live").mkdir()
    (tmp_path / "live" / "shared.js").write_text(shared_parts(), encoding="utf-8")
    (tmp_path / "live" / figure.file).write_text(figure.page, encoding="utf-8")
    (tmp_path / "live.js").write_bytes((GUIDE / "_static" / "live.js").read_bytes())
    caption = "<figcaption><span>A run</span> <button hidden>Run</button></figcaption>"
    place = f'<figure class="live" data-live="live/{figure.file}"><div class="live-picture">{figure.picture}</div>'
    (tmp_path / "guide.html").write_text(
        f'<!doctype html><meta charset="utf-8"><script src="live.js"></script><body>{place}{caption}</figure>',
        encoding="utf-8",
    )
    browser.open((tmp_path / "guide.html").as_uri())
    assert browser.run("document.querySelectorAll('figure svg polyline').length") == 1
    browser.run("(document.querySelector('button').click(), 0)")
    wait_until(browser, "document.querySelector('iframe')")
    address = browser.run("document.querySelector('iframe').src")
    assert browser.run("document.querySelector('figure svg')") is None
    # What is framed here has another origin: from a disk each file has its own.
    browser.open(address)
    wait_until(browser, READY)
    assert browser.run("document.getElementById('state').textContent").startswith("✓")
    assert browser.run("document.querySelectorAll('.chart').length") == 1
