"""The text of a step: what is indented is typeset between paragraphs, and stays text for who has it read out."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from tests.helpers.presence import part

from subflow_app.features.labs.qt.step_page import StepText
from subflow_app.toolkit.widgets.formula_view import FormulaView


def test_formulas_stand_between_the_paragraphs(qtbot: QtBot) -> None:
    shown = StepText()
    qtbot.addWidget(shown)
    text = "The **pipe** holds\n\n    BDP = rate x RTT / size of a packet\n\nof [packets](panel:plots)."
    shown.show_text(text)
    shown.resize(400, 300)
    shown.show()
    before, after = shown.findChildren(QLabel)
    formula = part(shown, FormulaView)
    tops = [part.mapTo(shown, part.rect().topLeft()).y() for part in (before, formula, after)]
    assert tops == sorted(set(tops))
    # A fraction takes the room of two lines.
    assert formula.height() > 1.5 * formula.fontMetrics().height()
    assert formula.accessibleName() == "BDP = rate × RTT / (size of a packet)"
    assert shown.text() == text
    with qtbot.waitSignal(shown.link_clicked) as clicked:
        after.linkActivated.emit("panel:plots")
    assert clicked.args == ["panel:plots"]
    # Another text leaves nothing of this one.
    shown.show_text("Words alone.")
    qtbot.waitUntil(lambda: [label.text() for label in shown.findChildren(QLabel)] == ["Words alone."])
    assert shown.findChild(FormulaView) is None
