"""A value that may be missing and is not."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def present(value: T | None) -> T:
    """Fails the test where nothing is."""
    assert value is not None
    return value
