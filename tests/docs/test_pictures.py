"""Each picture of README and guide has a program that makes it, a page that shows it, and an alternative text."""

from __future__ import annotations

import re
from pathlib import Path

from tests.helpers import pictures
from tests.helpers.printed_code import PAGES, ROOT

MOST_PICTURES_B = 4_000_000  # of the guide's window
FOLDERS = ("docs", "assets/screenshots")
_SHOWN = re.compile(r"!\[(?P<words>[^\]]*)\]\((?P<file>[^)\s]+)\)|<img (?P<tag>[^>]*)>")
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')


def _files() -> set[str]:
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in pictures.SUFFIXES)
    return {path.relative_to(ROOT).as_posix() for path in found}


def _shown() -> dict[str, list[str]]:
    """The alternative texts of each picture, by its file."""
    shown: dict[str, list[str]] = {}
    for page in PAGES:
        for found in _SHOWN.finditer(page.read_text(encoding="utf-8")):
            attributes = dict(_ATTRIBUTE.findall(found["tag"] or ""))
            file, words = found["file"] or attributes.get("src", ""), found["words"] or attributes.get("alt", "")
            if "://" in file:
                continue
            # A page of the guide begins at its folder with "/".
            path = ROOT / "docs" / file[1:] if file.startswith("/") else page.parent / file
            shown.setdefault(Path(path).resolve().relative_to(ROOT.resolve()).as_posix(), []).append(words)
    return shown


def test_each_picture_has_a_maker() -> None:
    made = {file for place in pictures.MAKERS for file in pictures.made_in(place)}
    assert sorted(_files() - made) == []


def test_each_picture_of_the_window_is_there_and_shown() -> None:
    made = pictures.made_in("docs/images")
    assert sorted(made - _files()) == []
    assert sorted(made - _shown().keys()) == []
    assert sum((ROOT / file).stat().st_size for file in made) < MOST_PICTURES_B


def test_each_picture_that_a_page_shows_is_there_and_has_words() -> None:
    shown = _shown()
    assert len(shown) > 30
    assert sorted(file for file in shown if not (ROOT / file).is_file()) == []
    assert sorted(file for file, words in shown.items() if not all(words)) == []
