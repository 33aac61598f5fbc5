"""Figures of the guide that are runs: small pages that share one core, and simulate on request."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from pathlib import Path

import pytest
from tests.helpers.browsers import Browser, wait_until
from tests.helpers.pages import READY, page_of_guide

from subflow_app.features.exporting.core.live_figure import LiveFigure, live_figure


@pytest.fixture(scope="module")
def figure() -> LiveFigure:
    return live_figure("reno-sawtooth", ["cwnd_pkts"], ["duration=20s", "warmup=2s"], "shared.js")


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
def test_it_runs_where_it_is_embedded(browser: Browser, figure: LiveFigure, tmp_path: Path) -> None:
    browser.open(page_of_guide(tmp_path, figure).as_uri())
    assert browser.run("document.querySelectorAll('figure svg polyline').length") == 1
    browser.run("(document.querySelector('button').click(), 0)")
    wait_until(browser, "document.querySelector('iframe')")
    address = browser.run("document.querySelector('iframe').src")
    assert browser.run("document.querySelector('figure svg')") is None
    # The framed page has another origin: on a disk, each file has its own origin.
    browser.open(address)
    wait_until(browser, READY)
    assert browser.run("document.getElementById('state').textContent").startswith("✓")
    assert browser.run("document.querySelectorAll('.chart').length") == 1
