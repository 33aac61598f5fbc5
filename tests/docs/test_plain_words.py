"""Plain English on the pages of the guide, in the short help, in labs and in the texts of the papers' experiments."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from tests.helpers.plain_english import broken
from tests.helpers.printed_code import PAGES, ROOT

from subflow_app.features.labs.core.lab_file import lab_names, load_lab
from subflow_app.features.labs.core.runner import texts_of

HELP = sorted((ROOT / "assets" / "help").glob("*.md"))
EXPLORABLES = sorted((ROOT / "assets" / "explorables").glob("*.toml"))
RECIPES = sorted(path for folder in ("assess", "experiments") for path in (ROOT / "assets" / folder).glob("*.toml"))
# Keys of recipes whose values people read.
_PROSE_KEYS = {"claim", "disagrees", "says", "why", "note", "ruling"}

_FENCE = re.compile(r"^(?P<fence>```+|\$\$)[^\n]*\n.*?^(?P=fence)$", re.MULTILINE | re.DOTALL)
# The rules do not apply to code, comments, quotations and headings.
_OTHER = re.compile(r"<!--.*?-->|`[^`\n]*`|^> .*?$|^#.*?$|\"[^\"\n]*\"|“[^”]*”", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=:)|\n(?=\|)|(?<=[^|]) \| (?=\S)")


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs, items and cells, each on one line."""
    for block in _BLOCK.split(_OTHER.sub("…", _FENCE.sub("", text))):
        yield re.sub(r"^[:|] +", "", " ".join(block.split()))


def _values(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for key, value in part.items():
            if key in _PROSE_KEYS and isinstance(value, str):
                yield value
            else:
                yield from _values(value)
    elif isinstance(part, list):
        for value in part:
            yield from _values(value)


def _broken(text: str) -> list[str]:
    """The rules that a text breaks, each with the surrounding words."""
    return [each for block in _blocks(text) for each in broken(block)]


def test_pages_and_help_follow_the_rules() -> None:
    read = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in (*PAGES, *HELP)}
    found = {name: _broken(text) for name, text in read.items()}
    assert {page: broken for page, broken in found.items() if broken} == {}


def test_labs_follow_the_rules() -> None:
    said = {
        path.name: [str(tree[key]["en"]) for key in ("title", "says")]
        for path in EXPLORABLES
        for tree in (tomllib.loads(path.read_text(encoding="utf-8")),)
    }
    for name in lab_names():
        lab = load_lab(name, language="en")
        said[name] = [*lab.goals, lab.introduction, *(text for step in lab.steps for text in texts_of(step))]
    found = {name: [each for text in texts for each in _broken(text)] for name, texts in said.items()}
    assert {name: broken for name, broken in found.items() if broken} == {}


def test_experiments_follow_the_rules() -> None:
    read = {path.name: tomllib.loads(path.read_text(encoding="utf-8")) for path in RECIPES}
    found = {name: [each for value in _values(recipe) for each in _broken(value)] for name, recipe in read.items()}
    assert {name: broken for name, broken in found.items() if broken} == {}
