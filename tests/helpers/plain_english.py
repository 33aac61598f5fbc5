"""The rules of plain English that a machine can check, for pages, help, messages and the texts of recipes."""

from __future__ import annotations

import re
from collections.abc import Iterator

RULES = {
    "only people tell": re.compile(r"\b(?:tells|told|telling|says|(?<!You )said|can(?:not)? tell)\b", re.IGNORECASE),
    "name the thing": re.compile(
        r"(?:^|[.:;!] +|^[-*|] +)(?:What(?! if\b|:)|Who|Whose|Whether|Which)\b(?!(?:[^.]|\.\d)*\?)", re.MULTILINE
    ),
    "a verb of action": re.compile(
        r"\b(?:(?:is|are|was|were) (?:there|none)|has it|(?:goes|(?<!come and )go|went|going) on|stands(?! for\b)|"
        r"[Tt]here (?:is|are|was|were|may be|will be)|(?:stays?|leaves?) (?:as it (?:is|was)|there))\b"
    ),
}


def broken(text: str) -> Iterator[str]:
    """The rules broken by a text, each with the words around the place."""
    for rule, pattern in RULES.items():
        for found in pattern.finditer(text):
            yield f"{rule}: …{text[max(0, found.start() - 40) : found.end() + 40]}…"
