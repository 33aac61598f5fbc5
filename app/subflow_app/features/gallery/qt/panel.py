"""Panel of the gallery, with a list of papers and experiments on the left, and a page for one experiment on the right.

The page of an experiment contains its figure, the claim of the paper, the verdicts, the paper's numbers next to ours,
and the reasons for differences. The process that draws figures for papers also draws this figure, in the size and theme
of the window. Tables wrap long texts and adapt the heights of their rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QPlainTextEdit,
    QSizePolicy,
    QSplitter,
    QStackedLayout,
    QTableView,
    QTabWidget,
    QTreeView,
    QWidget,
)

from subflow_app.features.gallery.core.exhibits import Exhibit
from subflow_app.features.gallery.core.recipe import SOURCES, AgentColumn, rulings
from subflow_app.features.gallery.core.report_tables import (
    published_table,
    rulings_table,
    settings_table,
    trial_table,
    verdict_table,
)
from subflow_app.features.gallery.core.reproduction import QueuedState, left_s
from subflow_app.features.gallery.qt.cards import (
    EXHIBIT_ROLE,
    CardDelegate,
    ExperimentModel,
    agents_text,
    cause_text,
    counts_text,
    state_text,
    takes_text,
    verdict_text,
)
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import CELL_PADDING, muted, set_style
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.list_beside import ListBeside, action_buttons
from subflow_app.toolkit.widgets.shorthand import Label, h_box, heading, named, split, v_box
from subflow_app.toolkit.widgets.tables import TextTableModel, set_up_table
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.tables import TextTable


class FigureView(Label):
    """Shows a picture as large as possible. The signal `resized` requests a picture for a new size."""

    resized = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Create an empty view."""
        super().__init__(parent)
        self.setObjectName("gallery_figure")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setMinimumSize(QSize(240, 140))
        # The size of the view must not depend on the picture.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setWordWrap(True)
        self.content = QPixmap()  # the picture before scaling

    def show_picture(self, content: bytes, words: str) -> None:
        """Show a PNG; ``words`` describe it for screen readers."""
        self.content = QPixmap()
        self.content.loadFromData(content)
        self.setAccessibleName(tr("Figure"))
        self.setAccessibleDescription(words)
        self._fit()

    def show_words(self, text: str) -> None:
        """Show text in place of a figure."""
        self.content = QPixmap()
        self.setText(text)
        self.setAccessibleName(tr("Figure"))
        self.setAccessibleDescription(text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Scale the picture, and request a sharper one."""
        super().resizeEvent(event)
        self._fit()
        self.resized.emit()

    def _fit(self) -> None:
        if self.content.isNull():
            return
        ratio = self.devicePixelRatioF()
        scaled = self.content.scaled(
            self.size() * ratio, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        )
        scaled.setDevicePixelRatio(ratio)
        self.setPixmap(scaled)


_MOST_SHARE = 0.4  # maximum share of the table's width for one column


class _WrappedTable(TextTableModel):
    """Table model with cells aligned at the top, so that cells of several lines begin at the same height."""

    translates = True
    aligns_headings = False
    left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop


class TextTableView(QTableView):
    """A table that adapts the heights of rows to the available width."""

    def __init__(self, name: str, text: str, parent: QWidget | None = None) -> None:
        """Create an empty table with this object name and accessible name."""
        super().__init__(parent)
        self.text_model = _WrappedTable(self)
        self.setModel(self.text_model)
        set_up_table(self, name, text)
        self.setWordWrap(True)
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.horizontalHeader().sectionResized.connect(lambda *_sizes: self.resizeRowsToContents())

    def show_table(self, table: TextTable) -> None:
        """Replace the shown table."""
        self.text_model.show_table(table)
        self._share_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Distribute the new width over the columns."""
        super().resizeEvent(event)
        self._share_out()

    def _share_out(self) -> None:
        """Make each column as wide as its texts; columns with long texts share the remaining width."""
        columns = self.text_model.columnCount()
        if not columns:
            return
        header = self.horizontalHeader()
        # A stretched last section would take width from the columns before it.
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        # The size hint of the view measures cells that are already wrapped, so the texts are measured here.
        rows, width_of = self.text_model.table.rows, self.fontMetrics().horizontalAdvance
        needed = [
            max([header.sectionSizeHint(column), *(width_of(row[column]) + 2 * CELL_PADDING for row in rows)]) + 12
            for column in range(columns)
        ]
        room = self.viewport().width()
        if sum(needed) > room:
            fair = room // columns
            spare = room - sum(width for width in needed if width <= fair)
            # One long cell must not reduce the other columns to a word per line.
            most = round(_MOST_SHARE * room)
            long = sum(min(width, most) for width in needed if width > fair)
            needed = [width if width <= fair else max(80, spare * min(width, most) // long) for width in needed]
        for column, width in enumerate(needed):
            header.resizeSection(column, width)
        self.resizeRowsToContents()


_FIGURE_SHARE = (7, 3)


class ExperimentPage(QWidget):
    """Shows an :class:`Exhibit`; actions of the window operate on it."""

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        """Create an empty page; ``actions`` become buttons next to the title."""
        super().__init__(parent)
        named(self, "gallery_page", tr("Experiment"))
        self.exhibit: Exhibit | None = None  # the experiment on the page
        self.title = heading(named(Label(self, wordWrap=True), "gallery_title"), 1.15)
        self.claim = named(Label(self, wordWrap=True), "gallery_claim")
        self.claim.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.state = named(muted(Label(self, wordWrap=True)), "gallery_state")
        top = h_box(None, (self.title, 1), h_box(None, *action_buttons(actions), spacing=2))
        self.figure = FigureView(self)
        self.verdicts = TextTableView("gallery_verdicts", tr("Verdicts"))
        self.published = TextTableView("gallery_published", tr("Printed in the paper, and ours"))
        self.rulings = TextTableView("gallery_rulings", tr("How the paper is read"))
        self.settings = TextTableView("gallery_settings", tr("Settings"))
        self.why = named(QPlainTextEdit(self, readOnly=True), "gallery_why", tr("Differences and their causes"))
        self.why.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.why.setTabChangesFocus(True)
        self.trials = TextTableView("gallery_trials", tr("Causes of failed checks"))
        self.tabs = named(QTabWidget(self, documentMode=True), "gallery_tabs", tr("Experiment"))
        self.tabs.addTab(self.verdicts, tr("Verdicts"))
        self.tabs.addTab(self.trials, tr("Causes"))
        self.tabs.addTab(self.published, tr("Beside the paper"))
        self.tabs.addTab(self.why, tr("Why it differs"))
        self.tabs.addTab(self.rulings, tr("How the paper is read"))
        self.tabs.addTab(self.settings, tr("Settings"))
        sizes = [100 * share for share in _FIGURE_SHARE]
        parts = QSplitter(Qt.Orientation.Vertical, self)
        splitter = split(parts, self.figure, self.tabs, shares=_FIGURE_SHARE, sizes=sizes)
        v_box(self, top, self.claim, self.state, (splitter, 1), margins=(10, 6, 6, 4), spacing=4)

    def show_exhibit(self, exhibit: Exhibit, queued: QueuedState | None) -> None:
        """Show an experiment or its new state; the session provides the picture later."""
        is_other = self.exhibit is None or self.exhibit.name != exhibit.name
        self.exhibit = exhibit
        recipe, results = exhibit.recipe, exhibit.results
        self.show_queued(queued)
        if recipe is None:
            self.title.setText(exhibit.name)
            self.claim.clear()
            self.figure.show_words(exhibit.problem)
            return
        figure = recipe.figure if not recipe.figure[:1].isdecimal() else tr("figure {figure}", figure=recipe.figure)
        self.title.setText(f"{SOURCES[recipe.paper]}, {figure}: {recipe.title}")
        self.claim.setText(tr("The paper: {claim}", claim=recipe.claim))
        if is_other or exhibit.figure is None:
            is_coming = exhibit.figure is not None or not exhibit.is_drawn
            self.figure.show_words(tr("Drawing…") if is_coming else self._will_show(exhibit))
        lines = [recipe.disagrees] if recipe.disagrees else []
        lines += [tr("Not measured: {reason}", reason=reason) for reason in exhibit.missing] if results else []
        self.why.setPlainText("\n\n".join(lines) or tr("Nothing is known to differ."))
        register = rulings()
        self.rulings.show_table(rulings_table([register[name] for name in recipe.rulings]))
        if results is None:
            for table in (self.verdicts, self.trials, self.published, self.settings):
                table.show_table(replace(table.text_model.table, rows=()))
            return
        told = verdict_table(results)
        rows = tuple(
            (row[0], verdict_text(verdict.kind), *row[2:4], cause_text(verdict), *row[5:])
            for row, verdict in zip(told.rows, exhibit.verdicts, strict=True)
        )
        self.verdicts.show_table(replace(told, rows=rows))
        self.trials.show_table(trial_table(results))
        self.published.show_table(published_table(results))
        self.settings.show_table(settings_table(results))

    def show_queued(self, queued: QueuedState | None) -> None:
        """Show the state in the queue; None for an experiment outside the queue."""
        if self.exhibit is not None:
            told = [
                agents_text(self.exhibit),
                state_text(self.exhibit, queued),
                counts_text(self.exhibit.counts),
                takes_text(self.exhibit),
            ]
            self.state.setText(" · ".join(text for text in told if text))

    def _will_show(self, exhibit: Exhibit) -> str:
        """Description of the figure that a run would produce."""
        assert exhibit.recipe is not None
        if exhibit.problem:
            return exhibit.problem
        recipe = exhibit.recipe
        labels = [recipe.measures[name].label for panel in recipe.panels for name in panel.measures]
        measures = ", ".join(dict.fromkeys(labels))
        series = ", ".join(recipe.series)
        if recipe.axis.is_single:
            text = tr("A run will draw here: {measures} of {series}.", measures=measures, series=series)
        else:
            text = tr(
                "A run will draw here: {measures} of {series} against {axis}.",
                measures=measures,
                series=series,
                axis=recipe.axis.label,
            )
        return f"{tr('Not run yet.')} {text}"


def _reading() -> tuple[str, str]:
    """Title and text while experiments are read."""
    return (
        tr("Reading the experiments…"),
        tr("The results of five papers, run here and compared with the printed ones."),
    )


_LIST_WIDTHS = (460, 0.38, 220)


# Text width of the message shown without experiments, px. A larger width would widen the whole column of panels.
_NARROW = 180


class GalleryPanel(QWidget):
    """Shows experiments; actions and signals carry the user's requests."""

    selection_changed = Signal()
    column_changed = Signal(object)  # AgentColumn
    menu_requested = Signal(QPoint)  # position on the screen

    def __init__(
        self, actions: Sequence[QAction], page_actions: Sequence[QAction], parent: QWidget | None = None
    ) -> None:
        """Start without experiments; ``actions`` become buttons above the list, ``page_actions`` next to the title."""
        super().__init__(parent)
        self.model = ExperimentModel(self)
        self.page = ExperimentPage(page_actions, self)
        self.tree = named(QTreeView(self, headerHidden=True), "gallery_list", tr("Experiments by paper"))
        self.tree.setModel(self.model)
        self.tree.setItemDelegate(CardDelegate(self))
        set_style(self.tree, lambda t: f"QTreeView {{ background: {t.base}; border: none; }}")
        self.tree.setIndentation(14)
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.tree.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.tree.setExpandsOnDoubleClick(False)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.customContextMenuRequested.connect(
            lambda at: self.menu_requested.emit(self.tree.viewport().mapToGlobal(at))
        )
        self.tree.activated.connect(lambda _index: self.page.figure.setFocus())
        self.tree.selectionModel().selectionChanged.connect(lambda _new, _old: self.selection_changed.emit())
        self._nothing = EmptyState("gallery", *_reading(), text_width=_NARROW)
        self.column = named(QComboBox(self), "gallery_agents", tr("Agents of the experiments"))
        self.column.addItem(tr("Agents as printed"), AgentColumn.PRINTED.value)
        self.column.addItem(tr("Agents with wider training"), AgentColumn.WIDE.value)
        self.column.setToolTip(
            tr(
                "The agents learned and act as their papers print it, or they have policies with wider training. "
                "Their results and checks are kept apart."
            )
        )
        self.column.currentIndexChanged.connect(lambda _index: self.column_changed.emit(self._chosen_column))
        rows = QWidget(self)
        v_box(rows, h_box(None, (self.column, 1), margins=(6, 0, 6, 4)), (self.tree, 1), margins=0, spacing=0)
        right = QWidget(self)
        self._stack = QStackedLayout(right)
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(self.page)
        self._list = ListBeside("gallery", rows, right, actions, _LIST_WIDTHS)
        self._list.bar.setAccessibleName(tr("Progress of the experiments"))
        v_box(self, self._list, margins=0)
        self.setFocusProxy(self.tree)
        self._shown = ""  # name of the recipe on the page

    def show_exhibits(self, exhibits: Sequence[Exhibit]) -> None:
        """Show these experiments.

        The current experiment remains selected, also in another column of agents; without one, the first is selected.
        """
        chosen = self.current()
        self.model.show_exhibits(exhibits)
        self.tree.expandAll()
        if exhibits:
            ordered = self.model.exhibits()
            is_same = (each for each in ordered if chosen is not None and each.name == chosen.name)
            is_alike = (each for each in ordered if each.recipe is not None and each.recipe.name == self._shown)
            self.choose([next(is_same, next(is_alike, ordered[0])).name])
        elif self._chosen_column is AgentColumn.WIDE:
            text = tr("No agent of these experiments has a policy with wider training.")
            self._show_nothing(tr("No experiments"), text)
        else:
            self._show_nothing(tr("No experiments"), tr("The folder of experiments has no recipes."))

    @property
    def _chosen_column(self) -> AgentColumn:
        return AgentColumn(self.column.currentData())

    def show_reading(self) -> None:
        """Show no experiment while those of another column of agents are read."""
        self.model.show_exhibits(())
        self._show_nothing(*_reading())

    def _show_nothing(self, title: str, text: str) -> None:
        self.page.exhibit = None
        self._nothing.set_text(title, text)
        self._stack.setCurrentWidget(self._nothing)

    def choose(self, names: Sequence[str]) -> None:
        """Select only these experiments; the first becomes the current experiment."""
        found = [index for index in map(self.model.index_of, names) if index.isValid()]
        chosen = QItemSelection()
        for index in found:
            chosen.select(index, index)
        selection = self.tree.selectionModel()
        if found:
            selection.setCurrentIndex(found[0], QItemSelectionModel.SelectionFlag.NoUpdate)
            self.tree.scrollTo(found[0])
        # One selection change, because each change draws a page.
        selection.select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def choose_paper(self, row: int) -> None:
        """Select the heading of a paper, which selects all experiments of the paper."""
        index = self.model.index(row, 0)
        self.tree.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def current(self) -> Exhibit | None:
        """The current experiment, or the first of the current paper; None if no row is current."""
        found = self.model.under(self.tree.currentIndex())
        return found[0] if found else None

    def in_sight(self) -> list[str]:
        """Names of the experiments whose cards are visible, from the top."""
        found = []
        index, bottom = self.tree.indexAt(QPoint(0, 0)), self.tree.viewport().height()
        while index.isValid() and self.tree.visualRect(index).top() < bottom:
            exhibit = index.data(EXHIBIT_ROLE)
            if exhibit is not None:
                found.append(exhibit.name)
            index = self.tree.indexBelow(index)
        return found

    def selected(self) -> list[Exhibit]:
        """All selected experiments, including those of selected papers, without duplicates."""
        rows = self.tree.selectionModel().selectedRows()
        found = {exhibit.name: exhibit for index in rows for exhibit in self.model.under(index)}
        return [exhibit for exhibit in self.model.exhibits() if exhibit.name in found]

    def show_page(self, exhibit: Exhibit, queued: QueuedState | None) -> None:
        """Show an experiment on the page."""
        self._shown = "" if exhibit.recipe is None else exhibit.recipe.name
        self.page.show_exhibit(exhibit, queued)
        self._stack.setCurrentWidget(self.page)

    def show_queue(self, states: Mapping[str, QueuedState]) -> None:
        """Show the states of queued experiments, and the remaining time."""
        self.model.show_queue(states)
        going = [state for state in states.values() if not state.is_over]
        exhibit = self.page.exhibit
        if exhibit is not None:
            self.page.show_queued(states.get(exhibit.name))
        if not going:
            self._list.show_progress(0.0, "")
            return
        total = len(states)
        ended = total - len(going)
        text = tr("{done} of {total} experiments", done=fmt.count(ended), total=fmt.count(total))
        eta_s = left_s(going)
        if math.isfinite(eta_s) and eta_s > 0:
            text = tr("{done}, {time} left", done=text, time=fmt.duration(eta_s))
        self._list.show_progress((ended + sum(state.fraction for state in going)) / total, text)
