"""Drawn formulas: fractions take room above and below, long formulas continue below, and text stays text."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from subflow_app.toolkit.widgets.formula_view import FormulaView, Span

LONG = "cwnd + acked * min(alpha / cwnd_total, 1 / cwnd), alpha = cwnd_total * best / total_rate^2, best = 1"


def _shown(qtbot: QtBot, text: str, width: int, ratio: float = 1.0) -> tuple[FormulaView, QImage]:
    view = FormulaView("formula")
    qtbot.addWidget(view)
    view.set_lines([(Span(text, "#ff0000", is_formula=True),)])
    view.resize(width, view.heightForWidth(width))
    image = QImage(view.size() * ratio, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(QColor("white"))
    painter = QPainter(image)
    view.render(painter, QPoint(), renderFlags=QWidget.RenderFlag(0))
    painter.end()
    return view, image


def _is_inked(image: QImage, x: int, y: int) -> bool:
    return QColor(image.pixel(x, y)).green() < 128


def test_a_fraction_has_a_line_with_both_parts_beside_it(qtbot: QtBot) -> None:
    view, image = _shown(qtbot, "acked / cwnd", 200, ratio=2.0)
    assert view.height() > 1.5 * view.fontMetrics().height()
    rows = [sum(_is_inked(image, x, y) for x in range(image.width())) for y in range(image.height())]
    line = rows.index(max(rows))
    # The line is as wide as "cwnd" and drawn with device pixels; letters are above and below.
    assert max(rows) >= 2 * view.fontMetrics().horizontalAdvance("cwnd") - 4
    assert any(rows[: line - 2])
    assert any(rows[line + 3 :])
    # In the requested colour, not that of the text.
    assert all(QColor(image.pixel(x, line)).red() > 200 for x in range(image.width()))


def test_long_ones_go_on_below_and_nothing_lies_outside(qtbot: QtBot) -> None:
    wide, _ = _shown(qtbot, LONG, 1200)
    narrow, image = _shown(qtbot, LONG, 220)
    assert narrow.height() > 1.8 * wide.height()
    assert not any(_is_inked(image, image.width() - 1, y) for y in range(image.height()))


def test_what_it_says_can_be_read_out_and_copied(qtbot: QtBot) -> None:
    view, _ = _shown(qtbot, LONG, 400)
    assert view.text() == LONG
    assert view.accessibleName() == LONG
