"""The time field with arrows."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from subflow_app.features.editor.qt.scenario_fields import TimeBox


@pytest.fixture
def box(qtbot: QtBot) -> TimeBox:
    made = TimeBox()
    qtbot.addWidget(made)
    made.setRange(1e-6, 60.0)
    made.setValue(0.1)
    made.show()
    return made


@pytest.mark.parametrize(
    ("typed", "value", "shown"),
    [
        ("30", 0.03, "30 ms"),  # replaces 100 ms
        ("2000", 2.0, "2 s"),
        ("0.5s", 0.5, "500 ms"),
        ("250us", 250e-6, "250 µs"),
        ("soon", 0.1, "100 ms"),
        ("3min", 0.1, "100 ms"),  # above the maximum
    ],
)
def test_it_takes_any_unit_and_shows_the_shortest(box: TimeBox, typed: str, value: float, shown: str) -> None:
    assert box.text() == "100 ms"

    box.selectAll()
    QTest.keyClicks(box, typed)
    QTest.keyClick(box, Qt.Key.Key_Return)

    assert box.value() == pytest.approx(value)
    assert box.text() == shown


@pytest.mark.parametrize("value", [0.1, 0.123456, 59.9])
def test_what_it_shows_has_room(box: TimeBox, value: float) -> None:
    box.setValue(value)
    box.resize(box.sizeHint())

    line = box.lineEdit()
    assert line.fontMetrics().horizontalAdvance(box.text()) + 4 <= line.width()


def test_arrows_go_on_by_a_tenth(box: TimeBox) -> None:
    box.stepUp()

    assert box.text() == "110 ms"
