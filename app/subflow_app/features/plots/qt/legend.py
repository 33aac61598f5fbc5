"""Legend beside or below the plots: the time of the values, and below it the lines with their switches and values.

Until the user drags the legend, its placement leaves the plots as much space as possible.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QAction,
    QColor,
    QFont,
    QFontMetrics,
    QIcon,
    QMouseEvent,
    QPainter,
    QPalette,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QColorDialog,
    QHeaderView,
    QMenu,
    QSplitter,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from subflow_app.features.plots.core import Curve
from subflow_app.features.plots.qt.curve_id import CurveId
from subflow_app.features.plots.qt.legend_model import (
    BRIEF_ROLE,
    CURVE_ROLE,
    WORDS_ROLE,
    LegendModel,
    LegendValues,
    line_colour,
)
from subflow_app.toolkit.theme import current_tokens, muted, set_style
from subflow_app.toolkit.widgets.labels import ElidedLabel
from subflow_app.toolkit.widgets.shorthand import heading, named, sized, v_box
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr, translatable

_SAMPLE_WIDTH = 22
_BOX_WIDTH = 30  # check box, with the space next to it and at the end of the line
_HEADER_PADDING = 3
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
# Minimum width of names in average characters. If the columns of values then do not fit, they scroll.
_LEAST_NAME_LETTERS = 12
# Maximum width of names: longer names are elided in the middle, and the tool tip shows them in full.
_MOST_NAME_WIDTH, _MOST_NAME_LETTERS = 240, 34  # px, and in characters for large fonts
# Minimum width of values, so that columns do not resize with every digit of a running simulation.
_VALUE = "88.888"
_MARGIN = 8


class Legend(QWidget):
    """Name of the run, time of the values, and tree of lines."""

    resized = Signal()  # the legend needs a different size
    colour_chosen = Signal(object, str)  # CurveId, #RRGGBB; empty: restore the default
    colours_reset = Signal()

    def __init__(self, model: LegendModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("legend")
        self._model = model
        self._run = named(_head(ElidedLabel(self)), "legend_run")
        self._run.setContentsMargins(_MARGIN, 6, _MARGIN, 0)
        heading(self._run)
        self._run.hide()
        self._time = named(muted(_head(ElidedLabel(self))), "legend_time")
        self._time.setContentsMargins(_MARGIN, 4, _MARGIN, 2)
        self._runs: tuple[str, ...] = ()
        self._widths: dict[int, tuple[int, int]] = {}  # px, for stacked and for one-line headings; widths never shrink
        self._name_px = self._whole_name_px = self._least_name_px = 0
        self.tree = named(QTreeView(self), "legend_tree", tr("Legend: lines of the plots, with switches and values"))
        self.tree.setModel(model)
        self.tree.setItemDelegateForColumn(0, _LineDelegate(self.tree))
        self.tree.setRootIsDecorated(False)
        self.tree.setIndentation(12)
        self.tree.setUniformRowHeights(True)
        self.tree.setExpandsOnDoubleClick(False)
        self.tree.setItemsExpandable(False)
        self.tree.setSelectionMode(QTreeView.SelectionMode.SingleSelection)
        self.tree.setFrameShape(QTreeView.Shape.NoFrame)
        # Names of links and runs differ at their ends.
        self.tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.customContextMenuRequested.connect(self._show_menu)
        self.fit_font(self.font())
        self.tree.installEventFilter(self)
        self.tree.viewport().installEventFilter(self)
        model.modelReset.connect(self._on_reset)
        v_box(self, self._run, self._time, self.tree, margins=0, spacing=0)
        set_style(
            self.tree,
            lambda t: (
                f"QHeaderView {{ background: {t.alternate_base}; border: none; }}"
                f"QHeaderView::section {{ background: {t.alternate_base}; color: {t.muted_text}; border: none;"
                f" padding: 2px {_HEADER_PADDING - 1}px; }}"
                f"QTreeView {{ border: none; }} QAbstractScrollArea::corner {{ background: {t.base}; }}"
            ),
        )

    @property
    def current(self) -> CurveId | None:
        """The selected line; None if a group or nothing is selected."""
        return self._model.id_at(self.tree.currentIndex())

    def set_current(self, curve: CurveId) -> None:
        self.tree.setCurrentIndex(self._model.index_of(curve))

    def set_run(self, name: str) -> None:
        """Shows the name of the only run, or the common part of several names; an empty text hides the label."""
        self._run.setText(name)
        if self._run.isHidden() == bool(name):
            self._run.setVisible(bool(name))
            self.resized.emit()

    def show_values(self, values: LegendValues) -> None:
        """Shows values, and the time to which they belong."""
        self._model.set_values(values.columns, values.decimals, values.flows, are_means=values.are_means)
        self._time.setText(values.heading)
        self._fit_columns()

    def fit_font(self, font: QFont) -> None:
        """Adapts the columns and their headings, which are slightly smaller, to this font."""
        small = sized(font, 0.9)
        self.tree.header().setFont(small)
        self._widths.clear()
        self._on_reset()

    def set_on_one_line(self, is_on_one_line: bool) -> None:
        """Shows name and unit of each column on one line, which saves height, or one word per line."""
        if self._model.is_on_one_line != is_on_one_line:
            self._model.is_on_one_line = is_on_one_line
            self._model.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, self._model.columnCount() - 1)
            self._fit_columns()

    def sizeHint(self) -> QSize:
        """Wide enough for names and values, and high enough for all lines."""
        header = self.tree.header()
        rows = sum(1 + self._model.rowCount(self._model.index(row, 0)) for row in range(self._model.rowCount()))
        heads = self._time.sizeHint().height() + (self._run.sizeHint().height() if self._run.isVisibleTo(self) else 0)
        height = heads + header.sizeHint().height() + rows * max(1, self.tree.sizeHintForRow(0)) + 2
        bar = self.tree.verticalScrollBar().sizeHint().width() if height > self.height() else 0
        width = self._name_px + sum(header.sectionSize(column) for column in range(1, self._model.columnCount()))
        return QSize(width + bar, height)

    @property
    def width_beside(self) -> int:
        """Width that names and values need beside the plots, px; headings have one word per line there."""
        return self._name_px + sum(stacked for stacked, _ in self._widths.values())

    def fits_on_one_line(self, width: int) -> bool:
        """True if names and one-line headings fit into this width in px."""
        bar = self.tree.verticalScrollBar().sizeHint().width()
        return self._name_px + sum(joined for _, joined in self._widths.values()) + bar <= width

    def height_below(self, width: int) -> int:
        """Height that the legend needs below the plots at this width, px, with one-line headings if they fit."""
        lines = max((len(self._model.heading(column)) for column in range(1, self._model.columnCount())), default=1)
        now, then = (1 if is_one else lines for is_one in (self._model.is_on_one_line, self.fits_on_one_line(width)))
        return self.sizeHint().height() + (then - now) * QFontMetrics(self.tree.header().font()).lineSpacing()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Adapts the legend when the font of the tree or the width beside the scroll bar changes."""
        if watched is self.tree and event.type() == QEvent.Type.FontChange:
            self.fit_font(self.tree.font())
        elif watched is not self.tree and event.type() == QEvent.Type.Resize:
            self._share_width()
        return super().eventFilter(watched, event)

    def _on_reset(self) -> None:
        self.tree.expandAll()
        for row in range(self._model.rowCount()):
            self.tree.setFirstColumnSpanned(row, QModelIndex(), True)
        if self._runs != self._model.runs:
            self._runs = self._model.runs
            self._widths.clear()
        self._whole_name_px = self._name_width()
        most = max(_MOST_NAME_WIDTH, _MOST_NAME_LETTERS * self.tree.fontMetrics().averageCharWidth())
        self._name_px = min(self._whole_name_px, most)
        self.tree.header().setStretchLastSection(False)
        self._fit_columns()
        self._share_width()
        self.resized.emit()

    def _fit_columns(self) -> None:
        """Widens every column of values to its widest text."""
        header = self.tree.header()
        metrics, numbers = QFontMetrics(header.font()), self.tree.fontMetrics()
        before = [header.sectionSize(column) for column in range(1, self._model.columnCount())]
        for column in range(1, self._model.columnCount()):
            words = self._model.heading(column)
            value = max(map(numbers.horizontalAdvance, (_VALUE, self._model.widest_text(column))))
            stacked = max(value, *map(metrics.horizontalAdvance, words)) + 2 * _HEADER_PADDING
            joined = max(value, metrics.horizontalAdvance(" ".join(words))) + 2 * _HEADER_PADDING
            # Columns never shrink, because a new width would redraw all plots and shift them under the mouse.
            before_px = self._widths.get(column, (0, 0))
            self._widths[column] = max(stacked, before_px[0]), max(joined, before_px[1])
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(column, self._widths[column][int(self._model.is_on_one_line)])
        if before != [header.sectionSize(column) for column in range(1, self._model.columnCount())]:
            self._share_width()
            self.resized.emit()

    def _name_width(self) -> int:
        """Width of the names in px, including the sample of the line and the check box."""
        style = self.tree.style()
        box = style.pixelMetric(style.PixelMetric.PM_IndicatorWidth) + _SAMPLE_WIDTH + 2 * self.tree.indentation() + 12
        metrics = self.tree.fontMetrics()
        whole = box + metrics.horizontalAdvance(self._model.widest_text(0))
        self._least_name_px = min(whole, box + _LEAST_NAME_LETTERS * metrics.averageCharWidth())
        return whole

    def _share_width(self) -> None:
        """Gives values the width they need, and names the rest; if names would be too narrow, the columns scroll."""
        if self._model.columnCount() == 0:
            return
        header = self.tree.header()
        values = sum(header.sectionSize(column) for column in range(1, self._model.columnCount()))
        room = self.tree.viewport().width() - values
        is_enough = room >= self._least_name_px
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(0, min(max(room, self._least_name_px), self._whole_name_px))
        self.tree.setHorizontalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAlwaysOff if is_enough else Qt.ScrollBarPolicy.ScrollBarAsNeeded
        )

    def _show_menu(self, position: QPoint) -> None:
        self.make_menu(position).popup(self.tree.viewport().mapToGlobal(position))

    def make_menu(self, position: QPoint) -> QMenu:
        """Menu for the line at a position of the tree."""
        index = self.tree.indexAt(position).siblingAtColumn(0)
        if not index.isValid():
            # If the menu is opened by a key or outside the lines, it applies to the selected line.
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
        """Menu with colours that are safe for the colour-blind, a choice of any other colour, and the default."""
        menu = named(QMenu(tr("Colour"), parent), "legend_colours")
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
        """Opens a dialog for any colour, with the colours that are safe for the colour-blind as custom colours."""
        dialog = named(QColorDialog(self), "colour_dialog")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        # The platform's dialog would not show the custom colours.
        dialog.setOption(QColorDialog.ColorDialogOption.DontUseNativeDialog)
        for number, colour in enumerate(palette.OKABE_ITO.values()):
            QColorDialog.setCustomColor(number, QColor(colour))
        shown = self._model.index_of(curve).data(CURVE_ROLE)
        if isinstance(shown, Curve):
            dialog.setCurrentColor(QColor(line_colour(shown, dark=current_tokens().is_dark)))
        dialog.colorSelected.connect(lambda chosen: self.colour_chosen.emit(curve, chosen.name()))
        dialog.open()


class _LineDelegate(QStyledItemDelegate):
    """Draws a short sample of the line with its colour and dash between check box and name."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Reserves the space of an icon for the sample, and elides the text of a flow that shows measures."""
        super().initStyleOption(option, index)
        words = index.data(WORDS_ROLE)
        if words and option.rect.isValid():
            # Elides first the names of the measures, then the name of the flow, but never the numbers.
            advance, room = option.fontMetrics.horizontalAdvance, option.rect.width() - _BOX_WIDTH
            title = option.text.removesuffix(f" · {words}")
            behind = f" · {words if advance(option.text) <= room else index.data(BRIEF_ROLE)}"
            option.text = option.fontMetrics.elidedText(title, option.textElideMode, room - advance(behind)) + behind
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
        """Toggles a line when its name is clicked; with Ctrl or Alt, shows only this line."""
        if isinstance(event, QMouseEvent) and event.button() == Qt.MouseButton.LeftButton:
            if event.type() == QEvent.Type.MouseButtonRelease and isinstance(model, LegendModel):
                alone = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
                (model.show_only if event.modifiers() & alone else model.toggle)(index)
            return True
        return super().editorEvent(event, model, option, index)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draws the entry, then the sample in the reserved space."""
        super().paint(painter, option, index)
        curve = index.data(CURVE_ROLE)
        if not isinstance(curve, Curve):
            return
        styled = QStyleOptionViewItem(option)
        self.initStyleOption(styled, index)
        style = styled.widget.style()
        area = style.subElementRect(style.SubElement.SE_ItemViewItemDecoration, styled, styled.widget)
        pen = QPen(QColor(line_colour(curve, dark=current_tokens().is_dark)), 2.0)
        if styled.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(area.adjusted(-2, 0, 2, 0), styled.palette.base())  # instead of the selection colour
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        dash = palette.GHOST_DASH if curve.is_ghost else palette.dash(curve.dash)
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


def _head(label: ElidedLabel) -> ElidedLabel:
    """Gives a label the background of the headings below it."""
    label.setBackgroundRole(QPalette.ColorRole.AlternateBase)
    label.setAutoFillBackground(True)
    return label


# The legend is below the plots if the view is narrower than `_LEAST_WIDTH_BESIDE`, px, or if the legend needs more than
# the share `_WIDE_LEGEND` of the width and fits below. The other shares limit its width and its height.
_LEAST_WIDTH_BESIDE = 640
_WIDE_LEGEND = 0.32
_MOST_LEGEND_BESIDE = 0.4
_MOST_LEGEND_BELOW = 0.28


class LegendSplitter(QSplitter):
    """Plots and their legend."""

    def __init__(self, plots: QWidget, stack: QWidget, legend: Legend, parent: QWidget | None = None) -> None:
        """Creates the splitter with both widgets.

        Args:
            plots: widget beside or above the legend.
            stack: the plots inside ``plots``, whose minimum height limits the legend.
            legend: the legend; its signal `resized` triggers a new placement.
            parent: Qt parent.
        """
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setObjectName("plot_splitter")
        self.setChildrenCollapsible(False)
        self._stack, self._legend = stack, legend
        self._is_dragged = False
        self.addWidget(plots)
        self.addWidget(legend)
        self.setStretchFactor(0, 1)
        self.setStretchFactor(1, 0)
        legend.resized.connect(self.place)
        self.splitterMoved.connect(self._on_moved)

    def place(self) -> None:
        """Places and sizes the legend, unless the user has dragged it."""
        if self._is_dragged:
            return
        is_below = self._is_legend_below()
        # Below the plots, height is scarcer than width.
        self._legend.set_on_one_line(is_below and self._legend.fits_on_one_line(self.width()))
        self.setOrientation(Qt.Orientation.Vertical if is_below else Qt.Orientation.Horizontal)
        hint = self._legend.sizeHint()
        whole, needed, most = (
            (self.height(), hint.height(), _MOST_LEGEND_BELOW)
            if is_below
            else (self.width(), hint.width(), _MOST_LEGEND_BESIDE)
        )
        legend = min(needed, round(whole * most))
        self.setSizes([whole - legend, legend])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Places the legend again, but keeps a dragged size unless the legend moves to the other side."""
        super().resizeEvent(event)
        if (self.orientation() == Qt.Orientation.Vertical) != self._is_legend_below():
            self._is_dragged = False
        self.place()

    def _is_legend_below(self) -> bool:
        if self.width() < _LEAST_WIDTH_BESIDE:
            return True
        if self._legend.width_beside <= _WIDE_LEGEND * self.width():
            return False
        room = min(_MOST_LEGEND_BELOW * self.height(), self.height() - self._stack.minimumHeight())
        return self._legend.height_below(self.width()) <= room

    def _on_moved(self) -> None:
        self._is_dragged = True
