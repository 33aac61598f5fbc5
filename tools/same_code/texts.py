"""Compare C++ and JavaScript files by tokens, and other texts by lines."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import zip_longest

from tools.same_code.names import Names

_CPP = re.compile(
    r"""
    (?P<include>^[ \t]*\#[ \t]*include[ \t]*(?:<[^>\n]*>|"[^"\n]*"))
    | (?P<comment>//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/)
    | (?P<raw>\b(?:u8|u|U|L)?R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)")
    | (?P<text>"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)
    | (?P<number>\.?\d(?:[eEpP][+-]|[\w.]|'\w)*)
    | (?P<word>\w+)
    | (?P<line>\\\n)
    | (?P<sign>\S)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_LONGEST = 70


def cpp_tokens(text: str) -> list[tuple[str, int, str]]:
    """Tokens of C++ or JavaScript with comments and without includes: kind, line and text of each."""
    found = []
    line, end = 1, 0
    for match in _CPP.finditer(text):
        line += text.count("\n", end, match.start())
        end = match.start()
        kind = match.lastgroup if match.lastgroup != "mark" else "raw"
        if kind not in ("include", "line"):
            found.append((kind or "sign", line, match.group()))
    return found


def compare_cpp(old: tuple[str, str], new: tuple[str, str], names: Names) -> tuple[list[str], bool]:
    """Compares two files, given by path and text; returns the first difference, and True if names had to be mapped."""
    has_mapped = False
    for was, now in zip_longest(cpp_tokens(old[1]), cpp_tokens(new[1])):
        if was is not None and now is not None and (was[0], was[2]) == (now[0], now[2]):
            continue
        is_text = was is not None and now is not None and was[0] == now[0] and was[0] in ("comment", "raw", "text")
        if is_text and names.are_same_texts(was[2], now[2], old[0], new[0]):
            has_mapped = True
            continue
        lines = f"line {was[1] if was else 'end'}, now {now[1] if now else 'end'}"
        return [f"{lines}: {_shown(was)} became {_shown(now)}"], has_mapped
    return [], has_mapped


def _shown(token: tuple[str, int, str] | None) -> str:
    return shown("nothing" if token is None else " ".join(token[2].split()))


def shown(text: str) -> str:
    """A piece of code for a report, cut if it is long."""
    return f"`{text}`" if len(text) <= _LONGEST else f"`{text[:_LONGEST]}…`"


def compare_lines(old: tuple[str, str], new: tuple[str, str], names: Names) -> tuple[list[str], bool]:
    """Compares two texts, given by path and text; returns how many lines differ, and True if names were mapped."""
    if names.are_same_texts(old[1], new[1], old[0], new[0]):
        return [], old[1] != new[1]
    was, now = old[1].splitlines(), new[1].splitlines()
    changed, first, has_mapped = 0, "", False
    for kind, a, b, c, d in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        pairs = list(zip_longest(was[a:b], now[c:d]))
        for number, (x, y) in enumerate(pairs):
            if x is not None and y is not None and names.are_same_texts(x, y, old[0], new[0]):
                has_mapped = True
                continue
            changed += 1
            first = first or f"line {a + number + 1}, now {c + number + 1}"
    if not changed:
        return ([], True) if has_mapped else (["other ends of lines"], False)
    return [f"{changed} line{'s' if changed > 1 else ''} changed, the first: {first}"], has_mapped
