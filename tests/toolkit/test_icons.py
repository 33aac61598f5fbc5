"""Every icon has a glyph and is drawn; an icon that cannot be drawn stays blank, without other effects."""

from __future__ import annotations

import logging

import pytest
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QIcon, QImage, QPainter
from pytestqt.qtbot import QtBot
from tests.helpers.members import for_each
from tests.helpers.raising import raising

from subflow_app.toolkit import icons
from subflow_app.toolkit.icons import GLYPHS, icon

SIZE = QSize(24, 24)


def _inked(picture: QImage) -> int:
    """The number of pixels that are not transparent."""
    return sum(picture.pixelColor(x, y).alpha() > 0 for x in range(picture.width()) for y in range(picture.height()))


@for_each("name", GLYPHS)
def test_every_icon_is_drawn(qtbot: QtBot, name: str, caplog: pytest.LogCaptureFixture) -> None:
    prefix, _, glyph = GLYPHS[name].partition(".")
    assert glyph in icons._font(prefix)[1], f"{GLYPHS[name]} is not a glyph of its font"
    # The picture has 576 pixels.
    assert _inked(icon(name).pixmap(SIZE).toImage()) > 12
    assert caplog.records == []


@pytest.mark.parametrize("glyph", ["ph.chart-line-down", "no-font.chart-line", "ph.", None])
def test_an_icon_without_a_glyph_is_blank(
    qtbot: QtBot, glyph: str | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if glyph is None:
        monkeypatch.delitem(GLYPHS, "trade_offs")
    else:
        monkeypatch.setitem(GLYPHS, "trade_offs", glyph)
    icons._glyph.cache_clear()
    try:
        with caplog.at_level(logging.WARNING):
            broken = icon("trade_offs")
            assert _inked(broken.pixmap(SIZE).toImage()) == 0
            broken.pixmap(SIZE)
        (told,) = caplog.records
        assert "trade_offs" in told.getMessage()
        assert (glyph or "no such icon") in told.getMessage()
    finally:
        icons._glyph.cache_clear()


def test_an_error_in_drawing_leaves_the_painter_as_it_was(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = QImage(SIZE, QImage.Format.Format_ARGB32_Premultiplied)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    before = painter.font().toString(), painter.pen()
    engine = icons._GlyphEngine("run", "#112233")
    with monkeypatch.context() as patched:
        patched.setattr(icons, "QColor", raising(ZeroDivisionError()))
        with pytest.raises(ZeroDivisionError):
            engine.paint(painter, QRect(0, 0, 24, 24), QIcon.Mode.Normal, QIcon.State.Off)
        with pytest.raises(ZeroDivisionError):
            engine.pixmap(SIZE, QIcon.Mode.Normal, QIcon.State.Off)
    assert (painter.font().toString(), painter.pen()) == before
    # Qt warns of a painter that is still saved, or still at work, when it ends.
    assert painter.end()
