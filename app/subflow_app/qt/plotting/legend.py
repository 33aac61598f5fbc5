"""The legend beside the plots: what each line is, switches for it, and its value at the crosshair."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QPersistentModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QFontMetrics, QIcon, QMouseEvent, QPainter, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QColorDialog,
    QHeaderView,
    QLabel,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from subflow_app.core import palette
from subflow_app.core.language import tr, translatable
from subflow_app.plots import Curve
from subflow_app.qt import format as fmt
from subflow_app.qt.models.legend_model import CURVE_ROLE, LegendModel, line_colour
from subflow_app.qt.plotting.curve_id import CurveId
from subflow_app.qt.theme import Tokens, current_tokens

_SAMPLE_WIDTH = 26
_HEADER_PADDING = 5
_COLOUR_NAMES = {
    "blue": translatable("Blue"),
    "vermillion": translatable("Vermilion"),
    "green": translatable("Green"),
    "purple": translatable("Purple"),
    "sky": translatable("Sky blue"),
    "orange": translatable("Orange"),
    "yellow": translatable("Yellow"),
    "black": translatable("Black"),
}
# A name is not squeezed further by many columns of values, px; these can be scrolled instead.
_LEAST_NAME_WIDTH = 130


class Legend(QWidget):
    """A header with the time of the values, and the tree of lines."""

    colour_chosen = Signal(object, str)  # CurveId, #RRGGBB; empty: its own again
    colours_reset = Signal()

    def __init__(self, model: LegendModel, parent: QWidget | None = None) -> None:
        """A legend of ``model``."""
        super().__init__(parent)
        self.setObjectName("legend")
        self._model = model
        self._time = QLabel(self)
        self._time.setObjectName("legend_time")
        self._time.setContentsMargins(8, 6, 8, 2)
        self.tree = QTreeView(self)
        self.tree.setObjectName("legend_tree")
        self.tree.setAccessibleName(tr("Legend: lines of the plots, with switches and values"))
        self.tree.setModel(model)
        self.tree.setItemDelegateForColumn(0, _LineDelegate(self.tree))
        self.tree.setRootIsDecorated(False)
        self.tree.setIndentation(12)
        self.tree.setUniformRowHeights(True)
        self.tree.setExpandsOnDoubleClick(False)
        self.tree.setItemsExpandable(False)
        self.tree.setSelectionMode(QTreeView.SelectionMode.SingleSelection)
        self.tree.setFrameShape(QTreeView.Shape.NoFrame)
        self.tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.customContextMenuRequested.connect(self._show_menu)
        font = self.tree.header().font()
        font.setPointSizeF(font.pointSizeF() * 0.9)
        self.tree.header().setFont(font)
        model.modelReset.connect(self._on_reset)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._time)
        layout.addWidget(self.tree)
        self.set_time(None, 0.0)
        self.apply_tokens(current_tokens())

    @property
    def current(self) -> CurveId | None:
        """The line that is chosen."""
        return self._model.id_at(self.tree.currentIndex())

    def set_current(self, curve: CurveId) -> None:
        """Chooses a line."""
        self.tree.setCurrentIndex(self._model.index_of(curve))

    def set_time(self, cursor_s: float | None, latest_s: float) -> None:
        """Says of which instant the values are: the crosshair's, or the newest."""
        if cursor_s is not None:
            self._time.setText(tr("At {time} s", time=f"{cursor_s:.2f}"))
        else:
            self._time.setText(
                tr("Latest, {time} s", time=fmt.number(latest_s, 4)) if latest_s > 0 else tr("No samples yet")
            )

    def apply_tokens(self, tokens: Tokens) -> None:
        """Recolours the time; the tree follows the palette."""
        self.tree.setStyleSheet(
            f"QHeaderView::section {{ background: {tokens.alternate_base}; color: {tokens.muted_text}; border: none;"
            f" padding: 2px {_HEADER_PADDING - 1}px; }}"
            "QTreeView { border: none; }"
        )
        self._time.setStyleSheet(f"color: {tokens.muted_text}; background: {tokens.alternate_base};")

    def sizeHint(self) -> QSize:
        """Wide enough for a path name and a column of numbers per plot."""
        return QSize(330, 300)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shares the new width out."""
        super().resizeEvent(event)
        self._share_width()

    def _on_reset(self) -> None:
        self.tree.expandAll()
        for row in range(self._model.rowCount()):
            self.tree.setFirstColumnSpanned(row, QModelIndex(), True)
        header = self.tree.header()
        header.setStretchLastSection(False)
        metrics = QFontMetrics(header.font())
        for column in range(1, self._model.columnCount()):
            text = str(self._model.headerData(column, Qt.Orientation.Horizontal))
            width = max(metrics.horizontalAdvance(text), self.tree.fontMetrics().horizontalAdvance("0.0888"))
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(column, width + 2 * _HEADER_PADDING)
        self._share_width()

    def _share_width(self) -> None:
        """What the values leave goes to the names; if that is too little, the columns are scrolled."""
        if self._model.columnCount() == 0:
            return
        header = self.tree.header()
        values = sum(header.sectionSize(column) for column in range(1, self._model.columnCount()))
        is_enough = self.width() - values >= _LEAST_NAME_WIDTH
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch if is_enough else QHeaderView.ResizeMode.Fixed)
        if not is_enough:
            header.resizeSection(0, _LEAST_NAME_WIDTH)
        self.tree.setHorizontalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAlwaysOff if is_enough else Qt.ScrollBarPolicy.ScrollBarAsNeeded
        )

    def _show_menu(self, position: QPoint) -> None:
        self.make_menu(position).popup(self.tree.viewport().mapToGlobal(position))

    def make_menu(self, position: QPoint) -> QMenu:
        """What can be done with the line at a position of the tree."""
        index = self.tree.indexAt(position).siblingAtColumn(0)
        if not index.isValid():
            # Asked for by key, or beside the lines: the menu is of the line that is chosen.
            index = self.tree.currentIndex().siblingAtColumn(0)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        only, everything = QAction(tr("Show only this"), menu), QAction(tr("Show all"), menu)
        only.setEnabled(index.isValid())
        kept = QPersistentModelIndex(index)
        only.triggered.connect(lambda: self._model.show_only(kept))
        everything.triggered.connect(lambda: self._model.set_hidden(frozenset()))
        menu.addActions([only, everything])
        curve = self._model.id_at(index)
        if curve is not None:
            menu.addMenu(self._colour_menu(curve, menu))
        reset = QAction(tr("Reset all colours"), menu)
        reset.triggered.connect(self.colours_reset)
        menu.addAction(reset)
        return menu

    def _colour_menu(self, curve: CurveId, parent: QMenu) -> QMenu:
        """The colours that stay distinct for everybody first; then any other."""
        menu = QMenu(tr("Colour"), parent)
        menu.setObjectName("legend_colours")
        for name, colour in palette.OKABE_ITO.items():
            swatch = QPixmap(14, 14)
            swatch.fill(QColor(colour))
            action = menu.addAction(QIcon(swatch), tr(_COLOUR_NAMES[name]))
            action.triggered.connect(partial(self.colour_chosen.emit, curve, colour))
        menu.addSeparator()
        menu.addAction(tr("Other…")).triggered.connect(partial(self.ask_colour, curve))
        menu.addAction(tr("Its own")).triggered.connect(partial(self.colour_chosen.emit, curve, ""))
        return menu

    def ask_colour(self, curve: CurveId) -> None:
        """Asks for any colour; the distinct ones stand among the own colours of the dialog."""
        dialog = QColorDialog(self)
        dialog.setObjectName("colour_dialog")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        # The platform's dialog would not show these.
        dialog.setOption(QColorDialog.ColorDialogOption.DontUseNativeDialog)
        for number, colour in enumerate(palette.OKABE_ITO.values()):
            QColorDialog.setCustomColor(number, QColor(colour))
        shown = self._model.index_of(curve).data(CURVE_ROLE)
        if isinstance(shown, Curve):
            dialog.setCurrentColor(QColor(line_colour(shown, dark=current_tokens().is_dark)))
        dialog.colorSelected.connect(lambda chosen: self.colour_chosen.emit(curve, chosen.name()))
        dialog.open()


class _LineDelegate(QStyledItemDelegate):
    """Draws a short sample of the line, with its colour and dash, between check box and name."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Keeps room for the sample by pretending that there is an icon."""
        super().initStyleOption(option, index)
        if isinstance(index.data(CURVE_ROLE), Curve):
            option.features |= QStyleOptionViewItem.ViewItemFeature.HasDecoration
            option.decorationSize = QSize(_SAMPLE_WIDTH, 12)

    def editorEvent(
        self,
        event: QEvent,
        model: QAbstractItemModel,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> bool:
        """Switches on a click anywhere on the name; with Ctrl or Alt everything else goes off."""
        if isinstance(event, QMouseEvent) and event.button() == Qt.MouseButton.LeftButton:
            if event.type() == QEvent.Type.MouseButtonRelease and isinstance(model, LegendModel):
                alone = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
                (model.show_only if event.modifiers() & alone else model.toggle)(index)
            return True
        return super().editorEvent(event, model, option, index)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draws the entry, then the sample over the room kept for it."""
        super().paint(painter, option, index)
        curve = index.data(CURVE_ROLE)
        if not isinstance(curve, Curve):
            return
        styled = QStyleOptionViewItem(option)
        self.initStyleOption(styled, index)
        style = styled.widget.style()
        area = style.subElementRect(style.SubElement.SE_ItemViewItemDecoration, styled, styled.widget)
        pen = QPen(QColor(line_colour(curve, dark=current_tokens().is_dark)), 2.0)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        dash = palette.GHOST_DASH if curve.is_ghost else palette.dash(curve.run)
        if dash:
            pen.setDashPattern([length / 2 for length in dash])
        painter.save()
        if curve.is_ghost:
            pen.setWidthF(1.0)
            painter.setOpacity(palette.GHOST_OPACITY)
        if index.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Unchecked:
            painter.setOpacity(0.35)
        painter.setPen(pen)
        y = area.center().y() + 1
        painter.drawLine(area.left(), y, area.right(), y)
        painter.restore()
