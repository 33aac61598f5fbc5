"""Text from outside where people read it: what would steer a terminal is spelled out."""

from __future__ import annotations

import re

# Controls, half characters, ends of lines of other systems, and what turns the direction of writing.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def readable(text: str) -> str:
    r"""The text with ``\u001b`` and the like for what is no character to be read; lines and tabs stay."""
    return _STEERING.sub(lambda found: _spelled(found[0]), text)


def on_one_line(text: str) -> str:
    r"""The text with ``\u000a`` and the like for all but letters, signs and spaces."""
    return "".join(char if char.isprintable() else _spelled(char) for char in text)


def _spelled(char: str) -> str:
    return f"\\u{ord(char):04x}"
