"""Text from outside where people read it: what steers a terminal or a line of writing is spelled out."""

from __future__ import annotations

import re

# Controls of terminals, half characters, and what turns the direction of writing. `subflow_store.rows` has the same:
# its package loads NumPy, which a command's start and the kernel's worker must not.
CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_IN_LINES = re.compile(f"[{CONTROLS}\u2028\u2029]")
_IN_A_LINE = re.compile(f"[{CONTROLS}\u2028\u2029\t\n]")


def readable(text: str) -> str:
    r"""The text with ``\u001b`` and the like for controls and changes of direction; lines and tabs stay."""
    return _IN_LINES.sub(_spelling, text)


def readable_line(text: str) -> str:
    r"""The same on one line, with ``\u000a`` for its ends."""
    return _IN_A_LINE.sub(_spelling, text)


def capitalised(text: str) -> str:
    """The text as the start of a sentence: only its first letter changes."""
    return text[:1].upper() + text[1:]


def _spelling(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
