"""Names, notes and tags as they are stored: they may come from other people's files, and are words and nothing else."""

from __future__ import annotations

import re

# Controls of terminals, half characters, and what turns the direction of writing over the rest of a line.
CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_IN_LINES = re.compile(rf"[{CONTROLS}]")
_IN_A_LINE = re.compile(rf"[{CONTROLS}\t\n\u2028\u2029]+")


def plain_line(text: str) -> str:
    """The text on one line, with a space for what is not a character to be read."""
    return _IN_A_LINE.sub(" ", text).strip()


def plain_lines(text: str) -> str:
    """The text with its lines and tabs, without what is not a character to be read."""
    return _IN_LINES.sub("", text.replace("\r\n", "\n"))
