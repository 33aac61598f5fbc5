"""Text from outside where people read it: what is not a character to be read is spelled out."""

from __future__ import annotations


def on_one_line(text: str) -> str:
    r"""The text with ``\u000a`` and the like for all but letters, signs and spaces."""
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
