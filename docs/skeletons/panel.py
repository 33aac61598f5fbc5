"""How often each kind of event happened in the runs shown. Save as app/subflow_app/features/tally/qt/feature.py."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Protocol

from PySide6.QtWidgets import QTableView

from subflow_app.toolkit.feature import PanelFeature
from subflow_app.toolkit.widgets.tables import TableModel, set_up_table
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column

if TYPE_CHECKING:
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.features.running.qt.run_control import RunControl

_COLUMNS: tuple[Column[tuple[str, int]], ...] = (
    Column(translatable("What"), lambda row: row[0]),
    Column(translatable("How often"), lambda row: str(row[1]), is_number=True),
)


class TallyPorts(Protocol):
    """Parts of the window that this feature uses; the window passes itself."""

    plots: PlotView
    runs: RunControl


class TallyFeature(PanelFeature[QTableView]):
    """A feature makes its panel with the window, and fills the panel when it is first shown."""

    panel_name = "tally"
    title = translatable("Tally")
    room = (240, 120)  # px

    def __init__(self, ports: TallyPorts) -> None:
        """An empty panel."""
        super().__init__()
        self.ports = ports
        self.model: TableModel[tuple[str, int]] = TableModel(_COLUMNS, self)

    def make(self) -> QTableView:
        """The table."""
        return set_up_table(QTableView(), "tally_table", tr("How often each event happened"), self.model)

    def on_made(self) -> None:
        """Follows the plots."""
        self.ports.plots.runs_changed.connect(self._count)
        self.ports.runs.ended.connect(lambda _job, _result: self._count())
        self._count()

    def _count(self) -> None:
        kinds = Counter(mark.kind for traces in self.ports.plots.runs for mark in traces.marks())
        self.model.show_rows(kinds.most_common())
