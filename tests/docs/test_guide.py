"""The built guide: a page for everything, no dead links, nothing from the network, formulas that are well-formed."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest
import typer
from tests.helpers.guide_pictures import PICTURES
from tests.helpers.pages import data_of

from subflow_app.cli.commands import app
from subflow_app.core.experiments.recipe_files import recipe_names
from subflow_app.core.exporting.gallery_page import PAGE_NAME
from subflow_app.core.guide import GuidePage, guide_page
from subflow_app.core.plots import PLOTS
from subflow_app.qt.choices import PANELS
from subflow_sim.catalog import controllers, schedulers
from subflow_sim.params import SECTIONS

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "docs"
MOST_PICTURES_B = 4_000_000
BUILDS = pytest.mark.full("builds the guide")
_MATH = re.compile(r"<math.*?</math>", re.DOTALL)


class _Page(HTMLParser):
    """The anchors of a page, where it leads, and what it loads."""

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
    """The guide, built as `dev.py docs` builds it: a warning is an error."""
    folder = tmp_path_factory.mktemp("guide")
    words = [sys.executable, "-m", "sphinx", "-b", "html", "-E", "-W", "--keep-going", "-q"]
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
            for part in ("Source: ", "The formula", "What to expect", "Try it", "<math"):
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
def test_figures_that_run_share_one_core(html: Path) -> None:
    live = html / "_static" / "live"
    texts = [page.read_text(encoding="utf-8") for page in html.rglob("*.html")]
    named = {one for text in texts for one in re.findall(r'data-live="live/([^"]+)"', text)}
    assert len(named) >= 3
    assert {path.name for path in live.iterdir()} == {*named, PAGE_NAME, "shared.js"}
    assert all((live / name).stat().st_size < 20_000 for name in named)


@BUILDS
def test_the_page_of_all_experiments_is_in_it(html: Path) -> None:
    text = (html / "_static" / "live" / PAGE_NAME).read_text(encoding="utf-8")
    assert len(text.encode()) < 5_000_000
    assert '<script src="shared.js">' in text
    assert f'href="../_static/live/{PAGE_NAME}"' in (html / "reproduction" / "index.html").read_text(encoding="utf-8")
    data = data_of(text)
    assert [chapter["id"] for chapter in data["chapters"]] == list(recipe_names())
    # What is no run of a network says so instead.
    empty = {chapter["id"]: chapter["texts"][-1] for chapter in data["chapters"] if not chapter["runs"]}
    assert len(empty) == 6
    assert all("there is no run of a network that shows it" in told for told in empty.values())


@BUILDS
def test_nothing_is_loaded_from_the_network(pages: dict[Path, _Page]) -> None:
    loaded = {one for page in pages.values() for one in page.loaded}
    assert [one for one in loaded if urlsplit(one).netloc] == []


@BUILDS
def test_it_can_be_searched_without_a_server(html: Path) -> None:
    # A script, which a page on disk may load; data would be refused there.
    assert (html / "searchindex.js").read_text(encoding="utf-8").startswith("Search.setIndex(")
    assert 'src="searchindex.js"' in (html / "search.html").read_text(encoding="utf-8")


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


def test_every_picture_is_taken_by_the_script_and_shown() -> None:
    texts = [path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.md")]
    shown = {name for text in texts for name in re.findall(r"!\[[^\]]*\]\(/images/([\w-]+)\.png\)", text)}
    files = {path.stem: path.stat().st_size for path in (SOURCES / "images").iterdir()}
    assert shown == {picture.name for picture in PICTURES} == set(files)
    assert sum(files.values()) < MOST_PICTURES_B
    assert all(alternative for text in texts for alternative in re.findall(r"!\[([^\]]*)\]", text))
