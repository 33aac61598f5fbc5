"""Pages for everybody: axe finds nothing, targets are large enough, titles and labels say enough, and pages print."""

from __future__ import annotations

import base64
import importlib.util
import io
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdf
import pytest
from tests.helpers.browsers import Browser, Chromium, chromium_path, wait_until
from tests.helpers.pages import READY, move_to

from subflow_app.features.breaking.core.break_text import write_claim_page
from subflow_app.features.breaking.core.counterexample import named_counterexample
from subflow_app.features.exporting.core.lab_page import write_lab_page
from subflow_app.features.labs.core.lab_file import load_lab
from subflow_app.features.paper.core.report import build_report, read_runs
from subflow_app.features.paper.core.report_file import render_html
from subflow_store import Store

pytestmark = pytest.mark.full("two browsers start and simulate")

KINDS = ("run", "lab", "claim", "report")
TITLES = {
    "run": "Two paths </script><b>& more – run with lia, 8 s – Subflow",
    "lab": "First sawtooth – Subflow lab",
    "claim": "Counterexample for olia: Several paths carry at least what NewReno gets on the best of them – Subflow",
    "report": "Two paths </script><b>& more – Subflow report",
}
NETWORKS = {  # nodes, and links with rate and delay
    "run": "client, server. Links: wifi: client – server, 8 Mbit/s, 10 ms; lte: client – server, 4 Mbit/s, 30 ms",
    "claim": "server, client. Links: a: server – client, 50 Mbit/s, 20 ms; b: server – client, 50 Mbit/s, 40 ms",
}
AXE = "axe.run(document, {resultTypes: ['violations']}).then((found) => JSON.stringify(found.violations))"
VISIBLE = "filter((each) => each.offsetHeight > 0)"
# Links within a sentence are as high as their line, which is allowed.
TARGETS = "button, select, input, summary, nav a, [tabindex]"
SMALL = f"""[...document.querySelectorAll('{TARGETS}')].{VISIBLE}.map((each) => {{
  const box = (each.closest('label') ?? each).getBoundingClientRect();
  return [each.outerHTML.slice(0, 80), box.width, box.height];
}}).filter(([, width, height]) => Math.min(width, height) < 23.9)"""
IS_CUT = "(each) => each.scrollWidth > each.clientWidth + 1"
CUT = f"[...document.querySelectorAll('.scroll, .wide')].{VISIBLE}.filter({IS_CUT})"
HEADINGS = f"[...document.querySelectorAll('h1, h2, h3, h4')].{VISIBLE}.map((each) => Number(each.tagName[1]))"


@pytest.fixture(scope="module")
def pages(store: Store, run_id: int, page: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("kinds")
    report = folder / "report.html"
    report.write_bytes(render_html(build_report(read_runs(store, [run_id]))))
    lab = write_lab_page(load_lab("1", language="en"), folder / "lab.html", language="en")
    claim = write_claim_page(named_counterexample("improve-olia"), folder / "claim.html")
    return {"run": page, "lab": lab, "claim": claim, "report": report}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    if chromium_path() is None:
        pytest.skip("chromium is not installed here: Debian and Ubuntu get it from dev.py")
    made = Chromium(tmp_path_factory.mktemp("readable"))
    yield made
    made.close()


def opened(browser: Browser, pages: dict[str, Path], kind: str) -> None:
    browser.open(pages[kind].as_uri())
    if kind != "report":
        wait_until(browser, READY)
        if browser.run("document.documentElement.lang") != "en":
            browser.run("(document.getElementById('language').click(), 0)")


def unfolded(browser: Browser, kind: str) -> None:
    """Shows what a page has only after some use: a run of a lab, an answer of *Why*, details, a wrong number."""
    if kind == "lab":
        before = browser.run("document.querySelectorAll('#runs input').length")  # of a student who used this browser
        browser.run("(document.getElementById('run').click(), 0)")
        wait_until(browser, f"document.querySelectorAll('#runs input').length > {before}")
        wait_until(browser, READY)
    if kind == "run":
        move_to(browser, 3)
        browser.run("(document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'w', bubbles: true})), 0)")
        wait_until(browser, "document.querySelector('#why_answer table')")
        number = "document.querySelector('#whatif_place input[type=text]')"
        browser.run(f"({number}.value = 'fast', document.querySelector('#whatif_place form').requestSubmit(), 0)")
    browser.run("(document.querySelectorAll('details').forEach((each) => (each.open = true)), 0)")


def axe_script() -> str:
    """The script of axe-core that the package ships; the package's Python code is not used."""
    (folder,) = importlib.util.find_spec("axe_core_python").submodule_search_locations  # type: ignore[union-attr,misc]
    return (Path(folder) / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing_and_targets_are_large(chromium: Chromium, pages: dict[str, Path], kind: str) -> None:
    chromium.ask("Page.setBypassCSP", enabled=True)  # the policy of a page refuses scripts of others, as it must
    for width, height, dark in ((1366, 768, False), (390, 844, True)):
        chromium.look(width, height, dark=dark)
        opened(chromium, pages, kind)
        unfolded(chromium, kind)
        chromium.ask("Runtime.evaluate", expression=axe_script())
        found: list[dict[str, Any]] = json.loads(chromium.run(AXE))
        faults = {each["id"]: [node["html"][:200] for node in each["nodes"]] for each in found}
        assert faults == {}, f"{kind}, {width} pixels"
        assert chromium.run(SMALL) == []
        assert chromium.run("document.documentElement.scrollWidth") <= width
        # A table that is cut shows a shadow at its edge, until it has been scrolled to its end.
        assert (kind, width) != ("run", 390) or chromium.run(f"{CUT}.length") > 1
        wait_until(chromium, f"{CUT}.every((each) => each.classList.contains('more'))")
        chromium.run(f"({CUT}.forEach((each) => (each.scrollLeft = each.scrollWidth)), 0)")
        wait_until(chromium, "document.querySelector('.more') === null")
    if kind in ("run", "claim"):
        assert chromium.run("document.getElementById('speed').offsetHeight") >= 24  # on the phone, too


@pytest.mark.parametrize("kind", KINDS)
def test_every_browser_opens_it_with_title_headings_and_labels(
    browser: Browser, pages: dict[str, Path], kind: str
) -> None:
    opened(browser, pages, kind)
    assert browser.run("document.title") == TITLES[kind]
    levels = browser.run(HEADINGS)
    assert levels.count(1) == 1
    assert [(before, after) for before, after in itertools.pairwise(levels) if after > before + 1] == []
    if kind in NETWORKS:
        label = browser.run("document.querySelector('.topology').getAttribute('aria-label')")
        assert NETWORKS[kind] in label
        charts = browser.run("[...document.querySelectorAll('.chart canvas')].map((each) => each.ariaLabel)")
        assert charts[0].startswith("Throughput: ")
        assert all("; download/1 (" in each for each in charts[:3])
        # Only what can be unlimited shows so.
        fields = "[...document.querySelectorAll('#whatif_place [placeholder=\"∞\"]')].map((each) => each.ariaLabel)"
        assert {each.partition(": ")[2] for each in browser.run(fields)} == {"Rate (Mbit/s)", "Queue (pkt)"}


@pytest.mark.parametrize("kind", ["run", "lab"])
def test_what_is_printed_is_what_is_to_be_read(chromium: Chromium, pages: dict[str, Path], kind: str) -> None:
    chromium.look(1366, 768, dark=True)
    opened(chromium, pages, kind)
    unfolded(chromium, kind)
    printed = base64.b64decode(chromium.ask("Page.printToPDF")["data"])
    text = "\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(printed)).pages)
    wanted = {"run": ("bit for bit", "Network", "Cause", "Goodput"), "lab": ("Draw it, then run it", "Goodput")}
    assert [each for each in wanted[kind] if each not in text] == []
    assert [each for each in ("Save page", "Simulate", "Hand in", "Run (", "Keys:") if each in text] == []
    assert chromium.run("document.documentElement.dataset.theme") == "dark"  # again, after the print in light colours


def test_numbers_of_reasons_have_prefixes_and_few_digits(chromium: Chromium, pages: dict[str, Path]) -> None:
    opened(chromium, pages, "run")
    for time_s in (1.0, 3.0, 5.0):
        move_to(chromium, time_s)
        chromium.run("(document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'w', bubbles: true})), 0)")
        wait_until(chromium, f"document.querySelector('#now').textContent.startsWith('{time_s:g}')")
        wait_until(chromium, "document.querySelector('#why_answer table')")
        cells = chromium.run("[...document.querySelectorAll('#why_answer td:nth-child(2)')].map((c) => c.textContent)")
        digits = [sum(letter.isdigit() for letter in each.partition(" ")[0].strip("-−0.")) for each in cells]
        assert max(digits) <= 4, cells
