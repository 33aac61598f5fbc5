"""How often each kind of event happened in the runs shown. Save as app/subflow_app/qt/tally_feature.py."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QTableView

from subflow_app.qt.feature import Feature
from subflow_app.qt.models.table_model import TableModel
from subflow_app.qt.widgets.lazy_panel import LazyPanel
from subflow_app.qt.widgets.tables import set_up_table
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column

if TYPE_CHECKING:
    from subflow_app.qt.main_window import MainWindow

_ROOM = (240, 120)  # px
_COLUMNS: tuple[Column[tuple[str, int]], ...] = (
    Column(translatable("What"), lambda row: row[0]),
    Column(translatable("How often"), lambda row: str(row[1]), is_number=True),
)


class TallyFeature(Feature):
    """A feature makes its panel with the window, and fills it when somebody first looks at it."""

    panel_name = "tally"

    def __init__(self, window: MainWindow) -> None:
        """An empty panel."""
        super().__init__(window)
        self.panel: LazyPanel = LazyPanel("tally_panel", tr("Tally"), room=_ROOM)
        self.model: TableModel[tuple[str, int]] = TableModel(_COLUMNS, self)

    def connect_parts(self) -> None:
        """Called when all parts of the window exist: the panel follows the plots."""
        self.panel.woken.connect(self._fill)

    def _fill(self) -> None:
        self.panel.put_in(set_up_table(QTableView(), "tally_table", tr("How often each event happened"), self.model))
        self.window.plots.runs_changed.connect(self._count)
        self.window.runs.ended.connect(lambda _job, _result: self._count())
        self._count()

    def _count(self) -> None:
        kinds = Counter(mark.kind for traces in self.window.plots.runs for mark in traces.marks())
        self.model.show_rows(kinds.most_common())
