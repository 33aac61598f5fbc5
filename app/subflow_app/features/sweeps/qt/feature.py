"""Adds sweeps to the window: a panel for many runs of one scenario and their results, and the actions on them.

The panel starts empty, and its contents are loaded when it is first shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication

from subflow_app.foundation.paths import file_stem
from subflow_app.toolkit.action_bar import COMPLETE, VALID, WRITABLE, ActionSpec, Scope, possible
from subflow_app.toolkit.dialogs import CSV_FILTER
from subflow_app.toolkit.feature import FeatureHolder, SessionFeature
from subflow_app.vocabulary.language import tr, translatable

if TYPE_CHECKING:
    from subflow_app.features.sweeps.qt.new_dialog import SweepSuggestion
    from subflow_app.features.sweeps.qt.session import SweepPorts, SweepSession


SWEEP_BUTTONS = ("sweep.new", "sweep.toggle", "sweep.stop", "sweep.delete")
SWEEP_VIEW_BUTTONS = ("sweep.show_runs", "sweep.copy", "sweep.export_figure", "sweep.export_data", "sweep.page")
SWEEP_MENU = SWEEP_BUTTONS[1:]

_MOST_COMPARED = 500


class SweepFeature(SessionFeature["SweepSession"]):
    """The panel of sweeps and its actions."""

    panel_name = "sweeps"
    export_action = "sweep.export_figure"
    panel_object = "sweep_panel"
    title = translatable("Sweeps")

    def __init__(self, ports: SweepPorts) -> None:
        super().__init__()
        self.ports = ports
        self.suggests: Callable[[], SweepSuggestion | None] = lambda: None
        """Returns the suggestion of the current lesson for a new sweep; None if the lesson suggests nothing."""

    def make(self) -> SweepSession:
        """Creates the panel and the session."""
        # Imported late, because these modules load the readers of plans and scenarios, which most sessions never need.
        from subflow_app.features.sweeps.qt.panel import SweepPanel
        from subflow_app.features.sweeps.qt.session import SweepSession

        bar = self.ports.bar
        panel = SweepPanel(
            self.ports.workers,
            [bar[name] for name in SWEEP_BUTTONS],
            [bar[name] for name in SWEEP_VIEW_BUTTONS],
            bar["sweep.new"],
        )
        panel.menu_requested.connect(lambda at: bar.pop_up(SWEEP_MENU, at))
        return SweepSession(panel, self.ports, self)

    def runs_at_hand(self) -> list[int]:
        """Runs of the visible sweep: those of the selected points, or else the first `_MOST_COMPARED` of all runs."""
        if self.made is None or not self.panel.isVisible():
            return []
        page = self.made.panel.page
        every = [] if page.study is None else page.study.run_ids(range(len(page.study.points)))
        return page.run_ids() or every[:_MOST_COMPARED]

    # ---- called by actions ----

    def new(self) -> None:
        """Asks for a new sweep, starts it, and brings the panel to the front."""
        self.session.new(self.suggests())
        if self.session.is_busy:
            self.ports.workspaces.go_to(self.panel_name)

    def copy(self) -> None:
        """Copies the selected rows of the table, or else the whole table, to the clipboard."""
        QGuiApplication.clipboard().setText(self.session.panel.page.table.text())
        self.ports.tell(tr("The table is on the clipboard."))

    def export_figure(self) -> None:
        """Opens the dialog that exports the picture of the current view; no effect if the view is the table."""
        page = self.session.panel.page
        shown, study = page.shown, page.study
        panel = None if shown is None else page.chart(shown.choice.view).shown_panel()
        if panel is None or study is None:
            return
        from subflow_app.features.exporting.core.study_pages import write_sweep_page
        from subflow_app.features.exporting.core.web_page import is_offered
        from subflow_app.features.paper.core.exported_figure import ExportedFigure
        from subflow_app.features.paper.core.figure_plan import FigurePlan
        from subflow_app.features.sweeps.core.views.pictures import write_runs

        sweep_id, store = self.session.shown_sweep, self.ports.database.store
        has_page = sweep_id is not None and store is not None and is_offered()

        def write_page(path: Path) -> object:
            assert sweep_id is not None
            assert store is not None
            return write_sweep_page(store, sweep_id, path)

        figure = ExportedFigure(
            self._suggested(""),
            FigurePlan(panels=(panel,)),
            write_data=lambda path: write_runs(study, path),
            write_page=write_page if has_page else None,
        )
        self.ports.exports.export(figure)

    def export_data(self) -> None:
        """Writes all runs of the sweep, with their parameters and figures, as CSV."""
        from subflow_app.features.sweeps.core.views.pictures import write_runs

        study = self.session.panel.page.study
        if study is None:
            return
        exports = self.ports.exports
        path = exports.ask_path(tr("Export the data of the sweep"), tr(CSV_FILTER), self._suggested(".csv"))
        if path is not None:
            exports.write_later("export sweep", lambda: write_runs(study, path))

    def save_page(self) -> None:
        """Writes the sweep as a web page, in the background."""
        from subflow_app.features.exporting.core.study_pages import write_sweep_page

        sweep_id, store = self.session.shown_sweep, self.ports.database.store
        if sweep_id is not None and store is not None:
            self.ports.exports.ask_page(self._suggested(""), lambda path: write_sweep_page(store, sweep_id, path))

    def _suggested(self, suffix: str) -> str:
        study = self.session.panel.page.study
        return f"{file_stem(study.name if study is not None else 'sweep')}{suffix}"


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Entries of the Study menu for sweeps."""
    yield ActionSpec(
        "sweep.new",
        "&New sweep…",
        "Run the scenario with other values of its parameters and several seeds",
        "add",
        ("Ctrl+Shift+U",),
        lambda w, _: w.features[SweepFeature].new(),
        (COMPLETE, VALID, WRITABLE),
    )
    yield ActionSpec(
        "sweep.toggle",
        "&Pause or resume the run",
        "Pause the selected sweeps, resume them, or make the missing runs of interrupted ones",
        "pause",
        (),
        lambda w, _: w.features[SweepFeature].session.toggle(),
        (
            WRITABLE,
            possible("sweep.toggle", translatable("select a sweep that can be continued or paused")),
        ),
    )
    yield ActionSpec(
        "sweep.stop",
        "&Stop",
        "End the selected sweeps; finished runs are kept, and the others can be made later",
        "stop",
        (),
        lambda w, _: w.features[SweepFeature].session.stop(),
        (possible("sweep.stop", translatable("no selected sweep is running")),),
    )
    yield ActionSpec(
        "sweep.delete",
        "&Delete the sweep",
        "Remove the selected sweeps from the list; their runs stay in the history",
        "delete",
        ("Del",),
        lambda w, _: w.features[SweepFeature].session.delete(),
        (
            WRITABLE,
            possible("sweep.delete", translatable("select a sweep in the Sweeps panel that is not running")),
        ),
        Scope.SWEEPS,
    )
    yield ActionSpec(
        "sweep.show_runs",
        "Show the &runs",
        "Open the plots of the runs that were clicked in the view of a sweep",
        "plots",
        (),
        lambda w, _: w.features[SweepFeature].session.show_runs(),
        (possible("sweep.show_runs", translatable("click a point in the view of a sweep first")),),
    )
    yield ActionSpec(
        "sweep.copy",
        "&Copy the table",
        "Copy the selected rows of the table of a sweep, or all of them",
        "copy",
        ("Ctrl+C",),
        lambda w, _: w.features[SweepFeature].copy(),
        (possible("sweep.copy", translatable("show the table of a sweep in the Sweeps panel first")),),
        Scope.SWEEPS,
    )
    yield ActionSpec(
        "sweep.export_figure",
        "Export this &view…",
        "Write the view of the sweep as SVG, PDF or PNG",
        "export_figure",
        (),
        lambda w, _: w.features[SweepFeature].export_figure(),
        (possible("sweep.export_figure", translatable("show a sweep as a picture in the Sweeps panel first")),),
    )
    yield ActionSpec(
        "sweep.export_data",
        "Export the &data…",
        "Write every run of the sweep with its parameters and figures as CSV",
        "export_data",
        (),
        lambda w, _: w.features[SweepFeature].export_data(),
        (possible("sweep.export_data", translatable("select a sweep in the Sweeps panel that has results")),),
    )
    yield ActionSpec(
        "sweep.page",
        "Save as &web page…",
        "Write the sweep as a web page: its figures, and the run of each point, which any browser simulates again",
        "web_page",
        (),
        lambda w, _: w.features[SweepFeature].save_page(),
        (possible("sweep.page", translatable("select a sweep in the Sweeps panel that has results")),),
    )
