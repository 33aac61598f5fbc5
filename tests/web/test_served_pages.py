"""Pages from a server, and pages in a frame whose sandbox permits only scripts."""

from __future__ import annotations

import shutil
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.helpers.browsers import Browser, wait_until
from tests.helpers.pages import READY, page_of_guide, served, state

from subflow_app.features.exporting.core.live_figure import live_figure
from subflow_app.features.exporting.core.web_page import shared_parts

GUIDE = Path(__file__).parents[2] / "docs" / "export.md"


@dataclass
class Site:
    """A served folder.

    Attributes:
        folder: the served files.
        address: its URL.
        asked: the paths that browsers have requested.
    """

    folder: Path
    address: str
    asked: list[str]


@pytest.fixture(scope="module")
def site(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder, asked = tmp_path_factory.mktemp("site"), list[str]()
    shutil.copy(page, folder / "run-12.html")
    (folder / "course.html").write_text(f"<!doctype html><body>{snippet()}", encoding="utf-8")

    with served(folder, asked.append) as address:
        yield Site(folder, address, asked)


def snippet() -> str:
    """The HTML that the guide offers to teachers: the frame, and the script that sets its height."""
    parts = GUIDE.read_text(encoding="utf-8").split("```html\n")[1:]
    assert len(parts) == 2
    return "".join(part.partition("```")[0] for part in parts)


def test_a_server_gives_a_page_that_lets_itself_be_framed(site: Site, page: Path) -> None:
    with urllib.request.urlopen(f"{site.address}run-12.html") as answer:
        assert answer.headers.get_content_type() == "text/html"
        assert answer.read() == page.read_bytes()
    text = page.read_text(encoding="utf-8")
    policy = text.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert "frame-ancestors" not in policy
    # In a sandbox the page has an opaque origin, which 'self' would not match.
    assert "'self'" not in policy


@pytest.mark.full("two browsers start and simulate")
def test_a_page_is_simulated_from_a_server_and_asks_it_nothing_more(browser: Browser, site: Site) -> None:
    site.asked.clear()
    browser.open(f"{site.address}run-12.html")
    wait_until(browser, READY)
    assert state(browser).startswith("✓")
    assert set(site.asked) == {"/run-12.html"}


@pytest.mark.full("two browsers start and simulate")
def test_pages_that_share_a_core_get_it_from_their_server(browser: Browser, site: Site) -> None:
    figure = live_figure("reno-sawtooth", ["cwnd_pkts"], ["duration=20s", "warmup=2s"], "shared.js")
    (site.folder / figure.file).write_text(figure.page, encoding="utf-8")
    (site.folder / "shared.js").write_text(shared_parts(), encoding="utf-8")
    site.asked.clear()
    browser.open(f"{site.address}{figure.file}")
    wait_until(browser, READY)
    assert state(browser).startswith("✓")
    assert set(site.asked) == {f"/{figure.file}", "/shared.js"}


@pytest.mark.full("two browsers start and simulate")
@pytest.mark.parametrize("place", ["server", "disk"])
def test_what_a_teacher_pastes_shows_the_figure_at_its_height(browser: Browser, site: Site, place: str) -> None:
    assert 'sandbox="allow-scripts"' in snippet()
    browser.open(f"{site.address}course.html" if place == "server" else (site.folder / "course.html").as_uri())
    wait_until(browser, "document.querySelector('iframe').style.height.endsWith('px')")
    browser.enter_frame()
    wait_until(browser, READY)
    assert state(browser).startswith("✓")
    assert browser.run("window.origin") == "null"
    # The curve named in the address, with the bar, and no larger part.
    assert browser.run("[...document.querySelectorAll('.chart figcaption span')].map((each) => each.textContent)") == [
        "Congestion window (pkt)"
    ]
    shown = "[...document.querySelectorAll('main > section, header > button')].filter((each) => each.offsetHeight)"
    assert browser.run(f"{shown}.length") == 1
    assert browser.run("document.getElementById('bar').offsetHeight") > 0
    # The guide promises that 26 rem are enough for one curve.
    assert browser.run("document.body.offsetHeight") <= 26 * 16
    # The page needs no scrolling after its frame has grown.
    wait_until(browser, "document.documentElement.scrollHeight <= window.innerHeight")


@pytest.mark.full("two browsers start and simulate")
@pytest.mark.parametrize("width", [340, 736, 1600])
def test_a_frame_of_the_guide_is_as_high_as_the_page_in_it(browser: Browser, site: Site, width: int) -> None:
    figure = live_figure("reno-sawtooth", ["cwnd_pkts", "srtt_s"], ["duration=20s", "warmup=2s"], "shared.js")
    path = page_of_guide(site.folder / f"guide-{width}", figure)
    browser.open(f"{site.address}{path.relative_to(site.folder).as_posix()}")
    figure_style = "document.querySelector('figure').style"
    browser.run(f"({figure_style}.boxSizing = 'border-box', {figure_style}.width = '{width}px', 0)")
    browser.run("(document.querySelector('button').click(), 0)")
    # The framed page has the same origin here, unlike on a disk.
    inside = "document.querySelector('iframe').contentDocument"
    wait_until(browser, f"{inside}.body?.dataset.ready === 'yes'")
    is_whole = f"{inside}.documentElement.scrollHeight <= document.querySelector('iframe').clientHeight"
    wait_until(browser, is_whole)
    assert browser.run(f"{inside}.querySelector('[data-say=topology_help]').offsetHeight") > 0
    # The frame grows with the page: the answer to "Why" takes some lines.
    browser.run(f"({inside}.body.dispatchEvent(new KeyboardEvent('keydown', {{key: 'w', bubbles: true}})), 0)")
    wait_until(browser, f"{inside}.getElementById('why_answer').textContent")
    wait_until(browser, is_whole)
    assert browser.run(f"{inside}.body.scrollWidth <= document.querySelector('iframe').clientWidth")


@pytest.mark.full("two browsers start and simulate")
def test_a_quantity_that_there_is_not_is_told(browser: Browser, site: Site) -> None:
    browser.open(f"{site.address}run-12.html#embed,cwnd")
    wait_until(browser, READY)
    told = browser.run("document.getElementById('note').textContent")
    assert "names cwnd" in told
    assert "cwnd_pkts" in told
    assert browser.run("document.querySelectorAll('.chart').length") == 4
