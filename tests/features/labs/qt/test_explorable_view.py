"""Formulas of labs: typeset in the text of a step, or interactive with numbers that are dragged, typed and stepped."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QValidator
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from tests.helpers.present import child

from subflow_app.features.labs.core.explorables import Point, load_explorable
from subflow_app.features.labs.qt.explorable_view import DraggedNumber, ExplorableView
from subflow_app.features.labs.qt.step_page import StepText
from subflow_app.toolkit.widgets.formula_view import FormulaView


@pytest.fixture
def view(qtbot: QtBot) -> ExplorableView:
    """A view of the link utilisation as a function of the buffer."""
    made = ExplorableView(load_explorable("utilisation"))
    qtbot.addWidget(made)
    made.resize(420, 600)
    made.show()
    return made


def number(view: ExplorableView, name: str) -> DraggedNumber:
    return view.fields[name][0]


def test_the_formula_follows_keys(view: ExplorableView) -> None:
    buffer = number(view, "buffer")
    assert (buffer.text(), view.text("utilisation")) == ("17 pkt", "87.3 %")
    assert (buffer.accessibleName(), view.plot.accessibleName()) == ("Buffer, pkt", "Utilisation: 87.28 %")
    for key, shown in ((Qt.Key.Key_Up, "18"), (Qt.Key.Key_PageUp, "28"), (Qt.Key.Key_PageDown, "18")):
        QTest.keyClick(buffer, key)
        assert buffer.text() == f"{shown} pkt"
    QTest.keyClick(buffer, Qt.Key.Key_Home)
    assert (buffer.text(), view.text("utilisation")) == ("0 pkt", "75 %")
    QTest.keyClick(buffer, Qt.Key.Key_End)
    assert (buffer.text(), view.text("utilisation")) == ("150 pkt", "100 %")
    assert view.plot.chosen.getData()[0].tolist() == [150]


def test_a_number_is_typed_and_kept_in_its_range(view: ExplorableView) -> None:
    rate = number(view, "rate")
    for said, shown in (("2,5", "2.5"), ("1000", "100"), ("much", "100"), ("0", "1")):
        rate.selectAll()
        QTest.keyClicks(rate, said)
        QTest.keyClick(rate, Qt.Key.Key_Return)
        assert rate.text() == f"{shown} Mbit/s", said
    assert rate.validate("x", 0)[0] is QValidator.State.Intermediate
    assert view.text("pipe") == "8.33 pkt"


def test_a_number_is_dragged(view: ExplorableView) -> None:
    buffer = number(view, "buffer")
    line, start = buffer.lineEdit(), QPoint(4, 4)
    QTest.mousePress(line, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(line, start + QPoint(50, 0))
    QTest.mouseRelease(line, Qt.MouseButton.LeftButton, pos=start + QPoint(50, 0))
    # A fifth of the way from end to end: 30 packets more.
    assert (buffer.text(), view.text("b")) == ("47 pkt", "0.564")
    QTest.mouseClick(line, Qt.MouseButton.LeftButton, pos=start)
    assert buffer.text() == "47 pkt"
    assert line.selectedText() == "47"


def test_a_number_that_stands_twice_is_one(qtbot: QtBot) -> None:
    view = ExplorableView(load_explorable("lia-alpha"))
    qtbot.addWidget(view)
    first, *others = view.fields["RTT_2"]
    assert others
    QTest.keyClick(first, Qt.Key.Key_End)
    assert {field.text() for field in view.fields["RTT_2"]} == {"500 ms"}
    assert view.text("alpha") == "1.65"


def test_runs_with_the_same_other_numbers_are_shown(view: ExplorableView) -> None:
    view.show_points([Point({"buffer": 17, "rate": 2e7}, 0.8), Point({"buffer": 42, "rate": 1e7}, 0.96)])
    # The view begins with the numbers of the last run.
    assert number(view, "buffer").text() == "42 pkt"
    assert view.plot.measured.getData()[0].tolist() == [42]
    assert view.legend.isVisibleTo(view)
    number(view, "rate").setValue(20)
    assert view.plot.measured.getData()[0].tolist() == [17]
    number(view, "rate").setValue(50)
    assert len(view.plot.measured.getData()[0]) == 0
    # Numbers set by the student stay.
    view.show_points([Point({"buffer": 84, "rate": 1e7}, 1.0)])
    assert number(view, "rate").text() == "50 Mbit/s"


def test_formulas_stand_between_the_paragraphs(qtbot: QtBot) -> None:
    shown = StepText()
    qtbot.addWidget(shown)
    text = "The **pipe** holds\n\n    BDP = rate x RTT / size of a packet\n\nof [packets](panel:plots)."
    shown.show_text(text)
    shown.resize(400, 300)
    shown.show()
    before, after = shown.findChildren(QLabel)
    formula = child(shown, FormulaView)
    tops = [part.mapTo(shown, part.rect().topLeft()).y() for part in (before, formula, after)]
    assert tops == sorted(set(tops))
    # A fraction takes the height of two lines.
    assert formula.height() > 1.5 * formula.fontMetrics().height()
    assert formula.accessibleName() == "BDP = rate × RTT / (size of a packet)"
    assert shown.text() == text
    with qtbot.waitSignal(shown.link_clicked) as clicked:
        after.linkActivated.emit("panel:plots")
    assert clicked.args == ["panel:plots"]
    # Another text removes everything of this text.
    shown.show_text("Words alone.")
    qtbot.waitUntil(lambda: [label.text() for label in shown.findChildren(QLabel)] == ["Words alone."])
    assert shown.findChild(FormulaView) is None
