"""Tables of text, for the terminal, for files and for the window alike."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of text.

    Attributes:
        title: heading without the unit.
        unit: unit of all its cells; empty for none.
        is_number: whether its cells are numbers, and so right-aligned.
        is_mark: whether its cells begin with a sign that says how something went: ✓, ✗ or –.
    """

    title: str
    unit: str = ""
    is_number: bool = True
    is_mark: bool = False


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of text; every row has one cell per column."""

    title: str
    columns: tuple[TextColumn, ...]
    rows: tuple[tuple[str, ...], ...]
