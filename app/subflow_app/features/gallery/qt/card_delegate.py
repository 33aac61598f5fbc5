"""Draws the rows of the gallery: papers as headings, experiments as cards with figure, badges and progress."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPixmap
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from subflow_app.features.gallery.core.exhibits import Exhibit
from subflow_app.features.gallery.core.reproduction_queue import QueuedState
from subflow_app.features.gallery.qt.list_model import COUNTS_ROLE, EXHIBIT_ROLE, PICTURE_ROLE, QUEUED_ROLE
from subflow_app.features.gallery.qt.texts import badges, state_text
from subflow_app.features.library.core.thumbnails import HEIGHT_PX, WIDTH_PX
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import sized
from subflow_app.vocabulary.language import tr

PICTURE_SIZE = QSize(WIDTH_PX, HEIGHT_PX)
"""Of the figure of a card, logical px."""
_MARGIN, _GAP = 6, 8
_BAR = 4
_PAD = 5  # beside a word in a frame


class CardDelegate(QStyledItemDelegate):
    """Draws with the colours of the theme; text is elided, never cut."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Cards are as high as their figure or their three lines."""
        line = option.fontMetrics.height()
        if index.data(EXHIBIT_ROLE) is None:
            return QSize(160, line + 2 * _MARGIN)
        return QSize(260, max(PICTURE_SIZE.height(), 3 * line + _BAR + _GAP) + 2 * _MARGIN)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draws a row."""
        painter.save()
        tokens = current_tokens()
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        rect = option.rect
        painter.fillRect(rect, QColor(tokens.highlight if is_selected else tokens.base))
        exhibit = index.data(EXHIBIT_ROLE)
        ink = QColor(tokens.highlighted_text if is_selected else tokens.text)
        if isinstance(exhibit, Exhibit):
            self._draw_card(painter, rect, index, exhibit, ink, option.font, is_selected=is_selected)
        else:
            self._draw_paper(painter, rect, index, ink, option.font, is_selected=is_selected)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(tokens.highlighted_text if is_selected else tokens.accent))
            painter.drawRect(rect.adjusted(1, 1, -2, -2))
        painter.restore()

    def _draw_paper(
        self,
        painter: QPainter,
        rect: QRect,
        index: QModelIndex | QPersistentModelIndex,
        ink: QColor,
        font: QFont,
        *,
        is_selected: bool,
    ) -> None:
        bold = sized(font, is_bold=True)
        painter.setFont(bold)
        room = rect.adjusted(_MARGIN, 0, -_MARGIN, 0)
        width = self._draw_badges(painter, room, index, ink, is_selected=is_selected)
        painter.setPen(ink)
        title = QFontMetrics(bold).elidedText(
            str(index.data()), Qt.TextElideMode.ElideRight, room.width() - width - _GAP
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, title)

    def _draw_card(
        self,
        painter: QPainter,
        rect: QRect,
        index: QModelIndex | QPersistentModelIndex,
        exhibit: Exhibit,
        ink: QColor,
        font: QFont,
        *,
        is_selected: bool,
    ) -> None:
        tokens = current_tokens()
        room = rect.adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
        place = QRect(room.topLeft(), PICTURE_SIZE)
        self._draw_picture(
            painter, place, index.data(PICTURE_ROLE), font, tr("no figure yet") if exhibit.is_read else ""
        )
        text = room.adjusted(PICTURE_SIZE.width() + _GAP, 0, 0, 0)
        line = QFontMetrics(font).height()
        bold = sized(font, is_bold=True)
        queued = index.data(QUEUED_ROLE)
        muted = ink if is_selected else QColor(tokens.muted_text)
        figure = "" if exhibit.recipe is None else _figure_text(exhibit.recipe.figure)
        top = QRect(text.left(), text.top(), text.width(), line)
        taken = self._draw_shipped(painter, top, muted, font) if exhibit.is_shipped else 0
        self._line(painter, top.adjusted(0, 0, -taken, 0), exhibit.title, bold, ink)
        second = top.translated(0, line)
        width = self._draw_badges(painter, second, index, ink, is_selected=is_selected)
        self._line(painter, second.adjusted(0, 0, -width - _GAP, 0), figure, font, muted)
        known = queued if isinstance(queued, QueuedState) else None
        is_wrong = bool(exhibit.problem) or (known is not None and known.state == "failed")
        third = second.translated(0, line)
        self._line(
            painter,
            third,
            state_text(exhibit, known),
            font,
            QColor(tokens.error) if is_wrong and not is_selected else muted,
        )
        if known is not None and known.state == "running":
            track = QRectF(text.left(), third.bottom() + 3, text.width(), _BAR)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.border))
            painter.drawRect(track)
            painter.setBrush(QColor(tokens.highlighted_text if is_selected else tokens.accent))
            painter.drawRect(QRectF(track.left(), track.top(), track.width() * known.fraction, track.height()))

    def _draw_shipped(self, painter: QPainter, room: QRect, ink: QColor, font: QFont) -> int:
        """A frame with a word at the right of the room; returns how much of the room it takes."""
        small = sized(font, 0.85)
        painter.setFont(small)
        painter.setPen(ink)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        width = painter.fontMetrics().horizontalAdvance(tr("shipped")) + 2 * _PAD
        frame = QRectF(room.right() - width + 0.5, room.top() + 1.5, width, room.height() - 2)
        painter.drawRoundedRect(frame, 3, 3)
        painter.drawText(frame, int(Qt.AlignmentFlag.AlignCenter), tr("shipped"))
        return width + _GAP

    def _draw_picture(self, painter: QPainter, place: QRect, picture: object, font: QFont, otherwise: str) -> None:
        tokens = current_tokens()
        painter.fillRect(place, QColor(tokens.alternate_base))
        if isinstance(picture, QPixmap) and not picture.isNull():
            painter.drawPixmap(place, picture)
        else:
            small = sized(font, 0.85)
            painter.setFont(small)
            painter.setPen(QColor(tokens.muted_text))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(place.adjusted(4, 2, -4, -2), int(flags), otherwise)
        painter.setPen(QColor(tokens.border))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(place.adjusted(0, 0, -1, -1))

    def _draw_badges(
        self,
        painter: QPainter,
        room: QRect,
        index: QModelIndex | QPersistentModelIndex,
        ink: QColor,
        *,
        is_selected: bool,
    ) -> int:
        """At the right of the room; returns how wide they are."""
        tokens = current_tokens()
        colours = {"✓": tokens.ok, "∵": tokens.muted_text, "✗": tokens.error, "–": tokens.muted_text}
        right = room.right()
        for sign, text in reversed(badges(index.data(COUNTS_ROLE) or {})):
            width = painter.fontMetrics().horizontalAdvance(text)
            painter.setPen(ink if is_selected else QColor(colours[sign]))
            place = QRect(right - width, room.top(), width + 1, room.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
            right -= width + _GAP
        return room.right() - right

    def _line(self, painter: QPainter, room: QRect, text: str, font: QFont, ink: QColor) -> None:
        painter.setFont(font)
        painter.setPen(ink)
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)


def _figure_text(figure: str) -> str:
    return tr("Figure {figure}", figure=figure) if figure[:1].isdecimal() else figure
