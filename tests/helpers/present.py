"""Values and parts of a window that a test requires: a missing one fails the test."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

T = TypeVar("T")
Part = TypeVar("Part", bound="QObject")


def present(value: T | None) -> T:
    """Returns the value, which must not be None."""
    assert value is not None
    return value


def child(parent: QObject, kind: type[Part], name: str = "") -> Part:
    """The child with this name, or the first of its kind."""
    found = parent.findChild(kind, name) if name else parent.findChild(kind)
    assert isinstance(found, kind), f"no {kind.__name__} {name}"
    return found
