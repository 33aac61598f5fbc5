"""The README: short, with links and pictures that exist, examples that run, and no promise of a release before one."""

from __future__ import annotations

import re

from tests.helpers.printed_code import PAGES, ROOT, blocks

PAGE = ROOT / "README.md"
TEXT = PAGE.read_text(encoding="utf-8")
MOST_BYTES = 8000
LARGEST_FEATURE_PICTURE_B = 150_000
LARGEST_PICTURE_B = 250_000
WIDEST_LINE = 90  # of code: browsers cut longer lines off
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)]+)\)")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)]+)\)")


def _anchors(page: str) -> set[str]:
    """The anchors that GitHub and the guide give to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_its_links_lead_somewhere() -> None:
    links = [link for link in _LINK.findall(TEXT) if "://" not in link]
    dead = []
    for link in links:
        file, _, anchor = link.partition("#")
        target = ROOT / file
        if not target.is_file() or (anchor and anchor not in _anchors(target.read_text(encoding="utf-8"))):
            dead.append(link)
    assert dead == []
    assert len(links) > 15


def test_it_shows_the_window_real_programs_and_six_small_features() -> None:
    (window, programs, *features) = [(words, ROOT / file) for words, file in _PICTURE.findall(TEXT)]
    assert len(features) == 6
    captions = re.findall(r"^\| \*\*.+?\*\* .+ \| \*\*.+?\*\* .+ \|$", TEXT, re.MULTILINE)
    assert 2 * len(captions) == len(features)
    assert all(words for words, _ in (window, programs, *features))
    assert max(window[1].stat().st_size, programs[1].stat().st_size) < LARGEST_PICTURE_B
    sizes = {file.name: file.stat().st_size for _, file in features}
    assert {name: size for name, size in sizes.items() if size > LARGEST_FEATURE_PICTURE_B} == {}


def test_its_examples_are_short_and_all_of_them_are_run() -> None:
    """test_printed_code.py runs every block of its pages that has no mark."""
    assert PAGE in PAGES
    assert len(TEXT.encode()) <= MOST_BYTES
    setting_up, terminal, python = blocks(PAGE)
    assert [block.marks for block in (setting_up, terminal, python)] == [{}, {}, {}]
    commands = [line.partition("#")[0].split() for line in setting_up.text.splitlines()]
    assert commands == [["python3", "dev.py", "run"], ["python3", "dev.py", "test"]]
    assert TEXT.partition("### From source\n")[2].lstrip().startswith("```sh\n")
    lines = terminal.text.splitlines()
    assert terminal.language == "sh"
    assert len(lines) == 5
    assert all(line.startswith("subflow ") for line in lines)
    assert python.language == "python"
    assert len(python.text.splitlines()) <= 10
    wide = [line for block in blocks(PAGE) for line in block.text.splitlines() if len(line) > WIDEST_LINE]
    assert wide == []


def test_it_promises_no_release_before_there_is_one() -> None:
    """Installers come from `dev.py package`: no file with a version, and no page of releases."""
    assert "`python3 dev.py package` makes the installer" in TEXT
    assert re.findall(r"\S*\d+\.\d+\.\d+\S*|\S*/releases\S*|releases page", TEXT) == []
