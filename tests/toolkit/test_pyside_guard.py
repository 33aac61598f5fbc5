"""Guards the pin of PySide6: a wrong pair of versions passes most tests and aborts the program minutes later."""

from __future__ import annotations

import sys

from PySide6.QtCore import QObject


def test_qt_calls_do_not_lose_references_to_none() -> None:
    # PySide6 6.12.0 drops one reference to None with each void call on Python 3.11. 1000 calls lose 1000 references,
    # and the program dies with "none_dealloc" at zero. From Python 3.12 on, None is immortal and its count stays
    # constant.
    obj = QObject()
    before = sys.getrefcount(None)
    for _ in range(1000):
        obj.setObjectName("x")
    assert sys.getrefcount(None) > before - 100
