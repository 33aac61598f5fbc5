"""Habits of prose that readers stumble over, and the sentences that show them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tools.english.prose import Prose

_HAS = r"(?:is|are|was|were|be|been|has|have|had)"
HABITS: Mapping[str, tuple[str, re.Pattern[str]]] = {
    name: (advice, re.compile(pattern))
    for name, advice, pattern in (
        (
            "question word",
            "name the thing instead of What, Who, Whether or Which",
            r"^[\"“(*]*(?:What|Who|Whoever|Whether|Which)\b(?!.*\?)|[:;] (?:What|Who|Whether|Which)\b(?!.*\?)",
        ),
        (
            "entry",
            "name the thing instead of what, who or which",
            r"^[*-]* ?(?:[\w.*, ]{1,40}: )?(?:what|who|whoever|which)\b(?!:|.*\?)",
        ),
        # english: keep
        ("there is", "a verb of action", r"\b[Tt]here (?:is|are|was|were|be)\b|\b(?:is|are|was|were) there\b"),
        # english: keep
        ("tell", "report, show, distinguish: only people tell", r"\b(?:[Tt]ell|tells|told|[Tt]elling)\b"),
        (
            "say",
            "report, print, name: only people say",
            r"\b(?:says|[Ss]aid|saying)\b|\b(?:that|which|they|files|names|words|texts|pages) say\b",
        ),
        (
            "stand",
            "is, lies, appears",
            r"\b(?:stands|stood)\b(?! for\b)|\b(?:that|which|they|to|may|can) stand\b(?! for\b)",
        ),
        # english: keep
        ("go on", "continue", r"\b(?:go|goes|going|went|gone) on\b(?! to\b)"),
        ("none", "name the missing thing", rf"\b{_HAS} (?:none|nothing)\b(?! (?:but|of the)\b)|\bnone is\b"),
        # english: keep
        ("has it", "name the thing and a verb of action", r"\b(?:has|have|had) (?:it|them)\b(?! (?:to|been)\b)"),
        (
            "the one",
            "repeat the noun",
            r"\bthat one(?=[.,;:)]|$)|\bthe ones? (?:of|before|after|it)\b"
            r"|\bthe (?:former|latter)(?=[.,;:)]| (?:is|are|was|has|does)\b)",
        ),
        ("somebody", "name the person or the caller", r"\b(?:[Ww]hoever|[Nn]obody|[Ss]omebody|whom)\b"),
        ("mind", "a verb of action: programs know and want nothing", r"\b(?:knows|knew|wants|thinks|believes|minds)\b"),
    )
}
# Pages also describe people, and labels of a window may end in a clause.
_NOT_IN = {"page": ("somebody", "mind", "entry"), "message": ("entry",)}
# Code, placeholders, addresses and quotations are left out.
_CODE = re.compile(
    r"(?m:^ *[\w.]+ = .*$)|\b\w+\.\w+\([^()\n]*\)|<!--.*?-->|``[^`]*``|`[^`]*`"
    r"|\[\[[^\]]*\]\]|\{[^{}]*\}|https?://\S+|(?<![\w\"])\"[A-Z][^\"]{20,}\"",
    re.S,
)
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*|#>+]|\d+\.) ?)|\n(?=\s+\w[\w.*, ]*: )|(?<=[:])\n(?=    )|(?<=s:)\n(?=\s)")
_NAMED = re.compile(r"\*{0,2}\w+(?:, \*{0,2}\w+)*: ")
_SENTENCE = re.compile(r"(?<=[.!?])[\"”’)*]*\s+(?=[\"“(*]*[A-Z`‹])")


class Hit(NamedTuple):
    """A habit in a sentence.

    Attributes:
        line: line of the file on which the sentence begins.
        kind: kind of the prose, as in `Prose`.
        habit: key of `HABITS`.
        sentence: the sentence in one line, with code replaced by ‹›.
    """

    line: int
    kind: str
    habit: str
    sentence: str


def sentences(piece: Prose) -> Iterator[tuple[int, str]]:
    """Sentences of a piece of prose with the line on which each begins; code is replaced by ‹›."""
    text = _CODE.sub(lambda found: "‹" + "\n" * found[0].count("\n") + "›", piece.text)
    at = 0
    for block in _BLOCK.split(text):
        for sentence in _SENTENCE.split(block):
            place = text.find(sentence, at)
            at = place + len(sentence)
            words = " ".join(sentence.split())
            if words:
                blank = len(sentence) - len(sentence.lstrip())
                yield piece.line + text.count("\n", 0, place + blank), words


def hits(piece: Prose) -> Iterator[Hit]:
    """Habits in a piece of prose; at most one of each kind a sentence."""
    for line, sentence in sentences(piece):
        named = _NAMED.match(sentence) if piece.kind == "docstring" else None
        for habit, (_advice, pattern) in HABITS.items():
            start = named.end() if named is not None and habit != "entry" else 0
            if habit not in _NOT_IN.get(piece.kind, ()) and pattern.search(sentence[start:]):
                yield Hit(line, piece.kind, habit, sentence)
