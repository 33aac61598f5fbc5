"""Fuzzy search: the letters that are typed occur in this order, best at the beginnings of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

# Points for a letter: in sequence with the one before, at the beginning of a word, anywhere else.
_IN_SEQUENCE, _AT_WORD, _ELSEWHERE = 8, 7, 1
# What a match in the second text of an entry is worth beside one in its first, and so on.
_LATER_TEXT = 0.5


def rank(query: str, entries: Iterable[T], texts: Callable[[T], Sequence[str]]) -> list[T]:
    """The entries that match, best first; those that match equally well keep their order.

    Args:
        query: words; each must match in some text of an entry.
        entries: what is searched.
        texts: of an entry, the most telling first.
    """
    words = query.lower().split()
    scored = []
    for entry in entries:
        lowered = [text.lower() for text in texts(entry)]
        score = 0.0
        for word in words:
            best = max(_score(word, text, is_title=n == 0) * _LATER_TEXT**n for n, text in enumerate(lowered))
            if best == 0:
                break
            score += best
        else:
            # Of two that match alike the shorter one is closer to what was typed.
            scored.append((score - 0.01 * len(lowered[0]) * bool(words), entry))
    return [entry for _score, entry in sorted(scored, key=lambda pair: -pair[0])]


def _score(word: str, text: str, *, is_title: bool) -> float:
    """How well a word matches, per letter; 0 if it does not."""
    whole = text.find(word)
    if whole >= 0:
        begins = whole == 0 or not text[whole - 1].isalnum()
        # A word as it stands is better than any letters scattered over others, best of all where a title begins.
        return _IN_SEQUENCE * (2.2 if is_title and whole == 0 else 2.0 if begins else 1.4) + len(word)
    if not is_title:
        # Long texts hold most letters in any order.
        return 0.0
    points, at, before = 0, 0, -2
    for letter in word:
        found = text.find(letter, at)
        beginning = _next_beginning(text, letter, at)
        if found < 0:
            return 0.0
        if found != before + 1 and beginning >= 0:
            found = beginning
        if found == before + 1:
            points += _IN_SEQUENCE
        else:
            points += _AT_WORD if beginning == found else _ELSEWHERE
        before, at = found, found + 1
    mean = points / len(word)
    # Letters that are scattered without any order match nearly everything, and help nobody.
    return mean if mean >= 0.5 * _AT_WORD else 0.0


def _next_beginning(text: str, letter: str, at: int) -> int:
    """Where the next word begins with this letter; -1 if none does."""
    while (at := text.find(letter, at)) >= 0:
        if at == 0 or not text[at - 1].isalnum():
            return at
        at += 1
    return -1
