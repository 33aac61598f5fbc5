"""The versions of a script that there are runs of, with what came of them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractItemView, QStackedWidget, QTableView, QWidget

from subflow_app.features.history.core.script_versions import ScriptVersion
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.models.table_model import TableModel, bold
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.action_buttons import action_buttons
from subflow_app.toolkit.widgets.shorthand import h_box, heading, v_box
from subflow_app.toolkit.widgets.tables import set_up_table
from subflow_app.vocabulary.language import tr, translatable, trn
from subflow_app.vocabulary.measure import Measure
from subflow_app.vocabulary.measures import MEASURES, headline_measures
from subflow_app.vocabulary.tables import Column, NumberColumn


def _columns(versions: Sequence[ScriptVersion]) -> list[Column[ScriptVersion]]:
    """The columns of these versions: the measures that the flows with the script show first, RTT and loss."""
    flows = [flow for version in versions for flow in version.flows]
    return [
        NumberColumn(translatable("Version"), lambda each: each.number, widest="12"),
        NumberColumn(translatable("Run"), lambda each: each.run.id, widest="1234"),
        *(_column(each) for each in (*headline_measures(flows), MEASURES["mean_rtt_s"], MEASURES["loss_ratio"])),
        Column(translatable("Started"), lambda each: each.run.started_at, fmt.moment, widest="28 Nov 2026 09:12"),
    ]


def _column(shown: Measure) -> Column[ScriptVersion]:
    widest = "Goodput, Mbit/s" if shown.unit == "Mbit/s" else "12.345"
    return NumberColumn(
        shown.heading,
        lambda each: each.figure(shown),
        shown.text,
        shown.unit,
        widest=widest,
        tip=shown.definition,
    )


class VersionModel(TableModel[ScriptVersion]):
    """The version that is in the editor stands in bold."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_columns(()), parent, tip=_tip)
        self.current = ""

    def other_data(self, row: ScriptVersion, column: int, role: int) -> object | None:
        if role == Qt.ItemDataRole.FontRole and row.text == self.current:
            return bold()
        return None


class VersionList(QWidget):
    """A row for each, the latest at the top."""

    selection_changed = Signal()
    opened = Signal(object)  # ScriptVersion, whose run is to be shown

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        """No versions yet, and a button for each action."""
        super().__init__(parent)
        self.setObjectName("script_versions")
        self.model = VersionModel(self)
        self.table = set_up_table(
            QTableView(self), "script_version_table", tr("Versions of the script with their results"), self.model
        )
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.selectionModel().selectionChanged.connect(self.selection_changed)
        self.table.activated.connect(lambda index: self.opened.emit(self.model.row_at(index.row())))
        none = muted(Label(tr("Each run of this script is kept with its text, and listed here."), self, wordWrap=True))
        none.setContentsMargins(8, 4, 8, 4)
        none.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(none)
        self._pages.addWidget(self.table)
        title = heading(Label(tr("Versions"), self), is_demi=True)
        v_box(
            self, h_box(None, (title, 1), *action_buttons(actions), margins=(8, 2, 6, 0)), (self._pages, 1), margins=0
        )
        self.setFocusProxy(self.table)

    @property
    def versions(self) -> Sequence[ScriptVersion]:
        """Those that are listed."""
        return self.model.rows

    @property
    def selected(self) -> tuple[ScriptVersion, ...]:
        """Those that are selected, from top to bottom."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        return tuple(self.model.row_at(row) for row in rows)

    def show_versions(self, versions: Sequence[ScriptVersion], current: str) -> None:
        """Lists these; what is selected stays so. ``current`` is the text in the editor."""
        selected = {each.text for each in self.selected}
        self.model.current = current
        self.model.show_rows(tuple(versions), _columns(versions))
        self._pages.setCurrentIndex(1 if versions else 0)
        flags = QItemSelectionModel.SelectionFlag
        for row, version in enumerate(versions):
            if version.text in selected:
                self.table.selectionModel().select(self.model.index(row, 0), flags.Select | flags.Rows)
        self.selection_changed.emit()

    def show_current(self, text: str) -> None:
        """Notes what is in the editor now."""
        if text != self.model.current:
            self.model.current = text
            self.model.say_changed()


def _tip(version: ScriptVersion) -> str:
    runs = trn("{count} run", "{count} runs", version.count)
    return tr("Version {number}, {runs}; the latest: {name}", number=version.number, runs=runs, name=version.run.name)
