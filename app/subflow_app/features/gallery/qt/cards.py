"""Cards of the gallery. Under the heading of each paper, cards show its experiments, their figures and their states.

The rows form a tree. Verdicts, states and times also appear as text or signs, so that no information depends on colour.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPixmap
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from subflow_app.features.gallery.core.exhibits import Exhibit, paper_order, summed_counts
from subflow_app.features.gallery.core.recipe import SOURCES, AgentColumn
from subflow_app.features.gallery.core.report_tables import mark, settled_mark, shown_text
from subflow_app.features.gallery.core.reproduction import QueuedState, expected_s
from subflow_app.features.gallery.core.results import SETTLEMENTS, Settled, Settlement, Verdict, VerdictKind
from subflow_app.features.library.core.shipped import HEIGHT_PX, WIDTH_PX
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import as_written, sized
from subflow_app.toolkit.widgets.tables import Index, TreeModel
from subflow_app.vocabulary.language import tr, translatable, trn

VERDICTS: Mapping[VerdictKind, str] = {
    VerdictKind.INSIDE: translatable("inside band"),
    VerdictKind.OUTSIDE: translatable("outside band"),
    VerdictKind.HOLDS: translatable("claim holds"),
    VerdictKind.FAILS: translatable("claim fails"),
    VerdictKind.NOT_MEASURED: translatable("not measured"),
}


def verdict_text(kind: VerdictKind) -> str:
    """Text of a verdict with its sign, for people who cannot distinguish the colours: ``✓ inside band``."""
    return f"{mark(kind)} {tr(VERDICTS[kind])}"


def cause_text(verdict: Verdict) -> str:
    """Cause of an unmet check, e.g. ``reading, shown``; empty if the recipe names no cause."""
    explanation = verdict.explanation
    if explanation is None:
        return ""
    return f"{tr(explanation.cause.kind.value)}, {tr(shown_text(explanation))}"


def badges(counts: Mapping[Settled, int]) -> list[tuple[str, str]]:
    """The sign of each settlement that occurs, and the text of its badge, which adds the count to the sign."""
    found: dict[str, int] = {}
    for way in SETTLEMENTS:
        found[settled_mark(way)] = found.get(settled_mark(way), 0) + counts.get(way, 0)
    return [(sign, f"{sign} {fmt.count(count)}") for sign, count in found.items() if count]


def counts_text(counts: Mapping[Settled, int]) -> str:
    """Counts as text, e.g. ``5 of 9 checks met, 3 noise, 1 not explained``; empty if all counts are 0."""
    total = sum(counts.values())
    if not total:
        return ""
    met = tr("{met} of {total} checks met", met=fmt.count(counts.get(Settlement.MET, 0)), total=fmt.count(total))
    others = [f"{fmt.count(counts[way])} {tr(way.value)}" for way in SETTLEMENTS[1:] if counts.get(way)]
    return ", ".join((met, *others))


def takes_text(exhibit: Exhibit) -> str:
    """Expected durations of quick and full runs; empty if both are unknown."""
    if exhibit.recipe is None:
        return ""
    quick, full = (expected_s(exhibit.recipe, is_quick=is_quick) for is_quick in (True, False))
    parts = []
    if math.isfinite(quick):
        parts.append(tr("quick {time}", time=fmt.duration(quick)))
    if math.isfinite(full):
        parts.append(tr("full {time}", time=fmt.duration(full)))
    return tr("Takes about: {times}", times=", ".join(parts)) if parts else ""


def agents_text(exhibit: Exhibit) -> str:
    """The agents of an experiment unless they are as printed; otherwise empty."""
    recipe = exhibit.recipe
    return "" if recipe is None or recipe.column is AgentColumn.PRINTED else tr(recipe.column.text)


def state_text(exhibit: Exhibit, queued: QueuedState | None) -> str:
    """State of an experiment on one line."""
    if exhibit.problem:
        return exhibit.problem.splitlines()[0]
    if queued is not None and not queued.is_over:
        length = tr("quick") if queued.is_quick else tr("full")
        if queued.state == "running":
            presence = tr("{length} run: {percent} %", length=length, percent=round(100 * queued.fraction))
            if math.isfinite(queued.eta_s) and queued.eta_s > 0:
                return tr("{done}, {time} left", done=presence, time=fmt.duration(queued.eta_s))
            return presence
        return tr("{length} run: {state}", length=length, state=tr(queued.state))
    if queued is not None and queued.state == "failed":
        return tr("failed: {reason}", reason=queued.problem.splitlines()[0] if queued.problem else "–")
    results = exhibit.results
    if results is None:
        return tr("not run yet") if exhibit.is_read else ""
    presence = _there_text(exhibit, tr("quick") if results.is_quick else tr("full"))
    return tr("{state}, shipped with Subflow", state=presence) if exhibit.is_shipped else presence


def _there_text(exhibit: Exhibit, length: str) -> str:
    """Text with the length of the run and, if some runs are missing, how many exist."""
    if exhibit.is_begun:
        return tr(
            "{length} run: {done} of {total} runs exist",
            length=length,
            done=fmt.count(exhibit.finished),
            total=fmt.count(exhibit.wanted),
        )
    return tr("{length} run", length=length)


def spoken(exhibit: Exhibit, queued: QueuedState | None) -> str:
    """Description of an experiment for screen readers."""
    figure = "" if exhibit.recipe is None else tr("figure {figure}", figure=exhibit.recipe.figure)
    parts = [exhibit.title, figure, agents_text(exhibit), state_text(exhibit, queued), counts_text(exhibit.counts)]
    return ". ".join(part for part in parts if part)


EXHIBIT_ROLE = Qt.ItemDataRole.UserRole + 1
"""The experiment of a row; None for a paper."""
QUEUED_ROLE = Qt.ItemDataRole.UserRole + 2
"""State in the queue; None if the experiment is not in the queue."""
PICTURE_ROLE = Qt.ItemDataRole.UserRole + 3
"""Thumbnail of the figure; None before it has been drawn."""
COUNTS_ROLE = Qt.ItemDataRole.UserRole + 4
"""Number of checks by settlement, of an experiment or a paper."""


class ExperimentModel(TreeModel):
    """Tree of papers with their experiments; a change of an experiment repaints only its row and its paper."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Create an empty model."""
        super().__init__(parent)
        self._papers: list[str] = []
        self._members: list[list[Exhibit]] = []
        self._queued: Mapping[str, QueuedState] = {}
        self._pictures: dict[str, QPixmap] = {}

    # ---- content ----

    def show_exhibits(self, exhibits: Sequence[Exhibit]) -> None:
        """Replace all experiments."""
        self.beginResetModel()
        ordered = paper_order(exhibits)
        self._papers, self._members = [group.paper for group in ordered], list(ordered.values())
        self.endResetModel()

    def replace(self, exhibit: Exhibit) -> None:
        """Replace an experiment with its new state."""
        index = self.index_of(exhibit.name)
        if index.isValid():
            self._members[index.parent().row()][index.row()] = exhibit
            self.dataChanged.emit(index, index)
            self.dataChanged.emit(index.parent(), index.parent())

    def show_queue(self, states: Mapping[str, QueuedState]) -> None:
        """Show the states of queued experiments."""
        before, self._queued = self._queued, dict(states)
        for name in {*before, *states}:
            if before.get(name) != states.get(name):
                index = self.index_of(name)
                if index.isValid():
                    self.dataChanged.emit(index, index)

    def set_picture(self, name: str, picture: QPixmap | None) -> None:
        """Show the thumbnail of an experiment; None removes it."""
        if picture is None:
            self._pictures.pop(name, None)
        else:
            self._pictures[name] = picture
        index = self.index_of(name)
        if index.isValid():
            self.dataChanged.emit(index, index)

    def has_picture(self, name: str) -> bool:
        """True if the thumbnail of an experiment is shown."""
        return name in self._pictures

    def forget_pictures(self) -> None:
        """Discard all thumbnails, e.g. because they have the colours of the previous theme."""
        self._pictures.clear()

    def exhibits(self) -> list[Exhibit]:
        """All experiments in the order of the rows."""
        return [exhibit for members in self._members for exhibit in members]

    def index_of(self, name: str) -> QModelIndex:
        """Index of an experiment; invalid for an unknown name."""
        for row, members in enumerate(self._members):
            for place, exhibit in enumerate(members):
                if exhibit.name == name:
                    return self.index(place, 0, self.index(row, 0))
        return QModelIndex()

    def under(self, index: Index) -> list[Exhibit]:
        """The experiment of a row, or all experiments of a paper's row; empty for an invalid index."""
        if not index.isValid():
            return []
        if not index.internalId():
            return list(self._members[index.row()])
        return [self._members[index.internalId() - 1][index.row()]]

    # ---- QAbstractItemModel ----

    def count(self, above: int | None) -> int:
        """Number of papers, or number of experiments of the paper in the row `above`."""
        return len(self._papers) if above is None else len(self._members[above])

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Always 1, because the delegate draws everything in one column."""
        return 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Titles, tooltips, and the values that the delegate draws."""
        if not index.isValid():
            return None
        if not index.internalId():
            return self._paper_data(index.row(), role)
        exhibit = self._members[index.internalId() - 1][index.row()]
        queued = self._queued.get(exhibit.name)
        if role == Qt.ItemDataRole.DisplayRole:
            return exhibit.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(exhibit, queued)
        if role == Qt.ItemDataRole.ToolTipRole:
            lines = [exhibit.recipe.claim if exhibit.recipe else exhibit.problem, counts_text(exhibit.counts)]
            return as_written("\n".join(line for line in (*lines, takes_text(exhibit)) if line))
        found: Mapping[int, object | None] = {
            EXHIBIT_ROLE: exhibit,
            QUEUED_ROLE: queued,
            PICTURE_ROLE: self._pictures.get(exhibit.name),
            COUNTS_ROLE: exhibit.counts,
        }
        return found.get(role)

    def _paper_data(self, row: int, role: int) -> object | None:
        members = self._members[row]
        counts = summed_counts(members)
        title = SOURCES.get(self._papers[row]) or tr("Recipes that cannot be read")
        if role == Qt.ItemDataRole.DisplayRole:
            return title
        if role == COUNTS_ROLE:
            return counts
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            number = trn("{count} experiment", "{count} experiments", len(members))
            return ", ".join(part for part in (title, number, counts_text(counts)) if part)
        return None


PICTURE_SIZE = QSize(WIDTH_PX, HEIGHT_PX)
"""Size of the figure on a card, logical px."""
_MARGIN, _GAP = 6, 8
_BAR = 4
_PAD = 5  # px, left and right of a framed word


class CardDelegate(QStyledItemDelegate):
    """Draws papers and cards in the colours of the theme; long text ends in an ellipsis."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Size of a heading, or of a card with room for the figure and for three lines of text."""
        line = option.fontMetrics.height()
        if index.data(EXHIBIT_ROLE) is None:
            return QSize(160, line + 2 * _MARGIN)
        return QSize(260, max(PICTURE_SIZE.height(), 3 * line + _BAR + _GAP) + 2 * _MARGIN)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw a paper or a card."""
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
        """Draw the framed word "shipped" at the right edge of the rectangle, and return the width used, px."""
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
        """Draw the badges at the right edge of the rectangle, and return the width used."""
        tokens = current_tokens()
        colours = {"✓": tokens.ok, "(✗)": tokens.muted_text, "✗": tokens.error, "–": tokens.muted_text}
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
