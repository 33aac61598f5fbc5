"""The built guide: a page for every subject, found by its words; no dead links, no files from the network."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, unquote, urlsplit
from xml.etree import ElementTree

import pytest
import typer
from guide_live import DEMO, DEMO_PAGE
from tests.golden.update import SIGNATURES, kept_in
from tests.helpers.browsers import Browser, Chromium, Firefox, chromium_path, firefox_path, wait_until
from tests.helpers.pages import READY, data_of, served, state

from subflow_app.features.exporting.core.study_pages import PAGE_NAME
from subflow_app.features.gallery.core.recipe_reader import recipe_names
from subflow_app.features.guide.core import GuidePage, guide_page
from subflow_app.features.plots.core import PLOTS
from subflow_app.shell.commands import app
from subflow_app.toolkit.workspaces import PANELS
from subflow_sim.catalog import controllers, schedulers
from subflow_sim.params import SECTIONS

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "docs"
BUILDS = pytest.mark.full("builds the guide")
pytestmark = pytest.mark.timeout(600)  # the build alone takes more than a minute of processor time
MOST_BYTES_OF_A_HOST = 25 << 20  # the least among common hosts of static sites
_MATH = re.compile(r"<math.*?</math>", re.DOTALL)


class _Page(HTMLParser):
    """The anchors of a page, its links, and the files that it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key == "id" and value:
                self.anchors.add(value)
            elif value and (key == "src" or (key == "href" and tag == "link")):
                self.loaded.add(value)
            elif value and key == "href" and tag == "a":
                self.links.add(value)


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The guide, built by the command of `dev.py docs`: a warning is an error."""
    folder = tmp_path_factory.mktemp("guide")
    words = [sys.executable, "-m", "sphinx", "-b", "html", "-t", "site", "-E", "-W", "--keep-going", "-q"]
    built = subprocess.run(
        [*words, "-d", folder / "doctrees", SOURCES, folder / "html"], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def pages(html: Path) -> dict[Path, _Page]:
    return {path: _Page(path.read_text(encoding="utf-8")) for path in html.rglob("*.html")}


def _commands(group: Any, words: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    shown = [(name, command) for name, command in group.commands.items() if not command.hidden]
    below = [
        each for name, command in shown if hasattr(command, "commands") for each in _commands(command, (*words, name))
    ]
    return [(*words, name) for name, _ in shown] + below


def _topics() -> list[str]:
    return [
        "",
        *(f"controller/{each.name}" for each in controllers()),
        *(f"scheduler/{each.name}" for each in schedulers()),
        *(f"panel/{name}" for name in (*PANELS, "plots")),
        *(f"command/{'/'.join(words)}" for words in _commands(typer.main.get_command(app))),
        *(f"section/{name}" for name in (*SECTIONS, "queue", "loss", "trace", "arrivals", "script", "training")),
        *(f"plot/{plot.id}" for plot in PLOTS),
    ]


@BUILDS
def test_everything_has_its_place_in_the_guide(html: Path, pages: dict[Path, _Page]) -> None:
    def is_there(page: GuidePage) -> bool:
        found = pages.get(html / page.file)
        return found is not None and (not page.anchor or page.anchor in found.anchors)

    assert [topic for topic in _topics() if not is_there(guide_page(topic))] == []


@BUILDS
def test_each_algorithm_has_a_formula_its_source_what_to_expect_and_something_to_try(html: Path) -> None:
    for kind, algorithms in (("controller", controllers()), ("scheduler", schedulers())):
        for each in algorithms:
            text = (html / guide_page(f"{kind}/{each.name}").file).read_text(encoding="utf-8")
            for part in ("Source: ", "The formula", "What to expect", "Try it", "<math"):  # english: keep
                assert part in text, f"{each.name}: {part}"
            assert all(f">{option.key}<" in text.replace("</span>", "<") for option in each.options), each.name


@BUILDS
def test_links_and_pictures_lead_somewhere(html: Path, pages: dict[Path, _Page]) -> None:
    dead = []
    for path, page in pages.items():
        for link in page.links | page.loaded:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto", "data"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[target].anchors if target in pages else None
            if not target.is_file() or (parts.fragment and anchors is not None and parts.fragment not in anchors):
                dead.append(f"{path.relative_to(html)}: {link}")
    assert dead == []


@BUILDS
def test_the_site_is_ready_for_any_host(html: Path, pages: dict[Path, _Page]) -> None:
    files = [path for path in html.rglob("*") if path.is_file()]
    assert html / ".nojekyll" in files  # without it, a host with Jekyll leaves out `_static`
    assert [path for path in files if path.stat().st_size > MOST_BYTES_OF_A_HOST] == []
    # Names that differ only in capitals are one file on some disks.
    assert len({str(path).lower() for path in files}) == len(files)
    # A host may put the site into any folder.
    assert [link for page in pages.values() for link in page.links | page.loaded if link.startswith("/")] == []
    added = {str(path.relative_to(html)) for name in ("examples", "downloads") for path in (html / name).iterdir()}
    links = pages[html / "examples.html"].links
    assert {link for link in links if link.startswith(("examples/", "downloads/"))} == added
    assert len([name for name in added if name.startswith("examples/")]) == 3
    assert "examples.html" in pages[html / "index.html"].links
    # Without an icon, browsers ask the host for favicon.ico.
    assert [path for path in pages if 'icon" href="' not in path.read_text(encoding="utf-8")] == []


@BUILDS
@pytest.mark.parametrize("kind", [Chromium, Firefox])
def test_examples_run_from_a_disk_and_from_a_server(
    html: Path, tmp_path: Path, kind: type[Chromium] | type[Firefox]
) -> None:
    if {Chromium: chromium_path, Firefox: firefox_path}[kind]() is None:
        pytest.skip(f"{kind.__name__} is not installed here: Debian and Ubuntu get it from dev.py")
    browser: Browser = kind(tmp_path)
    with served(html) as address:
        try:
            for start in (f"{html.as_uri()}/", address):
                browser.open(f"{start}examples.html")
                found = browser.run("[...document.querySelectorAll('a[href^=\"examples/\"]')].map((each) => each.href)")
                assert len(found) == 3
                for link in (*found, f"{start}{DEMO_PAGE}"):
                    browser.open(link)
                    wait_until(browser, READY)
                    assert link.endswith("lab.html") or state(browser).startswith("✓")
        finally:
            browser.close()


@BUILDS
def test_figures_that_run_share_one_core(html: Path) -> None:
    live = html / "_static" / "live"
    texts = [page.read_text(encoding="utf-8") for page in html.rglob("*.html")]
    named = {one for text in texts for one in re.findall(r'data-live="live/([^"]+)"', text)}
    assert len(named) >= 3
    assert {path.name for path in live.iterdir()} == {*named, PAGE_NAME, "shared.js"}
    assert all((live / name).stat().st_size < 25_000 for name in named)


@BUILDS
def test_the_page_of_all_experiments_is_in_it(html: Path) -> None:
    text = (html / "_static" / "live" / PAGE_NAME).read_text(encoding="utf-8")
    assert len(text.encode()) < 10_000_000
    assert '<script src="shared.js">' in text
    assert f'href="../_static/live/{PAGE_NAME}"' in (html / "reproduction" / "index.html").read_text(encoding="utf-8")
    data = data_of(text)
    assert [chapter["id"] for chapter in data["chapters"]] == list(recipe_names())
    # A chapter without a run of a network names the reason in its text.
    empty = {chapter["id"]: chapter["texts"][-1] for chapter in data["chapters"] if not chapter["runs"]}
    assert len(empty) == 6
    assert all("no run of a network shows it" in told for told in empty.values())


@BUILDS
def test_nothing_is_loaded_from_the_network(pages: dict[Path, _Page]) -> None:
    loaded = {one for page in pages.values() for one in page.loaded}
    assert [one for one in loaded if urlsplit(one).netloc] == []


@BUILDS
def test_the_sidebar_has_its_parts_in_order(html: Path) -> None:
    text = (html / "index.html").read_text(encoding="utf-8")
    captions = re.findall(r'<p class="caption"[^>]*><span class="caption-text">([^<]+)</span>', text)
    assert captions[:5] == ["Start", "Use", "Understand", "Extend", "Reference"]
    assert text.count('class="caption" role="heading" aria-level="2"') == 5


@BUILDS
def test_the_live_page_is_the_recorded_run_of_the_demo(html: Path) -> None:
    (run,) = data_of((html / DEMO_PAGE).read_text(encoding="utf-8"))["runs"]
    assert run["signature"] == kept_in(SIGNATURES)[DEMO]
    first = (html / "index.html").read_text(encoding="utf-8")
    assert f'data-live="../{DEMO_PAGE}"' in first
    assert f'href="{DEMO_PAGE}"' in first


@BUILDS
def test_it_can_be_searched_without_a_server(html: Path) -> None:
    # Scripts, because a browser refuses to load data files from a disk.
    text = (html / "search.html").read_text(encoding="utf-8")
    assert (html / "searchindex.js").read_text(encoding="utf-8").startswith("Search.setIndex(")
    assert 'src="searchindex.js"' in text
    assert (html / "_static" / "search_texts.js").read_text(encoding="utf-8").startswith("const search_texts = {")
    assert text.index("search_texts.js") < text.index("_static/search.js")


QUESTIONS = {
    "add a controller": "write-a-controller.html",
    "how do I add my own controller": "write-a-controller.html",
    "read results in Python": "python.html",
    "compare two controllers": "views/compare.html",
    "install with pip": "installation.html",
    "grade a class": "labs/teaching.html",
    "exit codes": "command-line.html",
    "export a figure": "export.html",
}


@BUILDS
@pytest.mark.parametrize("kind", [Chromium, Firefox])
def test_questions_find_their_page_among_the_first_three_with_excerpts(
    html: Path, tmp_path: Path, kind: type[Chromium] | type[Firefox]
) -> None:
    if {Chromium: chromium_path, Firefox: firefox_path}[kind]() is None:
        pytest.skip(f"{kind.__name__} is not installed here: Debian and Ubuntu get it from dev.py")
    browser: Browser = kind(tmp_path)
    try:
        found = {question: _first_hits(browser, html, question) for question in QUESTIONS}
    finally:
        browser.close()
    pages = {question: [address.partition("#")[0] for address, _ in hits] for question, hits in found.items()}
    assert {question: hits for question, hits in pages.items() if QUESTIONS[question] not in hits} == {}
    assert [excerpt for hits in found.values() for _, excerpt in hits if len(excerpt) < 40] == []


def _first_hits(browser: Browser, html: Path, question: str) -> list[tuple[str, str]]:
    """Address and excerpt of the first three pages that the search lists, in a guide opened from a disk."""
    browser.open(f"{(html / 'search.html').as_uri()}?q={quote_plus(question)}")
    wait_until(browser, "document.querySelector('ul.search li .context')")
    row = "[row.querySelector('a').getAttribute('href'), row.querySelector('.context').textContent]"
    hits = browser.run(f"[...document.querySelectorAll('ul.search li')].slice(0, 3).map((row) => {row})")
    return [(address, excerpt) for address, excerpt in hits]


@BUILDS
def test_blocks_of_code_have_a_button_that_copies_them(html: Path) -> None:
    for page in ("installation.html", "views/compare.html"):
        assert "copybutton.js" in (html / page).read_text(encoding="utf-8")
    script = (html / "_static" / "copybutton.js").read_text(encoding="utf-8")
    assert "'$ '" in script or '"$ "' in script


@BUILDS
def test_formulas_are_well_formed_and_leave_no_latex(html: Path) -> None:
    count, left = 0, set()
    for path in html.rglob("*.html"):
        for found in _MATH.findall(path.read_text(encoding="utf-8")):
            count += 1
            said = "".join(ElementTree.fromstring(found.replace("&nbsp;", " ")).itertext())
            if "\\" in said:
                left.add(f"{path.name}: {said}")
    assert left == set()
    assert count > 200
