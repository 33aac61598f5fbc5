"""How wide text is on a page, and where it is broken into lines."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

Face = Literal["text", "bold", "mono"]
FAMILIES: dict[Face, tuple[str, str]] = {
    "text": ("DejaVu Sans", "normal"),
    "bold": ("DejaVu Sans", "bold"),
    "mono": ("DejaVu Sans Mono", "normal"),
}
_MEASURED_PT = 100.0


def width_pt(text: str, face: Face, size_pt: float) -> float:
    """The width of a line, points."""
    return _width(text, face) * size_pt / _MEASURED_PT


def wrapped(text: str, face: Face, size_pt: float, room_pt: float) -> list[str]:
    """The lines of a text in this room; words that are wider are broken. Leading blanks indent every line."""
    indent = text[: len(text) - len(text.lstrip(" "))]
    lines: list[str] = []
    line = indent
    for word in text.split():
        joined = f"{line} {word}" if line.strip() else f"{line}{word}"
        if width_pt(joined, face, size_pt) <= room_pt:
            line = joined
            continue
        if line.strip():
            lines.append(line)
        line = indent + word
        while width_pt(line, face, size_pt) > room_pt and len(line) > len(indent) + 1:
            fitting = _fitting(line, face, size_pt, room_pt, len(indent) + 1)
            lines.append(line[:fitting])
            line = indent + line[fitting:]
    return [*lines, line] if line.strip() or not lines else lines


def _fitting(line: str, face: Face, size_pt: float, room_pt: float, least: int) -> int:
    """How many letters of a line fit: found by halving, as a line may be a page long."""
    low, high = least, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        if width_pt(line[:middle], face, size_pt) <= room_pt:
            low = middle
        else:
            high = middle - 1
    return low


@lru_cache(maxsize=20_000)
def _width(text: str, face: Face) -> float:
    font = _font(face)
    font.set_text(text, 0.0)
    width: float = font.get_width_height()[0] / 64.0
    return width


@lru_cache(maxsize=3)
def _font(face: Face) -> Any:
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font

    family, weight = FAMILIES[face]
    # One of our own: those that matplotlib keeps have the size of whatever it drew last.
    font = FT2Font(findfont(FontProperties(family=family, weight=weight)))
    font.set_size(_MEASURED_PT, 72)
    return font
