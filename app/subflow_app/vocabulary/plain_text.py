"""Text from outside where people read it: what steers a terminal or a line of writing is spelled out."""

from __future__ import annotations

import re

from subflow_store.texts import CONTROLS

_IN_LINES = re.compile(f"[{CONTROLS}\u2028\u2029]")
_IN_A_LINE = re.compile(f"[{CONTROLS}\u2028\u2029\t\n]")


def readable(text: str) -> str:
    r"""The text with ``\u001b`` and the like for controls and changes of direction; lines and tabs stay."""
    return _IN_LINES.sub(_spelling, text)


def readable_line(text: str) -> str:
    r"""The same on one line, with ``\u000a`` for its ends."""
    return _IN_A_LINE.sub(_spelling, text)


def _spelling(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
