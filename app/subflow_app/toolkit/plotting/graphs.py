"""The library pyqtgraph as `pg`, without its copies of Qt's modules.

pyqtgraph copies all names of QtCore, QtGui and QtWidgets to modules of its own. PySide6 creates a class when its name
is first read, so that the copies create 1 400 classes, of which plots use few. Here pyqtgraph finds no names to copy,
and its modules look up a name in Qt's module when the name is read, which shortens each start.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from PySide6 import QtCore, QtGui, QtWidgets

__all__ = ["pg"]


class _Names(ModuleType):
    """A module with the names of another module, each looked up when it is first read."""

    def __init__(self, name: str, source: ModuleType) -> None:
        super().__init__(name)
        self._source = source

    def __getattr__(self, name: str) -> object:
        value = getattr(self._source, name)
        setattr(self, name, value)
        return value


@contextmanager
def _without_copies() -> Iterator[None]:
    listings = {source: source.__dir__ for source in (QtCore, QtGui, QtWidgets)}
    for source in listings:
        name = f"pyqtgraph.Qt.{source.__name__.rpartition('.')[2]}"
        sys.modules.setdefault(name, _Names(name, source))
        source.__dir__ = list  # type: ignore[method-assign] # PEP 562: dir(source) lists nothing
    try:
        yield
    finally:
        for source, listing in listings.items():
            source.__dir__ = listing  # type: ignore[method-assign]


with _without_copies():
    import pyqtgraph as pg
