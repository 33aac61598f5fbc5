"""Prepares external text for display: escapes control characters, and suggests known words for misspelt ones."""

from __future__ import annotations

from collections.abc import Iterable

_MOST_COMPARED = 1000  # each comparison takes some microseconds
_MOST_LISTED = 30


def on_one_line(text: str) -> str:
    r"""The text with non-printable characters escaped as ``\u000a``."""
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def closest(word: str, known: Iterable[str], most: int = 1, cutoff: float = 0.6) -> str:
    """A question such as 'did you mean "delay" or "rate"?' with similar known words, each once.

    Empty if no word is similar, or if too many words are known for a comparison.
    """
    import difflib

    words = tuple(dict.fromkeys(known))
    if len(words) > _MOST_COMPARED:
        return ""
    close = difflib.get_close_matches(word.lower(), words, n=most, cutoff=cutoff)
    return f"did you mean {either(close)}?" if close else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question such as ', did you mean "delay"?' with the most similar known word; otherwise ""."""
    meant = closest(word, known)
    return f", {meant}" if meant else ""


def either(names: Iterable[str]) -> str:
    """An enumeration of names, each once: '"a", "b" or "c"'; long lists are shortened."""
    every = list(dict.fromkeys(names))
    if not every:
        return "nothing"
    listed = every if len(every) <= _MOST_LISTED else every[: _MOST_LISTED - 1]
    quoted = [f'"{name}"' for name in listed]
    if len(listed) < len(every):
        quoted.append(f"{len(every) - len(listed)} others")
    return " or ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))
