"""The main window, which creates its parts, places and connects them, and passes events between them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QUndoStack
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.comparison.qt.feature import CompareFeature
from subflow_app.features.crashes.qt.log_panel import LogPanel
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.qt.documents import Documents
from subflow_app.features.editor.qt.inspector.inspector import Inspector
from subflow_app.features.editor.qt.recovery import Recovery
from subflow_app.features.editor.qt.topology.drawing import Drawing
from subflow_app.features.editor.qt.topology.view import TopologyView
from subflow_app.features.exporting.qt.exporting import Exports, RunExports
from subflow_app.features.exporting.qt.topology_files import TopologyFiles
from subflow_app.features.guide.qt import HelpPanel
from subflow_app.features.history.qt import History, HistoryCommand
from subflow_app.features.importing.qt.feature import ImportFeature
from subflow_app.features.paper.qt.reporting import Reports
from subflow_app.features.playhead.qt.context import ContextFeature
from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.features.running.qt.live_panel import LivePanel, beside_inspector
from subflow_app.features.running.qt.queue import QueueSession
from subflow_app.features.running.qt.run_control import RunControl
from subflow_app.features.running.qt.run_session import RunSession, Stepping
from subflow_app.features.running.qt.run_status import RunStatus
from subflow_app.features.running.qt.shown_runs import CurveFinder, RunOpening, ShownRuns
from subflow_app.features.running.qt.unsaved_runs import UnsavedRuns
from subflow_app.features.script.qt.feature import ScriptFeature
from subflow_app.features.sweeps.qt.feature import SweepFeature
from subflow_app.features.traces.core.measured import is_cut
from subflow_app.features.training.qt.agent_feature import AgentFeature
from subflow_app.features.training.qt.session import DeskMaker, TrainingSession, open_desk
from subflow_app.foundation.problem_texts import error_text
from subflow_app.shell.features import KINDS, Features
from subflow_app.shell.file_menus import FileDrops, FileMenus
from subflow_app.shell.main_toolbar import MainToolbar, fill_menu_bar
from subflow_app.shell.menus import CURVES_MENU, DEFAULT_SPEED, HISTORY_MENU, PLOT_MENU, SPEEDS
from subflow_app.shell.presentation import Presentation
from subflow_app.shell.undo_order import UndoOrder
from subflow_app.shell.window_dialogs import WindowDialogs
from subflow_app.shell.window_state import PanelLayout, WindowStateFile
from subflow_app.toolkit.action_bar import ActionBar, ActionSpec, Scope, WindowState
from subflow_app.toolkit.app_theme import Theme
from subflow_app.toolkit.database import DatabaseControl, DatabaseWatch
from subflow_app.toolkit.dialogs import Dialogs
from subflow_app.toolkit.notices import Notices
from subflow_app.toolkit.preferences import Preferences
from subflow_app.toolkit.theme import ThemeMode, bar_style, set_style
from subflow_app.toolkit.widgets.banner import Banners, MessageLine, Way
from subflow_app.toolkit.workers import Workers
from subflow_app.toolkit.workspaces import PANELS, WORKSPACES, Workspaces
from subflow_app.vocabulary.language import tr
from subflow_store import StoreError

if TYPE_CHECKING:
    from subflow_app.toolkit.docks import Docks
    from subflow_store import Store

_log = logging.getLogger(__name__)


class MainWindow(QMainWindow):
    """A window with one scenario and one database."""

    closing = Signal()
    loaded = Signal()  # all parts except the stored runs are ready

    def __init__(
        self,
        theme: Theme,
        preferences: Preferences,
        actions: Sequence[ActionSpec[MainWindow]],
        *,
        dialogs: Dialogs | None = None,
        state_file: WindowStateFile | None = None,
        desk_maker: DeskMaker | None = None,
        recovery_folder: Path | None = None,
        example: str | None = None,
    ) -> None:
        """Create the window with a scenario; :meth:`load` adds plots and database.

        Args:
            theme: the application's theme.
            preferences: the user's settings.
            actions: the table of actions.
            dialogs: asks the user; tests pass a replacement with prepared answers.
            state_file: file for geometry and layout.
            desk_maker: makes the desk of trainings when the Train page is first shown.
            recovery_folder: folder for unsaved changes.
            example: shipped scenario to open at first, instead of a new one; opening it later would build parts twice.
        """
        super().__init__()
        self.setObjectName("main_window")
        self.setAcceptDrops(True)
        self.theme = theme
        self.preferences = preferences
        self.dialogs = dialogs or Dialogs(self)
        self._state_file = state_file or WindowStateFile()
        self.desk_maker = desk_maker or open_desk
        self._recovery_folder = recovery_folder
        self._closes_when_ended = self.closes_unasked = self._closes_when_changed = False
        self.restarts = False  # the program starts again after the window has closed
        self._uses_script = False  # the editor of scripts was used after canvas and inspector
        self.speed_limit = SPEEDS[DEFAULT_SPEED][0]
        self._make_parts(actions, example)
        self._place_parts()
        self._connect_parts()
        self._restore_state()
        # Set style sheets last, because Qt restyles every part that is added to a widget with a style sheet.
        self.docks.colour()
        for bar in (self.menuBar(), self.toolbar):
            set_style(bar, bar_style)
        self._on_document_edited()

    # ---- assembly ----

    def _make_parts(self, actions: Sequence[ActionSpec[MainWindow]], example: str | None) -> None:
        self.workers = Workers(self)
        self.document_stack = QUndoStack(self)
        self.history_stack = QUndoStack(self)
        self.undo_order = UndoOrder(self.document_stack, self.history_stack, parent=self)
        self.bar = ActionBar(self, actions, self.tell_failure)
        self.banners = Banners()
        self.message_line = MessageLine()
        self.notices = Notices(self.banners)
        self.documents = Documents(self.document_stack, self.preferences, self.dialogs, self.notices, self)
        if example is not None:
            self.documents.open_example(example)
        self.recovery = Recovery(
            self.documents, self.preferences, self.banners, self.workers, self, self._recovery_folder
        )
        self.database = DatabaseControl(self.workers, self.dialogs, self.notices, self)
        self.database_watch = DatabaseWatch(self.database, self.workers, self)
        doc = self.documents.doc
        self.topology = TopologyView(doc, self.document_stack)
        self.inspector = Inspector(doc, self.document_stack, app_catalog())
        self.plots = PlotView(self.bar["run.toggle"])
        self.history = History(self.history_stack, self.dialogs, self.workers, self.preferences)
        self.run_status = RunStatus()
        self.log, self.help = LogPanel(), HelpPanel()
        self.window_dialogs = WindowDialogs(self, self)
        self.runs = RunControl(self.workers, self)
        self.shown = ShownRuns(self.plots, self.workers, self.tell_failure, self)
        self.opening = RunOpening(self.history, self.database, self.shown, self.documents)
        self.unsaved = UnsavedRuns(self.workers, self.dialogs, self)
        self.session = RunSession(self, self)
        self.stepping = Stepping(self.runs, self.session, self.documents, self.preferences, self.dialogs)
        self.live = LivePanel()
        self.exports = Exports(
            self.plots,
            self.shown,
            self.database,
            self.preferences,
            self.workers,
            self.dialogs,
            self.notices,
            self,
            self._figures_in_front,
        )
        self.run_exports = RunExports(self.exports, self.database, self.workers, self.dialogs, self.tell, self)
        self.reports = Reports(self.exports, self.database, self.workers, self.tell, self)
        self.topology_files = TopologyFiles(self.documents, self.dialogs, self.banners, self.exports)
        self.drops = FileDrops(self.documents, self.database, self.notices, self.preferences, self)
        self.features = Features(self, KINDS)
        self.drawing = self.features[Drawing]
        self.queue_session = self.features[QueueSession]
        self.training_session = self.features[TrainingSession]
        self.agent = self.features[AgentFeature]

    def _place_parts(self) -> None:
        panels = {
            "inspector": beside_inspector(self.live, self.inspector),
            "history": self.history,
            "log": self.log,
            "help": self.help,
            **self.features.panels(),
        }
        self.panels = PanelLayout(self, self.banners, self.message_line, self.plots, panels, self.features.strips())
        self.docks: Docks = self.panels.docks
        self.workspaces: Workspaces = self.panels.workspaces
        self.presentation = Presentation(self, self)
        self.curve_finder = CurveFinder(self.plots, self.shown, self.history, self.docks, self.tell)
        self.file_menus = FileMenus(self.documents, self.preferences, self)
        scopes: dict[Scope, QWidget] = {
            Scope.PLOTS: self.plots,
            Scope.HISTORY: self.history.table,
            Scope.TRAINING: self.training_session.panel,
            Scope.QUEUE: self.queue_session.panel,
            Scope.SWEEPS: self.features[SweepFeature].panel,
            Scope.SCRIPT: self.features[ScriptFeature].panel,
            Scope.COMPARE: self.features[CompareFeature].panel,
            Scope.TOPOLOGY: self.topology.canvas,
        }
        self.bar.place(scopes)
        fill_menu_bar(self, self.bar, self.file_menus.by_title())
        self.toolbar: MainToolbar = MainToolbar(self.bar, self)
        self.addToolBar(self.toolbar)
        self.bar.fill(self.plots.curves_menu, CURVES_MENU)

    def _connect_parts(self) -> None:
        self.documents.replaced.connect(self._on_document_replaced)
        self.documents.edited.connect(self._on_document_edited)
        self.documents.settling.connect(self.inspector.commit_pending)
        self.document_stack.cleanChanged.connect(self._on_document_edited)
        self.undo_order.changed.connect(self.update_actions)
        self.topology.selection_changed.connect(self.inspector.show_key)
        self.topology.activated.connect(self._on_topology_activated)
        self.topology.space_tapped.connect(self.toggle_run)
        self.topology.chosen_changed.connect(self.update_actions)
        self.topology.lock_changed.connect(self.update_actions)
        self.topology.unlock_wanted.connect(lambda: self.bar.trigger("arrange.lock"))
        self.topology.edit_refused.connect(self.notices.action_failed)
        self.drawing.canvas_wanted.connect(self.panels.show_canvas)
        self.topology.arranging.use_workers(self.workers)
        self.topology.arranging.changed.connect(self.update_actions)
        self.topology.arranging.dropped.connect(self.notices.action_failed)
        self.inspector.key_changed.connect(self.topology.select)
        self.inspector.refused.connect(self.notices.action_failed)
        self.inspector.paths_wanted.connect(self.drawing.flows.ask_paths)
        self.drawing.name_wanted.connect(self._edit_name)
        self.runs.state_changed.connect(self.update_actions)
        self.toolbar.speed_slider.limit_chosen.connect(self.set_speed_limit)
        self.session.join_live(self.live, self.inspector)
        self.live.changed.connect(self.update_actions)
        self.runs.ended.connect(self._on_run_ended)
        self.session.stored.connect(self.history.reload)
        self.database_watch.changed.connect(self.history.refresh)
        self.shown.missed.connect(self.history.reload)
        self.database.opened.connect(self._on_database_opened)
        self.database.failed.connect(self._on_database_failed)
        self.database.copied.connect(self.notices.copied)
        self.database.purged.connect(self.history_stack.clear)  # undo cannot restore purged runs
        self.database.purged.connect(self.notices.purged)
        self.closing.connect(self.database_watch.stop)
        self.shown.changed.connect(self._on_shown_changed)
        self.workers.failed.connect(self.tell_failure)
        self.shown.wanted.connect(self.panels.show_plots)
        self.history.changes.all_done.connect(self._on_changes_done)
        self.history.menu_requested.connect(lambda position: self.bar.pop_up(HISTORY_MENU, position))
        self.history.open_requested.connect(lambda: self.bar.trigger("history.open"))
        self.history.selection_changed.connect(self.update_actions)
        self.history.failed.connect(
            lambda error: self.notices.list_failed(error, self.database.ask_open, self.history.reload)
        )
        self.history.told.connect(self.tell)
        self.history.deleted.connect(self._on_runs_deleted)
        self.history.summarised.connect(self.panels.fold.set_text)
        self.unsaved.exported.connect(self.notices.exported)
        self.recovery.failed.connect(self.notices.recovery_failed)
        self.log.unseen_changed.connect(self.toolbar.show_warnings)
        self.toolbar.warnings_clicked.connect(lambda: self.docks.set_open("log", True))
        self.preferences.not_saved.connect(self.notices.settings_failed)
        self.workspaces.changed.connect(self._on_workspace_changed)
        self.workspaces.left.connect(self._on_workspace_left)
        self.workspaces.visited.connect(self._on_visited)
        self.presentation.changed.connect(lambda is_on: self.bar.set_on("view.presentation", is_on))
        self.history.seen_changed.connect(self.update_actions)
        self.docks.visibility_changed.connect(lambda name, is_open: self.bar.set_on(f"view.{name}", is_open))
        self.drops.set_importer(self.features[ImportFeature].import_file)
        QApplication.instance().focusChanged.connect(self._on_focus_changed)  # type: ignore[union-attr] # a QApplication
        self.features.connect_parts()
        for feature in self.features:
            feature.changed.connect(self.update_actions)
        # Connected last, so that features handle the signal first: the open menu hides the crosshair that they read.
        self.plots.menu_requested.connect(lambda position: self.bar.pop_up(PLOT_MENU, position))

    def _restore_state(self) -> None:
        self._state_file.restore_layout(self, self.workspaces)
        for name, is_on in self._state_file.switches().items():
            if name in self.bar.switches() and self.bar[name].isChecked() != is_on:
                self.bar.trigger(name)
        self.history.restore(self._state_file.history)
        self.set_speed_limit(self._state_file.speed_limit(SPEEDS[DEFAULT_SPEED][0]))
        self.bar.set_on(f"view.theme_{self.theme.mode}", True)
        self.bar.set_on("run.record_decisions", self.preferences.settings.record_decisions)
        for name in PANELS:
            self.bar.set_on(f"view.{name}", self.docks.is_open(name))

    def load(self) -> None:
        """Load the parts that startup leaves for later: the plots, and the database in the background."""
        # Plots first, because the user may need them next, and the database's thread would delay them.
        self.plots.load()
        self.recovery.offer()
        # With this focus, the space key starts a run, and no button looks selected.
        self.topology.setFocus()
        self.database.open_first(self.preferences.settings.database)
        self.loaded.emit()

    # ---- called by actions ----

    def toggle_run(self) -> None:
        """Run the scenario, after committing unfinished input; pause or resume a current run."""
        if not self.runs.is_running:
            self.documents.settling.emit()
        self.session.toggle()

    def set_speed_limit(self, limit: float | None) -> None:
        """Limit the speed of runs, in simulated seconds per second; None removes the limit."""
        self.speed_limit = limit
        self.toolbar.show_speed(limit)
        self.runs.set_speed_limit(limit)

    def set_decisions_recorded(self, is_on: bool) -> None:
        """Set whether new runs record decisions, and save the setting."""
        self.preferences.change(self.preferences.settings.with_decisions(is_on))

    def set_theme(self, mode: ThemeMode) -> None:
        self.theme.set_mode(mode)
        self.preferences.change(self.preferences.settings.with_theme(mode))

    def zoom(self, steps: int) -> None:
        """Zoom in (1), out (-1) or reset (0): the topology if it has the focus, else the plots."""
        focused = QApplication.focusWidget()
        if focused is not None and self.topology.isAncestorOf(focused):
            {1: self.topology.zoom_in, -1: self.topology.zoom_out, 0: self.topology.reset_zoom}[steps]()
        elif steps == 0:
            self.plots.fit()
        else:
            self.plots.zoom(steps)

    def set_plot_shown(self, plot_id: str, is_shown: bool) -> None:
        """Show or hide one plot; the last visible plot cannot be hidden."""
        self.plots.set_plot_shown(plot_id, is_shown)
        self.bar.set_on(f"view.plot_{plot_id}", any(spec.id == plot_id for spec in self.plots.wanted))

    def show_scenario(self, is_opened: bool) -> None:
        """After a scenario was begun or opened, show the canvas if the current workspace has no place for it."""
        if is_opened and not self.docks.is_open("topology"):
            self.workspaces.go_to("topology")

    def save(self) -> None:
        """Save the script if its editor was used last and is visible, else the scenario."""
        if self._is_script_used:
            self.bar.trigger("script.save")
        else:
            self.documents.save()

    def _on_focus_changed(self) -> None:
        """Remember if script or scenario was used last: Esc and clicks on buttons move the focus elsewhere."""
        # Not from the signal, whose widgets may be about to be deleted.
        now = QApplication.focusWidget()
        if now is None:
            return
        panel = self.features[ScriptFeature].panel
        if panel.isAncestorOf(now):
            self._uses_script = True
        elif any(part.isAncestorOf(now) for part in (self.topology, self.inspector)):
            self._uses_script = False
        self._show_saved()

    @property
    def _is_script_used(self) -> bool:
        feature = self.features[ScriptFeature]
        return self._uses_script and feature.panel.isVisible() and self.bar["script.save"].isEnabled()

    def _show_saved(self) -> None:
        self.bar["file.save"].setText(tr("&Save the script and run") if self._is_script_used else tr("&Save"))

    def _figures_in_front(self) -> list[QAction]:
        """Actions that export the figures of panels in front of the plots: with the focus, or in place of the plots."""
        focused = QApplication.focusWidget()
        has_plots = self.plots.isVisible() and self.shown.count > 0
        shown = [each for each in self.features if each.panel is not None and each.panel.isVisible()]
        return [
            self.bar[each.export_action]
            for each in shown
            if each.export_action
            and (not has_plots or (focused is not None and each.panel is not None and each.panel.isAncestorOf(focused)))
        ]

    def find_run(self) -> None:
        """Open the history and focus its search field."""
        self.docks.set_open("history", True)
        self.history.start_search()

    def _may_end_run(self) -> bool:
        return not self.preferences.settings.confirm_closing_run or self.dialogs.confirm(
            tr("A run is in progress"),
            tr("End the run and close Subflow?"),
            tr("The simulated part is kept."),
            tr("End and close"),
        )

    def close_at_once(self) -> None:
        """Close without asking, when the program is ended from outside; the next start offers unsaved changes."""
        self.closes_unasked = self._closes_when_ended = True
        self.close()

    def restart(self) -> None:
        """Close the window, which may ask about unsaved work, and start the program again."""
        self.restarts = True
        self.close()

    def tell(self, text: str) -> None:
        """Show a message over the lower end of the panels for some seconds; an empty text hides it."""
        self.message_line.show_message(text)

    def tell_failure(self, error: Exception) -> None:
        """Show in a banner why an action failed, with buttons for remedies."""
        self.notices.action_failed(error_text(error), self.notices.ways_of(error))

    # ---- event handlers ----

    def update_actions(self) -> None:
        """Enable the actions that are possible now."""
        undo_text, redo_text = self.undo_order.undo_text, self.undo_order.redo_text
        self.bar.update_state(
            WindowState(
                is_valid=self.documents.doc.is_valid,
                is_begun_only=bool(self.documents.doc.missing_part),
                is_running=self.runs.is_running,
                is_paused=self.runs.is_paused,
                is_measured=self.runs.job is not None and self.runs.job.is_measured,
                has_live_link=bool(self.live.link),
                nodes_selected=len(self.topology.arranging.selected),
                has_nodes=bool(self.topology.scene.node_positions()),
                can_move_nodes=self.topology.arranging.is_allowed,
                can_go_back=self.workspaces.can_go_back,
                can_undo=undo_text is not None,
                can_redo=redo_text is not None,
                runs_shown=self.shown.count,
                runs_selected=len(self.history.selected()),
                is_cut=[is_cut(row) for row in self.history.selected()] == [True],
                runs_seen=len(self.history.selected()) if self.history.isVisible() else 0,
                has_store=self.database.store is not None,
                can_write=self.database.can_write,
                plots_without_data=self.plots.without_data,
                features=self.features.possible(),
            )
        )
        word = "&Run" if not self.runs.is_running else "&Resume" if self.runs.is_paused else "&Pause"
        self.bar.set_word("run.toggle", word)
        self.bar["edit.undo"].setText(tr("&Undo {what}", what=undo_text) if undo_text else tr("&Undo"))
        self.bar["edit.redo"].setText(tr("&Redo {what}", what=redo_text) if redo_text else tr("&Redo"))

    def _on_document_replaced(self, doc: ScenarioDoc) -> None:
        self.drawing.flows.close()
        self.panels.show_canvas()
        self.topology.set_document(doc)
        self.inspector.set_document(doc)
        self.banners.close_banner("file")
        if not self.runs.is_running:
            self.run_status.hide()  # the last run's state belongs to a different scenario
        self.shown.meet_scenario(doc.scenario, is_running=self.runs.is_running)

    def _on_document_edited(self) -> None:
        self._show_title()
        self.setWindowModified(self.documents.is_modified)
        self.update_actions()

    def _show_title(self) -> None:
        """Name the scenario and the database, or say that no database is open."""
        database = self.database
        if database.store is None or database.path is None:
            where = tr("no database")
        elif database.can_write:
            where = database.path.name
        else:
            where = tr("{path} (read-only)", path=database.path.name)
        self.setWindowTitle(f"{self.documents.shown_name}[*] · {where} — Subflow")

    def _on_workspace_changed(self, name: str) -> None:
        self.bar.set_on(f"view.workspace_{name}", True)
        # The size of the view has changed, so a zoomed part may lie outside of it.
        QTimer.singleShot(0, self.topology, self.topology.fit)

    def _on_workspace_left(self, name: str) -> None:
        text = tr("The panels have changed, to make room.")
        way = Way(tr("Back to {name}", name=tr(WORKSPACES[name][0])), self.workspaces.go_back)
        self.banners.show_banner("workspace", "info", text, [way])

    def _on_visited(self) -> None:
        if not self.workspaces.can_go_back:
            self.banners.close_banner("workspace")
        self.update_actions()

    def _on_topology_activated(self, key: str) -> None:
        if key.startswith("notes."):
            self.drawing.edit_note(key)
            return
        self.docks.set_open("inspector", True)
        self.inspector.show_key(key)
        self.inspector.start_editing()

    def _edit_name(self, key: str) -> None:
        self.docks.set_open("inspector", True)
        self.inspector.show_key(key)
        self.inspector.edit_name()

    def _on_run_ended(self, _job: object, _result: object) -> None:
        if self._closes_when_ended:
            # Close later, because other listeners have not received the signal yet.
            QTimer.singleShot(0, self, self.close)

    def _on_database_opened(self, store: Store) -> None:
        self.shown.drop_stored()
        self.history.set_store(store)
        self.notices.database_opened()
        if self.database.damage is not None:
            self.notices.database_damaged(self.database.damage, self.database.ask_open)
        elif store.is_read_only:
            self.notices.database_read_only(self.database.path, self.database.ask_open)
        if not self.database.is_guest:
            self.preferences.change(self.preferences.settings.with_database(store.path))
        self._show_title()
        self.update_actions()

    def _on_database_failed(self, error: StoreError) -> None:
        wanted = self.database.wanted
        has_other = self.database.store is not None
        self.notices.database_failed(error, has_other, self.database.ask_open, lambda: self.database.open(wanted))
        if not has_other:
            self.history.set_store(None, tr("Runs stay in memory until a database is chosen."))
        self._show_title()
        self.update_actions()

    def _on_shown_changed(self) -> None:
        self.history.set_shown(self.shown.ids)
        self.update_actions()

    def _on_changes_done(self, are_made: bool) -> None:
        if self._closes_when_changed:
            self._closes_when_changed = False
            self._closes_when_ended = are_made
            if are_made:
                QTimer.singleShot(0, self, self.close)

    def _on_runs_deleted(self, what: str, command: HistoryCommand) -> None:
        self.notices.deleted(what, lambda: self.history.undo(command))

    # ---- Qt ----

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """End a presentation, or return from a stored run, on Escape, unless another widget handles the key."""
        if event.key() == Qt.Key.Key_Escape and self.presentation.is_on:
            self.presentation.set_on(False)
            return
        if event.key() == Qt.Key.Key_Escape and self.features[ContextFeature].is_of_run:
            self.features[ContextFeature].back()
            return
        super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept dragged files."""
        self.drops.enter(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Open dropped files."""
        self.drops.drop(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask about unsaved changes, stop and keep a run, and close the database."""
        # Ask the features first: a training may keep the window open until its checkpoint is saved, and then close it
        # again. The user must not be asked about unsaved changes twice.
        may_close = self._closes_when_ended or (self.features.may_close() and self.documents.may_discard())
        if not may_close or (self.runs.is_running and not self._closes_when_ended and not self._may_end_run()):
            self.restarts = False
            event.ignore()
            return
        if self.runs.is_running:
            self._closes_when_ended = True
            self.runs.stop()
            event.ignore()
            return
        if self.history.changes.is_busy and not self.closes_unasked:
            # Wait, because a pending change that fails after the window has closed would be lost silently.
            self._closes_when_ended = self._closes_when_changed = True
            event.ignore()
            return
        waits = not self.closes_unasked
        if not self.unsaved.make_safe(asks=waits, waits=waits):
            self._closes_when_ended = False
            event.ignore()
            return
        for feature in self.features:
            feature.close()
        self.unsaved.make_safe(asks=False, waits=waits)  # unsaved runs of the queue
        switches = {name: self.bar[name].isChecked() for name in self.bar.switches()}
        self._state_file.save(self, self.workspaces, switches, self.presentation.geometry_before)
        self.presentation.close()
        self._state_file.save_speed_limit(self.speed_limit)
        self._state_file.save_history(self.history.state())
        self.recovery.close(keeps_changes=self.closes_unasked)
        self.log.close_log()
        self.closing.emit()
        self.workers.finish_all()
        self.history.set_store(None)
        self.database.close()
        # Empty the stack now: if destroyed with commands in it, it would notify listeners that no longer exist.
        self.document_stack.clear()
        event.accept()
