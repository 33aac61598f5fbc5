"""Legend beside or below the plots: a block for each plot, with its lines and their values.

Beside the plots, each block lies at the height of its plot.
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
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QAction,
    QColor,
    QFont,
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
    QScrollArea,
    QSplitter,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from subflow_app.features.plots.core import Curve
from subflow_app.features.plots.core.line_names import fitted
from subflow_app.features.plots.qt.curve_id import CurveId, title_of
from subflow_app.features.plots.qt.legend_model import (
    AT,
    CURVE_ROLE,
    MEAN,
    NAME,
    LegendModel,
    LegendValues,
    line_colour,
)
from subflow_app.toolkit.theme import Tokens, current_tokens, set_style
from subflow_app.toolkit.widgets.shorthand import named, sized
from subflow_app.toolkit.workspaces import SIDE_WIDTH
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr, translatable

_SAMPLE_WIDTH, _GAP, _EDGE = 20, 7, 11  # px: sample of a line, space after it, and space at both sides of the legend
_RIGHT = 8  # px, space after the last column
_ROW, _LOW_ROW, _MANY = 20, 18, 6  # heights of rows, px; the lower ones from this number of lines on
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
# Minimum width of values, so that columns do not resize with every digit of a running simulation.
_VALUE = "888.88"
_LEAST_NAME_LETTERS, _MOST_NAME_LETTERS = 9, 34
_LEAST_BLOCK = 210  # px, width of a block below the plots


class LegendBlock(QTreeView):
    """The lines of one plot: sample, name, value at the cursor, and mean."""

    pressed_line = Signal(object)  # CurveId of the line that was clicked or chosen by key

    def __init__(self, model: LegendModel, parent: QWidget) -> None:
        """Shows nothing until `show_place`."""
        super().__init__(parent)
        self._model, self.place = model, 0
        self._names: list[str] = []
        self._hidden_before: frozenset[CurveId] | None = None
        self.setModel(model)
        self.setItemDelegate(_LineDelegate(self))
        self.setRootIsDecorated(False)
        self.setIndentation(0)
        self.setItemsExpandable(False)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setSelectionMode(QTreeView.SelectionMode.SingleSelection)
        self.setFrameShape(QTreeView.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.header().setStretchLastSection(False)
        self.header().setSectionsClickable(False)
        self.header().setMinimumSectionSize(8)
        for column in (NAME, AT, MEAN):
            self.header().setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
        # The width beside a scroll bar changes with the bar.
        self.viewport().installEventFilter(self)
        set_style(self, _block_style)

    def show_place(self, place: int) -> None:
        """Shows the upper row of the model at this place; nothing if the model lacks it."""
        self.place = place
        self._names = []
        self.reset()

    def reset(self) -> None:
        """Shows the same place of the model after all its rows were replaced."""
        super().reset()
        specs = self._model.specs
        if self.place < len(specs):
            title = tr("Legend of the plot {plot}", plot=title_of(specs[self.place]))
            named(self, f"legend_{specs[self.place].id}", title)
            self.setRootIndex(self._model.index(self.place, 0))
            for row in range(self.line_count, self._model.count(self.place)):
                self.setFirstColumnSpanned(row, self.rootIndex(), True)

    @property
    def line_count(self) -> int:
        """Number of lines, without the measures of flows; 0 for a block that waits for a plot."""
        has_plot = self.place < self._model.rowCount()
        return len(self._model.names(self.place, short=False)) if has_plot else 0

    @property
    def row_height(self) -> int:
        """Height of a row, px."""
        least = _LOW_ROW if self.line_count >= _MANY else _ROW
        return max(least, self.fontMetrics().height() + (3 if least == _ROW else 1))

    def fit_font(self, font: QFont) -> None:
        """Uses this font, and a slightly smaller one for the headings."""
        self.setFont(font)
        self.header().setFont(sized(font, 0.9))

    def value_widths(self) -> tuple[int, int]:
        """Widths that the columns of values need, px."""
        numbers = self.fontMetrics()
        bold = sized(self.font(), is_bold=True)
        from_bold = type(numbers)(bold)
        heads = self.header().fontMetrics()
        at = max(
            from_bold.horizontalAdvance(_VALUE),
            from_bold.horizontalAdvance(self._model.widest_value(AT)),
            heads.horizontalAdvance(tr("At {time} s", time="88.88")) + 4,
        )
        mean = max(
            numbers.horizontalAdvance(_VALUE),
            numbers.horizontalAdvance(self._model.widest_value(MEAN)),
            heads.horizontalAdvance(tr("Mean")),
        )
        return at + 6, mean + 6

    def share_width(self, widths: tuple[int, int]) -> None:
        """Gives values these widths, and names the rest; a column of width 0 is hidden."""
        header = self.header()
        sizes = (max(self.viewport().width() - sum(widths), 40), *widths)
        for column, size in enumerate(sizes):
            header.setSectionHidden(column, size == 0)
            if header.sectionSize(column) != size:
                header.resizeSection(column, size)
        self._fit_names()

    def shown_name(self, row: int) -> str:
        """Name of a line as far as it fits; no two of them are alike."""
        return self._names[row] if row < len(self._names) else ""

    def _fit_names(self) -> None:
        if not self.line_count:
            return
        room = self.header().sectionSize(NAME) - _SAMPLE_WIDTH - _GAP - _EDGE
        width = self.fontMetrics().horizontalAdvance
        names = self._model.names(self.place, short=False)
        if any(width(name) > room for name in names):
            names = self._model.names(self.place, short=True)
        self._names = fitted(names, room, width)
        self.viewport().update()

    def set_words_shown(self, are_shown: bool) -> None:
        """Shows or hides the measures of flows below the lines, which need the room more."""
        for row in range(self.line_count, self._model.count(self.place)):
            self.setRowHidden(row, self.rootIndex(), not are_shown)

    @property
    def needed_height(self) -> int:
        """Height of the heading and all rows, px."""
        return self.header().sizeHint().height() + self._model.count(self.place) * self.row_height + 2

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Shares out the width again after it has changed."""
        if event.type() == QEvent.Type.Resize:
            header = self.header()
            self.share_width((header.sectionSize(AT), header.sectionSize(MEAN)))
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remembers which lines were hidden, for a double click."""
        self._hidden_before = self._model.hidden
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Shows or hides the clicked line."""
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        line = self._model.id_at(index)
        if event.button() == Qt.MouseButton.LeftButton and line is not None and self._hidden_before is not None:
            alone = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
            (self._model.show_only if event.modifiers() & alone else self._model.toggle)(index)
            self.pressed_line.emit(line)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Shows only this line; its first click has toggled the line, which is undone."""
        index = self.indexAt(event.position().toPoint())
        line = self._model.id_at(index)
        if event.button() == Qt.MouseButton.LeftButton and line is not None:
            if self._hidden_before is not None:
                self._model.set_hidden(self._hidden_before)
            self._model.show_only(index)
        self._hidden_before = None  # the release that follows changes nothing

    def currentChanged(
        self, current: QModelIndex | QPersistentModelIndex, previous: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Announces the line that was chosen by key."""
        super().currentChanged(current, previous)
        line = self._model.id_at(current)
        if line is not None and self.hasFocus():
            self.pressed_line.emit(line)


def _block_style(t: Tokens) -> str:
    return (
        f"QTreeView {{ background: {t.base}; border: none; }}"
        f"QHeaderView {{ background: {t.base}; border: none; }}"
        f"QHeaderView::section {{ background: {t.base}; color: {t.muted_text}; border: none;"
        f" border-bottom: 1px solid {t.grid}; padding: 2px 2px; }}"
        f"QHeaderView::section:first {{ padding-left: {_EDGE}px; }}"
    )


class Legend(QScrollArea):
    """The blocks of all plots."""

    resized = Signal()  # the legend needs a different size
    colour_chosen = Signal(object, str)  # CurveId, #RRGGBB; empty: restore the default
    colours_reset = Signal()
    line_chosen = Signal(object)  # CurveId

    def __init__(self, model: LegendModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, "legend", tr("Legend: lines of the plots, with switches and values"))
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._model = model
        self._content = QWidget()
        self._content.setAutoFillBackground(True)
        self._content.setBackgroundRole(QPalette.ColorRole.Base)
        self.setWidget(self._content)
        self.blocks: list[LegendBlock] = []
        self._made: list[LegendBlock] = []
        self._current: LegendBlock | None = None
        self._tops: dict[str, int] = {}  # by plot id, px
        self._is_below = False
        self._widths = self._shared = (0, 0)
        self._font = QFont(self.font())
        model.modelReset.connect(self._on_reset)

    @property
    def current(self) -> CurveId | None:
        """The selected line; None if nothing is selected."""
        return self._model.id_at(self._current.currentIndex()) if self._current is not None else None

    def set_current(self, curve: CurveId, plot_id: str = "") -> None:
        """Selects a line in the block of a plot, or in the first block with this line."""
        index = self._model.index_of(curve, plot_id)
        for block in self.blocks:
            is_here = index.isValid() and block.place == index.parent().row()
            block.setCurrentIndex(index if is_here else QModelIndex())
            if is_here:
                self._current = block

    def show_values(self, at: LegendValues | None, means: LegendValues | None) -> None:
        """Shows the values at a time, and means; either may be unknown."""
        self._model.set_values(at, means)
        self._fit_columns()

    def fit_font(self, font: QFont) -> None:
        """Uses this font."""
        self._font = QFont(font)
        self._widths = self._shared = (0, 0)
        for block in self._made:
            block.fit_font(font)
        self._fit_columns()
        self.lay_out()
        self.resized.emit()

    def set_tops(self, tops: dict[str, int]) -> None:
        """Sets the upper ends of the plots, px, by plot id; blocks of other plots follow below."""
        if tops != self._tops:
            self._tops = tops
            self.lay_out()

    def set_below(self, is_below: bool) -> None:
        """Places the blocks side by side below the plots, or each beside its plot."""
        if is_below != self._is_below:
            self._is_below = is_below
            self.lay_out()

    @property
    def least_width(self) -> int:
        """Least width of the legend beside the plots, px."""
        name = _LEAST_NAME_LETTERS * self.fontMetrics().averageCharWidth() + _SAMPLE_WIDTH + _GAP + _EDGE
        return max(SIDE_WIDTH, name + sum(self._widths))

    @property
    def whole_width(self) -> int:
        """Width at which names are whole, up to a limit, px."""
        metrics = self.blocks[0].fontMetrics() if self.blocks else self.fontMetrics()
        names = (name for block in self.blocks for name in self._model.names(block.place, short=True))
        longest = max(map(metrics.horizontalAdvance, names), default=0)
        least, most = (count * metrics.averageCharWidth() for count in (_LEAST_NAME_LETTERS, _MOST_NAME_LETTERS))
        name = max(min(longest, most), least)
        bar = self.verticalScrollBar().sizeHint().width()  # a block with many lines scrolls
        return name + _SAMPLE_WIDTH + _GAP + 2 * _EDGE + _RIGHT + sum(self._widths) + bar

    def height_below(self, width: int) -> int:
        """Height that the blocks need below the plots at this width, px."""
        return sum(max(block.needed_height for block in row) for row in self._rows_of(width)) + 2

    def lay_out(self) -> None:
        """Places all blocks."""
        width, height = self.viewport().width(), self.viewport().height()
        if self._is_below:
            self._lay_out_below(width)
            return
        self._content.resize(width, height)
        bottom = 0
        tops = [self._tops.get(self._model.specs[block.place].id) for block in self.blocks]
        for number, block in enumerate(self.blocks):
            wanted = tops[number]
            top = bottom if wanted is None else max(wanted, bottom)
            later = [other for other in tops[number + 1 :] if other is not None and other > top]
            end = min(later, default=height)
            room = max(height - top if wanted is None else end - top - 4, 0)
            block.set_words_shown(block.needed_height <= room)
            block.setGeometry(QRect(0, top, width - _RIGHT, min(block.needed_height, room)))
            block.setVisible(room > block.row_height)
            bottom = top + block.height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Places all blocks."""
        super().resizeEvent(event)
        self.lay_out()

    # ---- internals ----

    def _lay_out_below(self, width: int) -> None:
        top = 0
        for row in self._rows_of(width):
            each, height = width // len(row), max(block.needed_height for block in row)
            for number, block in enumerate(row):
                block.setGeometry(QRect(number * each, top, each, height))
                block.show()
            top += height
        self._content.resize(width, top)

    def _rows_of(self, width: int) -> list[list[LegendBlock]]:
        columns = max(1, width // max(_LEAST_BLOCK, 1))
        return [self.blocks[first : first + columns] for first in range(0, len(self.blocks), columns)]

    def _on_reset(self) -> None:
        count = self._model.rowCount()
        # Blocks are kept for the next lines, because they are slow to make.
        while len(self._made) < count:
            block = LegendBlock(self._model, self._content)
            block.fit_font(self._font)
            block.customContextMenuRequested.connect(partial(self._show_menu, block))
            block.pressed_line.connect(partial(self._on_pressed, block))
            self._made.append(block)
        self.blocks = self._made[:count]
        self._current = None
        for place, block in enumerate(self._made):
            block.show_place(place)
            block.setVisible(place < count)
        self._widths = self._shared = (0, 0)
        self._fit_columns()
        self.lay_out()
        self.resized.emit()

    def _on_pressed(self, block: LegendBlock, line: CurveId) -> None:
        self._current = block
        for other in self.blocks:
            if other is not block:
                other.setCurrentIndex(QModelIndex())
        self.line_chosen.emit(line)

    def _fit_columns(self) -> None:
        """Widens the columns of values to their widest texts; they never shrink while shown."""
        needed = [block.value_widths() for block in self.blocks]
        at, mean = self._widths
        widths = (max([at, *(each[0] for each in needed)]), max([mean, *(each[1] for each in needed)]))
        # Without values at a cursor, names receive their width; the width of the legend stays.
        shared = (widths[0] if self._model.heading(AT) else 0, widths[1])
        if shared != self._shared:
            self._shared = shared
            for block in self.blocks:
                block.share_width(shared)
        if widths != self._widths:
            self._widths = widths
            self.resized.emit()

    def _show_menu(self, block: LegendBlock, position: QPoint) -> None:
        self.make_menu(block, position).popup(block.viewport().mapToGlobal(position))

    def make_menu(self, block: LegendBlock, position: QPoint) -> QMenu:
        """Menu for the line at a position of a block."""
        index = block.indexAt(position).siblingAtColumn(0)
        if self._model.id_at(index) is None:
            # If the menu is opened by a key or outside the lines, it applies to the selected line.
            index = block.currentIndex().siblingAtColumn(0)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        only, everything = QAction(tr("Show only this"), menu), QAction(tr("Show all"), menu)
        only.setEnabled(self._model.id_at(index) is not None)
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
    """Draws a sample of the line with its colour and dash before the name, and a hidden line faintly."""

    def __init__(self, block: LegendBlock) -> None:
        super().__init__(block)
        self._block = block

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """All rows of a block have one height."""
        return QSize(super().sizeHint(option, index).width(), self._block.row_height)

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Leaves the drawing of name, sample and switch to `paint`."""
        super().initStyleOption(option, index)
        option.features &= ~QStyleOptionViewItem.ViewItemFeature.HasCheckIndicator
        if index.column() == NAME:
            option.text = ""

    def editorEvent(
        self,
        event: QEvent,
        model: QAbstractItemModel,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> bool:
        """Toggles a line by the space key; the block itself handles the mouse."""
        return not isinstance(event, QMouseEvent) and super().editorEvent(event, model, option, index)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draws the entry, then sample and name."""
        painter.save()
        curve = index.data(CURVE_ROLE)
        line = index.model().index(index.row(), NAME, index.parent())
        is_hidden = isinstance(curve, Curve) and line.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Unchecked
        painter.setOpacity(0.4 if is_hidden else 1.0)
        super().paint(painter, option, index)
        if index.column() == NAME:
            self._paint_name(painter, option, index, curve if isinstance(curve, Curve) else None)
        painter.restore()

    def _paint_name(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
        curve: Curve | None,
    ) -> None:
        tokens = current_tokens()
        area = option.rect.adjusted(_EDGE, 0, 0, 0)
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.setFont(option.font)
        if curve is None:
            painter.setPen(QColor(tokens.muted_text))
            text = option.fontMetrics.elidedText(
                str(index.data() or ""), Qt.TextElideMode.ElideRight, self._block.viewport().width() - 2 * _EDGE
            )
            area.setRight(self._block.viewport().width() - _EDGE)
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
            return
        pen = QPen(QColor(line_colour(curve, dark=tokens.is_dark)), 2.0)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        dash = palette.GHOST_DASH if curve.is_ghost else palette.dash(curve.dash)
        if dash:
            pen.setDashPattern([length / 2 for length in dash])
        sample = QRect(area.left(), area.top(), _SAMPLE_WIDTH, area.height())
        if is_selected:
            painter.fillRect(sample.adjusted(-2, 2, 2, -2), QColor(tokens.base))  # instead of the selection colour
        opacity = painter.opacity()
        if curve.is_ghost:
            pen.setWidthF(1.0)
            painter.setOpacity(opacity * palette.GHOST_OPACITY)
        painter.setPen(pen)
        y = sample.center().y() + 1
        painter.drawLine(sample.left(), y, sample.right(), y)
        painter.setOpacity(opacity)
        role = QPalette.ColorRole.HighlightedText if is_selected else QPalette.ColorRole.Text
        painter.setPen(option.palette.color(role))
        area.adjust(_SAMPLE_WIDTH + _GAP, 0, 0, 0)
        text = self._block.shown_name(index.row())
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)


# The legend is below the plots if the view is narrower than `_LEAST_WIDTH_BESIDE`, px. The shares limit its size.
_LEAST_WIDTH_BESIDE = 560
_MOST_LEGEND_BESIDE, _MOST_LEGEND_BELOW = 0.4, 0.28


class LegendSplitter(QSplitter):
    """Plots and their legend."""

    dragged = Signal(int)  # width of the legend beside the plots, px, as the user chose it

    def __init__(self, plots: QWidget, legend: Legend, parent: QWidget | None = None) -> None:
        """Creates the splitter with both widgets; the legend's signal `resized` triggers a new placement."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setObjectName("plot_splitter")
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        self._legend = legend
        self._width = 0
        self._dragged_height = 0
        self.addWidget(plots)
        self.addWidget(legend)
        self.setStretchFactor(0, 1)
        self.setStretchFactor(1, 0)
        legend.resized.connect(self.place)
        self.splitterMoved.connect(self._on_moved)
        set_style(self, lambda t: f"#plot_splitter::handle {{ background: {t.border}; }}")

    def set_legend_width(self, width: int) -> None:
        """Sets the width of the legend beside the plots, px; 0: as its names and values need."""
        if width != self._width:
            self._width = width
            self.place()

    def place(self) -> None:
        """Places and sizes the legend."""
        is_below = self.width() < _LEAST_WIDTH_BESIDE
        orientation = Qt.Orientation.Vertical if is_below else Qt.Orientation.Horizontal
        if self.orientation() != orientation:
            self._dragged_height = 0
            self.setOrientation(orientation)
        self._legend.set_below(is_below)
        if is_below:
            whole = self.height()
            needed = self._dragged_height or min(
                self._legend.height_below(self.width()), round(whole * _MOST_LEGEND_BELOW)
            )
        else:
            whole = self.width()
            wanted = max(self._width, self._legend.least_width) if self._width else self._legend.whole_width
            needed = min(wanted, round(whole * _MOST_LEGEND_BESIDE))
        self.setSizes([whole - needed - self.handleWidth(), needed])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Places the legend again."""
        super().resizeEvent(event)
        self.place()

    def _on_moved(self) -> None:
        if self.orientation() is Qt.Orientation.Horizontal:
            self._width = self.sizes()[1]
            self.dragged.emit(self._width)
        else:
            self._dragged_height = self.sizes()[1]
