"""In one sentence "window" is either the congestion window or the program's window, never both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "assets" / "labs").glob("*.md")),
    *sorted((ROOT / "assets" / "help").glob("*.md")),
    ROOT / "README.md",
]

# The program's window.
_PROGRAM = re.compile(  # english: keep
    r"\b(?:main|program's|(?-i:Subflow's)|whole(?= window\b(?! of))) window\b|"
    r"\bwindows? (?:and|or) (?:the )?(?:terminal|command line)\b|"
    r"\b(?:terminal|command line) (?:and|or) (?:the )?window\b|"
    r"\bthe window (?:can|shows|asks|offers|opens|closes|tells|has a (?:panel|menu|dialog)|lets you|does)\b|"
    r"\b(?:panel|menu|dialog|view|tool bar|page)s? of the window\b|"
    r"\b(?:(?<!packets )in|from|beside|close|open|outside of) the window\b(?! of)",
    re.IGNORECASE,
)
# The congestion window of a sender or the window of a receiver.
_OF_SENDER = re.compile(
    r"\b(?:congestion|receive|send|mean|largest|smallest|slow-start|coupled) windows?\b|\bcwnd\b|"
    r"\b(?-i:subflow|connection|flow|sender)'s windows?\b|"
    r"\bwindows? of (?:\d|a sub|its|each|the (?:sub|flow|conn|slow|other|send))|"
    r"\bwindows? (?:grows?|falls?|shrinks?|climbs?|is halved|are halved|has room)\b|"
    r"\b(?:halves|grows|(?<!Subflow )opens|shrinks|raises|lowers|sets|moves) (?:its|the|their) windows?\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_END = re.compile(r"(?<=[.:;?!])\s+|\n\s*\n|\n\s*[-*|]|\n#|\n\[|\"\s*[,\]]")


def _sentences(text: str) -> Iterator[str]:
    for sentence in _END.split(_FENCE.sub("", text)):
        yield " ".join(sentence.split())


def is_of_both(sentence: str) -> bool:
    """True if a sentence has the word in both meanings."""
    program = list(_PROGRAM.finditer(sentence))
    # Words that match the first pattern do not count for the second.
    rest = _PROGRAM.sub(" ", sentence)
    return bool(program) and _OF_SENDER.search(rest) is not None


def test_no_sentence_has_both_meanings() -> None:
    found = [
        f"{page.relative_to(ROOT)}: {sentence}"
        for page in PAGES
        for sentence in _sentences(page.read_text(encoding="utf-8"))
        if "window" in sentence.lower() and is_of_both(sentence)
    ]
    assert found == []
