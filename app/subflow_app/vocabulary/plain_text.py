"""Display of text from outside: characters that control a terminal or the writing direction are escaped."""

from __future__ import annotations

import difflib
import re

# Terminal controls, surrogates, and characters that change the writing direction. This is a copy of the list in
# `subflow_store.rows`: importing that package loads NumPy, which the start of a command and the kernel's
# worker must avoid.
CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_IN_LINES = re.compile(f"[{CONTROLS}\u2028\u2029]")
_IN_A_LINE = re.compile(f"[{CONTROLS}\u2028\u2029\t\n]")


def readable(text: str) -> str:
    r"""The text with control characters and changes of direction escaped (``\u001b``); line ends and tabs remain."""
    return _IN_LINES.sub(_spelling, text)


def readable_line(text: str) -> str:
    r"""The text on one line, with line ends and tabs escaped, too, as in ``\u000a``."""
    return _IN_A_LINE.sub(_spelling, text)


def capitalised(text: str) -> str:
    """The text with a capital first letter; the rest is unchanged."""
    return text[:1].upper() + text[1:]


def _spelling(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def difference(old: str, new: str, old_name: str, new_name: str) -> str:
    """The lines that differ between two texts as a unified diff; empty for equal texts."""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), old_name, new_name, lineterm="", n=2)
    return "\n".join(lines)
