"""Values and parts of a window that a test takes for granted: it fails where they are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

T = TypeVar("T")
Part = TypeVar("Part", bound="QObject")


def known(value: T | None) -> T:
    """The value, which has to be there."""
    assert value is not None
    return value


def part(of: QObject, kind: type[Part], name: str = "") -> Part:
    """The part of this kind, and of this name if one is given."""
    found = of.findChild(kind, name) if name else of.findChild(kind)
    assert isinstance(found, kind), f"no {kind.__name__} {name}"
    return found
