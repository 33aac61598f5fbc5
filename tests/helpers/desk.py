"""A desk: those parts of a window that some features use, without the window, for tests of these features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from PySide6.QtCore import QByteArray, QObject, Qt, Signal
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QMainWindow, QSplitter, QToolBar, QWidget
from pytestqt.qtbot import QtBot
from tests.helpers.qt_fixtures import PATIENCE_MS
from tests.helpers.window import TWO_PATHS, ScriptedDialogs

from subflow_app.features.arena.qt import feature as arena
from subflow_app.features.breaking.qt import feature as breaking
from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.comparison.qt import feature as comparison
from subflow_app.features.crashes.qt import feature as crashes
from subflow_app.features.editor.qt import actions as editing
from subflow_app.features.editor.qt.documents import Documents
from subflow_app.features.editor.qt.inspector.inspector import Inspector
from subflow_app.features.editor.qt.recovery import Recovery
from subflow_app.features.editor.qt.topology.drawing import Drawing
from subflow_app.features.editor.qt.topology.view import TopologyView
from subflow_app.features.emulation.qt import feature as emulation
from subflow_app.features.explain.qt import feature as explain
from subflow_app.features.exporting.qt import actions as exporting
from subflow_app.features.exporting.qt.export_dialog import DATA, PAGE, FigureDialog, Format
from subflow_app.features.exporting.qt.exporting import Exports, RunExports
from subflow_app.features.exporting.qt.topology_files import TopologyFiles
from subflow_app.features.fairness.qt import feature as fairness
from subflow_app.features.forking.qt import feature as forking
from subflow_app.features.gallery.qt import feature as gallery
from subflow_app.features.guide import qt as guide
from subflow_app.features.history.qt import History
from subflow_app.features.importing.qt import feature as importing
from subflow_app.features.kernel.qt import feature as kernel
from subflow_app.features.labs.qt import feature as labs
from subflow_app.features.paper.qt.reporting import Reports
from subflow_app.features.playhead.qt import feature as playhead
from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.features.running.qt import queue
from subflow_app.features.running.qt.live_panel import LivePanel, beside_inspector
from subflow_app.features.running.qt.run_control import RunControl
from subflow_app.features.running.qt.run_session import RunSession, Stepping
from subflow_app.features.running.qt.run_status import RunStatus
from subflow_app.features.running.qt.shown_runs import CurveFinder, RunOpening, ShownRuns
from subflow_app.features.running.qt.unsaved_runs import UnsavedRuns
from subflow_app.features.script.qt import feature as script
from subflow_app.features.sweeps.qt import feature as sweeps
from subflow_app.features.training.qt import agent_feature
from subflow_app.features.training.qt import session as training
from subflow_app.foundation.problem_texts import error_text
from subflow_app.foundation.settings import Settings
from subflow_app.shell.actions.run import run_rows
from subflow_app.shell.features import Features
from subflow_app.toolkit.action_bar import ActionBar, ActionSpec, Scope, WindowState
from subflow_app.toolkit.database import DatabaseControl, DatabaseWatch
from subflow_app.toolkit.dialogs import Dialogs
from subflow_app.toolkit.docks import Docks
from subflow_app.toolkit.feature import Feature
from subflow_app.toolkit.notices import Notices
from subflow_app.toolkit.preferences import Preferences
from subflow_app.toolkit.widgets.banner import Banners
from subflow_app.toolkit.widgets.shorthand import v_box
from subflow_app.toolkit.workers import Workers
from subflow_app.toolkit.workspaces import DEFAULT_WORKSPACE, Workspaces
from subflow_store import Store

Rows = Callable[[], Iterable[ActionSpec[Any]]]

ROWS: Mapping[object, Rows] = {
    # The menus of the canvas contain actions on runs, forks and exports as well.
    Drawing: lambda: chain(editing.rows(), run_rows(), forking.rows(), exporting.rows()),
    arena.ArenaFeature: arena.rows,
    breaking.BreakFeature: breaking.rows,
    comparison.CompareFeature: lambda: chain(comparison.compare_rows(), comparison.kernel_rows()),
    crashes.CrashFeature: crashes.rows,
    emulation.EmulationFeature: emulation.rows,
    explain.ExplainFeature: explain.rows,
    fairness.FairnessFeature: fairness.rows,
    forking.ForkFeature: forking.rows,
    gallery.GalleryFeature: gallery.rows,
    guide.GuideFeature: guide.rows,
    importing.ImportFeature: importing.rows,
    kernel.KernelFeature: kernel.rows,
    labs.LabFeature: labs.rows,
    playhead.PlayheadFeature: playhead.rows,
    queue.QueueSession: queue.rows,
    script.ScriptFeature: script.rows,
    sweeps.SweepFeature: sweeps.rows,
    agent_feature.AgentFeature: agent_feature.rows,
    training.TrainingSession: training.rows,
}
"""The actions of features by their class."""

PARTS = ("topology", "inspector", "history", "help")
"""Panels that are parts of the desk itself, made on first use."""

SCOPES = {
    Scope.TRAINING: "train",
    Scope.QUEUE: "queue",
    Scope.SWEEPS: "sweeps",
    Scope.SCRIPT: "script",
    Scope.COMPARE: "compare",
}
"""Panels of features in which shortcuts work."""


T = TypeVar("T")


def made_when_asked_for(make: Callable[[Any], T]) -> T:
    """A lazily made part of a desk, typed as a variable: ports name variables, and a property does not count as one."""
    return cast(T, cached_property(make))


class DeskDocks(Docks):
    """Shows the panels of a desk; for other panels it only records which are open, and which is in front."""

    def __init__(self, desk: QObject) -> None:
        """Works without the docking library, which requires a complete window: panels of features begin closed."""
        QObject.__init__(self, desk)
        self._desk = desk
        self._contents: dict[str, QWidget] = {}
        self._opened = {"topology", "inspector", "history"}
        self._front = "plots"

    def put(self, name: str, content: QWidget) -> None:
        """Gives a panel its content, which is shown while the panel is open."""
        self._contents[name] = content
        content.setVisible(self.is_open(name))

    def is_open(self, name: str) -> bool:
        return name in self._opened

    def set_open(self, name: str, is_open: bool) -> None:
        was_open = self.is_open(name)
        (self._opened.add if is_open else self._opened.discard)(name)
        if name in self._contents:
            self._contents[name].setVisible(is_open)
        if is_open:
            self._front = name
        if is_open != was_open:
            self.visibility_changed.emit(name, is_open)

    def close_panel(self, name: str) -> None:
        self.set_open(name, False)

    def go_to(self, name: str) -> None:
        if name in self._contents or name in PARTS:
            super().go_to(name)
        else:
            self.set_open(name, True)

    def raise_panel(self, name: str) -> None:
        if name == "plots" or self.is_open(name):
            self._front = name

    def front_of(self, name: str) -> str:
        """The panel shown last, because all share one place."""
        return self._front

    def content(self, name: str) -> QWidget:
        if name in PARTS:
            getattr(self._desk, name)
        return self._contents[name]

    def tab(self, name: str) -> QWidget:
        """The panel itself: no widget covers it, and it has no tab."""
        return self.content(name)

    def contains(self, name: str, widget: QWidget) -> bool:
        return name in self._contents and self._contents[name].isAncestorOf(widget)


class DeskWorkspaces(Workspaces):
    """Records the current workspace; all workspaces have room for every panel."""

    def __init__(self, docks: Docks, desk: QObject) -> None:
        """Begins with the default workspace."""
        QObject.__init__(self, desk)
        self._docks = docks
        self.current = self.previous = DEFAULT_WORKSPACE
        self._before = []

    def visit(self, panel: str) -> None:
        self._before.append((self.current, QByteArray()))
        self._docks.go_to(panel)
        self.visited.emit()

    def go_back(self) -> None:
        self._before.pop()
        self._docks.raise_panel("plots")
        self.visited.emit()

    def show(self, name: str) -> None:
        self.previous, self.current = self.current, name
        self.changed.emit(name)

    def enter(self, name: str) -> None:
        self.show(name)

    def go_to(self, panel: str) -> None:
        self._docks.go_to(panel)


class Desk(QMainWindow):
    """Some features, and the parts of a window that they use: each part is made on first use.

    Parts are connected as in the main window, as far as features depend on the connections.
    """

    loaded = Signal()

    def __init__(
        self,
        folder: Path,
        dialogs: ScriptedDialogs,
        kinds: Sequence[Callable[[Desk], Feature]],
        actions: Iterable[ActionSpec[Any]],
        qtbot: QtBot,
    ) -> None:
        """Makes a desk with the scenario `TWO_PATHS`, runs at full speed, and no database yet.

        Args:
            folder: for settings, database and unsaved changes.
            dialogs: scripted answers.
            kinds: the features, in the order of the main window.
            actions: further actions, e.g. of the main window.
            qtbot: used to wait.
        """
        super().__init__()
        self.qtbot = qtbot
        self._folder = folder
        self.resize(1400, 900)
        self.workers = Workers(self)
        self.workers.failed.connect(self.tell_failure)
        self.dialogs: Dialogs = dialogs
        self.closes_unasked = False
        self.desk_maker: training.DeskMaker = training.open_desk
        self.document_stack = QUndoStack(self)
        self.history_stack = QUndoStack(self)
        self.banners = Banners()
        self.notices = Notices(self.banners)
        self.preferences = Preferences(folder / "settings.json", self)
        self.preferences.settings = Settings(database=str(folder / "runs.db"))
        self.documents = Documents(self.document_stack, self.preferences, dialogs, self.notices, self)
        self.documents.open_text(TWO_PATHS, "two-paths")
        self.database = DatabaseControl(self.workers, dialogs, self.notices, self)
        self.runs = RunControl(self.workers, self)
        self._panels = DeskDocks(self)
        self.docks: Docks = self._panels
        self.workspaces: Workspaces = DeskWorkspaces(self.docks, self)
        # Plots above and all panels below, so that the width of the plots depends on no panel.
        self._rows = QSplitter(Qt.Orientation.Vertical)
        self._parts = QSplitter(Qt.Orientation.Horizontal)
        self._rows.addWidget(self._parts)
        own = (row for kind in kinds if kind in ROWS for row in ROWS[kind]())
        rows = list({row.id: row for row in chain(own, actions)}.values())
        self.bar = ActionBar(self, rows, self.tell_failure)
        self.features = Features(self, kinds)
        for name, panel in self.features.panels().items():
            self._put(name, panel)
        middle = QWidget()
        v_box(middle, (self._rows, 1), *self.features.strips(), margins=0, spacing=0)
        self.banners.setParent(middle)
        self.banners.lie_over(self._rows, self._rows.geometry, self._rows)
        self.setCentralWidget(middle)
        self.bar.place({row.scope: self._place_of(row.scope) for row in rows if row.scope is not Scope.WINDOW})
        self.features.connect_parts()
        for feature in self.features:
            feature.changed.connect(self.update_actions)
        for change in (self.documents.edited, self.documents.replaced, self.runs.state_changed, self.database.opened):
            change.connect(self.update_actions)
        self.update_actions()

    def _put(self, name: str, content: QWidget) -> None:
        self._parts.addWidget(content)
        self._panels.put(name, content)

    def _place_of(self, scope: Scope) -> QWidget:
        match scope:
            case Scope.PLOTS:
                return self.plots
            case Scope.HISTORY:
                return self.history.table
            case Scope.TOPOLOGY:
                return self.topology.canvas
            case _:
                return self._panels.content(SCOPES[scope])

    # ---- parts made on first use ----

    def _make_topology(self) -> TopologyView:
        made = TopologyView(self.documents.doc, self.document_stack)
        self.documents.replaced.connect(made.set_document)
        made.edit_refused.connect(self.notices.action_failed)
        made.arranging.use_workers(self.workers)
        for change in (made.chosen_changed, made.lock_changed, made.arranging.changed):
            change.connect(self.update_actions)
        self._put("topology", made)
        return made

    topology = made_when_asked_for(_make_topology)

    def _make_inspector(self) -> Inspector:
        made = Inspector(self.documents.doc, self.document_stack, app_catalog())
        self.documents.replaced.connect(made.set_document)
        self.documents.settling.connect(made.commit_pending)
        made.key_changed.connect(self.topology.select)
        self.topology.selection_changed.connect(made.show_key)
        self._put("inspector", made)
        return made

    inspector = made_when_asked_for(_make_inspector)

    def _make_plots(self) -> PlotView:
        made = PlotView()
        self._rows.insertWidget(0, made)
        return made

    plots = made_when_asked_for(_make_plots)

    def _make_history(self) -> History:
        made = History(self.history_stack, self.dialogs, self.workers, self.preferences)
        made.reader.patience_ms = made.changes.patience_ms = PATIENCE_MS
        made.set_store(self.database.store)
        self.database.opened.connect(made.set_store)
        made.selection_changed.connect(self.update_actions)
        self._put("history", made)
        return made

    history = made_when_asked_for(_make_history)

    def _make_shown(self) -> ShownRuns:
        made = ShownRuns(self.plots, self.workers, self.tell_failure, self)
        made.patience_ms = PATIENCE_MS
        self.database.opened.connect(made.drop_stored)
        made.missed.connect(self.history.reload)
        made.changed.connect(lambda: self.history.set_shown(made.ids))
        made.changed.connect(self.update_actions)
        self.documents.replaced.connect(lambda doc: made.meet_scenario(doc.scenario, is_running=self.runs.is_running))
        return made

    shown = made_when_asked_for(_make_shown)

    def _make_help(self) -> guide.HelpPanel:
        made = guide.HelpPanel()
        self._put("help", made)
        return made

    help = made_when_asked_for(_make_help)

    def _make_toolbar(self) -> QToolBar:
        return self.addToolBar("")

    toolbar = made_when_asked_for(_make_toolbar)

    opening = made_when_asked_for(lambda desk: RunOpening(desk.history, desk.database, desk.shown, desk.documents))

    def _make_unsaved(self) -> UnsavedRuns:
        made = UnsavedRuns(self.workers, self.dialogs, self)
        made.exported.connect(self.notices.exported)
        return made

    unsaved = made_when_asked_for(_make_unsaved)

    run_status = made_when_asked_for(lambda desk: RunStatus(desk))

    def _make_session(self) -> RunSession:
        made = RunSession(self, self)
        made.stored.connect(self.history.reload)
        return made

    session = made_when_asked_for(_make_session)

    exports = made_when_asked_for(
        lambda desk: Exports(
            desk.plots,
            desk.shown,
            desk.database,
            desk.preferences,
            desk.workers,
            desk.dialogs,
            desk.notices,
            desk,
        )
    )

    def _make_run_exports(self) -> RunExports:
        made = RunExports(self.exports, self.database, self.workers, self.dialogs, self.tell, self)
        made.patience_ms = PATIENCE_MS
        return made

    run_exports = made_when_asked_for(_make_run_exports)

    def _make_reports(self) -> Reports:
        made = Reports(self.exports, self.database, self.workers, self.tell, self)
        made.patience_ms = PATIENCE_MS
        return made

    reports = made_when_asked_for(_make_reports)
    topology_files = made_when_asked_for(
        lambda desk: TopologyFiles(desk.documents, desk.dialogs, desk.banners, desk.exports)
    )

    stepping = made_when_asked_for(
        lambda desk: Stepping(desk.runs, desk.session, desk.documents, desk.preferences, desk.dialogs)
    )

    def _make_live(self) -> LivePanel:
        made = LivePanel()
        self.session.join_live(made, self.inspector)
        made.changed.connect(self.update_actions)
        self._put("inspector", beside_inspector(made, self.inspector))
        return made

    live = made_when_asked_for(_make_live)

    curve_finder = made_when_asked_for(
        lambda desk: CurveFinder(desk.plots, desk.shown, desk.history, desk.docks, desk.tell)
    )

    def _make_recovery(self) -> Recovery:
        made = Recovery(self.documents, self.preferences, self.banners, self.workers, self, self._folder / "recovery")
        made.failed.connect(self.notices.recovery_failed)
        return made

    recovery = made_when_asked_for(_make_recovery)

    def _make_database_watch(self) -> DatabaseWatch:
        made = DatabaseWatch(self.database, self.workers, self)
        made.changed.connect(self.history.refresh)
        return made

    database_watch = made_when_asked_for(_make_database_watch)

    # ---- methods of the window used by features and actions ----

    def toggle_run(self) -> None:
        """Runs the scenario, or pauses or resumes the run."""
        self.session.toggle()

    def set_speed_limit(self, limit: float | None) -> None:
        """Limits the speed of runs, in simulated seconds per second."""
        self.runs.set_speed_limit(limit)

    def set_decisions_recorded(self, is_on: bool) -> None:
        """Switches the recording of decisions in new runs on or off."""
        self.preferences.change(self.preferences.settings.with_decisions(is_on))

    def tell(self, text: str) -> None:
        """Shows a text in the status bar."""
        self.statusBar().showMessage(text)

    def tell_failure(self, error: Exception) -> None:
        """Shows an error in a banner."""
        self.notices.action_failed(error_text(error), self.notices.ways_of(error))

    def set_plot_shown(self, plot_id: str, is_shown: bool) -> None:
        """Switches one plot on or off."""
        self.plots.set_plot_shown(plot_id, is_shown)

    def update_actions(self) -> None:
        """Enables the actions that are possible now; parts not made yet count as empty."""
        made = vars(self)
        sketch = self.documents.doc.sketch
        self.bar.update_state(
            WindowState(
                is_valid=self.documents.doc.is_valid,
                is_begun_only=bool(self.documents.doc.missing_part),
                is_running=self.runs.is_running,
                is_paused=self.runs.is_paused,
                nodes_selected=len(self.topology.arranging.selected) if "topology" in made else 0,
                can_move_nodes="topology" in made and self.topology.arranging.is_allowed,
                has_live_link="live" in made and bool(self.live.link),
                has_nodes=sketch is not None and bool(sketch.nodes),
                runs_shown=self.shown.count if "shown" in made else 0,
                runs_selected=len(self.history.selected()) if "history" in made else 0,
                is_cut="history" in made
                and [row.status in ("stopped", "interrupted") for row in self.history.selected()] == [True],
                runs_seen=len(self.history.selected()) if "history" in made and not self.history.isHidden() else 0,
                has_store=self.database.store is not None,
                can_write=self.database.can_write,
                features=self.features.possible(),
            )
        )

    def show_scenario(self, is_opened: bool) -> None:
        """Every panel of a desk is shown already."""

    # ---- actions of tests ----

    @property
    def store(self) -> Store:
        """The open database."""
        assert self.database.store is not None
        return self.database.store

    def open_database(self) -> None:
        """Opens the database in the settings, and waits until it is open."""
        self.database.open_first(self.preferences.settings.database)
        self.qtbot.waitUntil(lambda: not self.database.is_opening)

    def run_once(self) -> int:
        """Runs the scenario to its end; returns the id of the run."""
        with self.qtbot.waitSignal(self.runs.ended):
            self.session.toggle()
        return self.history.runs()[0].id

    def wait_for_workers(self, timeout_ms: int = PATIENCE_MS) -> None:
        """Waits until no thread is at work."""
        self.qtbot.waitUntil(lambda: not self.workers.is_busy, timeout=timeout_ms)

    def close_at_once(self) -> None:
        """Ends all work without questions, and closes."""
        self.closes_unasked = True
        if self.runs.is_running:
            self.runs.stop()
            self.qtbot.waitUntil(lambda: not self.runs.is_running)
        for feature in self.features:
            feature.close()
        if "unsaved" in vars(self):
            self.unsaved.make_safe(asks=False, waits=False)
        if "recovery" in vars(self):
            self.recovery.close(keeps_changes=True)
        if "database_watch" in vars(self):
            self.database_watch.stop()
        self.workers.finish_all()
        if "history" in vars(self):
            self.history.set_store(None)
        self.database.close()
        self.document_stack.clear()
        self.close()


class MakeDesk(Protocol):
    """The fixture `make_desk`."""

    def __call__(self, *kinds: Callable[[Desk], Feature], actions: Iterable[ActionSpec[Any]] = ()) -> Desk:
        """Makes a visible desk of these features, in the order of the main window, and of further actions."""


def export_figure(
    desk: Desk, action: str, path: Path, choose: Callable[[FigureDialog], object] = lambda _dialog: None
) -> None:
    """Exports a figure by an action and its dialog, without a preview; waits until the dialog is closed.

    Args:
        desk: a desk with scripted dialogs.
        action: id of the action.
        path: the file; its suffix is the format.
        choose: makes further choices in the dialog.
    """
    dialog = asked_figure(desk, action, path)
    choose(dialog)
    with desk.qtbot.waitSignal(desk.exports.written, timeout=60_000):
        dialog.export_button.click()
    assert desk.exports.dialog is None


def asked_figure(desk: Desk, action: str, path: Path) -> FigureDialog:
    """The dialog that an action opens for a figure, in the format of the file, which answers the next question."""
    assert isinstance(desk.dialogs, ScriptedDialogs)
    desk.dialogs.answer("save_path", path)
    desk.bar.trigger(action)
    dialog = desk.exports.dialog
    assert dialog is not None
    formats: Mapping[str, Format] = {".pdf": "pdf", ".svg": "svg", ".png": "png", ".csv": DATA, ".html": PAGE}
    dialog.format_buttons[formats.get(path.suffix, "pdf")].setChecked(True)
    dialog.preview.stop()
    return dialog
