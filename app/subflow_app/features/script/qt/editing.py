"""What keys do to the lines of a script: indent, comment, find the other bracket. Of text alone, without a widget."""

from __future__ import annotations

import re
from collections.abc import Sequence

INDENT = 4
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_BACK = {close: open_ for open_, close in _PAIRS.items()}
_ENDS_BLOCK = re.compile(r"\s*(return|pass)\b")
_STRING_OR_COMMENT = re.compile(r'"""(?:.|\n)*?(?:"""|\Z)|"[^"\n]*"?|\'[^\'\n]*\'?|#[^\n]*')


def indent_of(line: str) -> int:
    """The spaces that a line begins with."""
    return len(line) - len(line.lstrip(" "))


def indent_after(line: str) -> int:
    """The spaces that the line after this one begins with; what is behind the cursor is not part of it."""
    code = _STRING_OR_COMMENT.sub("", line).rstrip()
    indent = indent_of(line)
    if code.endswith(":"):
        return indent + INDENT
    return max(0, indent - INDENT) if _ENDS_BLOCK.match(line) else indent


def indented(lines: Sequence[str]) -> list[str]:
    """The lines a step to the right; empty ones stay."""
    return [" " * (INDENT - indent_of(line) % INDENT) + line if line.strip() else line for line in lines]


def dedented(lines: Sequence[str]) -> list[str]:
    """The lines a step to the left, as far as they can go."""
    return [line[(indent_of(line) - 1) % INDENT + 1 :] if indent_of(line) else line for line in lines]


def commented(lines: Sequence[str]) -> list[str]:
    """The lines as comments, or as code again where all of them are comments."""
    written = [line for line in lines if line.strip()]
    if written and all(line.lstrip().startswith("#") for line in written):
        return [re.sub(r"^(\s*)# ?", r"\1", line) for line in lines]
    least = min(map(indent_of, written), default=0)
    return [f"{line[:least]}# {line[least:]}" if line.strip() else line for line in lines]


def other_bracket(text: str, position: int) -> int | None:
    """Where the bracket is that belongs to the one at a position; None: there is none, or it is in a string."""
    if position >= len(text) or text[position] not in (*_PAIRS, *_BACK):
        return None
    # Of strings and comments nothing counts; their places stay.
    code = _STRING_OR_COMMENT.sub(lambda match: " " * len(match[0]), text)
    own = code[position]
    if own == " ":
        return None
    other, step = (_PAIRS[own], 1) if own in _PAIRS else (_BACK[own], -1)
    depth = 0
    for place in range(position, len(code) if step > 0 else -1, step):
        depth += (code[place] == own) - (code[place] == other)
        if depth == 0:
            return place
    return None
