"""General dialogs of the window: palette, settings, welcome and help.

Each dialog is imported at its first use, because startup needs no dialog.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QWidget

from subflow_app.features.guide.qt import START_PAGE, HelpPanel
from subflow_app.features.settings.core import for_next_start
from subflow_app.foundation.resources import DEMO_SCENARIO
from subflow_app.foundation.settings import Settings
from subflow_app.toolkit.dialogs import open_dialog
from subflow_app.toolkit.feature import FeatureHolder
from subflow_app.toolkit.ports import PanelPorts
from subflow_app.toolkit.theme import MODES
from subflow_app.toolkit.workspaces import PANELS
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.editor.qt.inspector.inspector import Inspector
    from subflow_app.features.history.qt import History
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.toolkit.app_theme import Theme
    from subflow_app.toolkit.docks import Docks
    from subflow_app.toolkit.notices import Notices
    from subflow_app.toolkit.preferences import Preferences


class DialogPorts(FeatureHolder, PanelPorts, Protocol):
    """Parts of the window that its dialogs show or change."""

    docks: Docks
    documents: Documents
    help: HelpPanel
    history: History
    inspector: Inspector
    notices: Notices
    plots: PlotView
    preferences: Preferences
    shown: ShownRuns
    theme: Theme

    def toggle_run(self) -> None:
        """Run the scenario, or pause or resume the run."""

    def restart(self) -> None:
        """Close the window, and start the program again."""


class WindowDialogs(QObject):
    """Opens the dialogs and applies the choices made in them."""

    def __init__(self, ports: DialogPorts, window: QWidget) -> None:
        """Prepare dialogs above ``window``."""
        super().__init__(window)
        self._ports = ports
        self._window = window

    def show_palette(self) -> None:
        """Commit unfinished input and show the command palette."""
        from subflow_app.shell.command_palette import CommandPalette, entries_of

        self._ports.inspector.commit_pending()
        open_dialog(CommandPalette(entries_of(self._ports), self._window))

    def show_shortcuts(self) -> None:
        """Show the list of shortcuts."""
        from subflow_app.shell.help_dialogs import ShortcutsDialog

        open_dialog(ShortcutsDialog(self._ports.bar.specs, self._window))

    def show_about(self) -> None:
        """Show version, licences and file locations of Subflow."""
        from subflow_app.features.about.qt import AboutDialog

        open_dialog(AboutDialog(self._ports.database.path, self._ports.workers, self._window))

    def show_settings(self) -> None:
        """Show the settings dialog; `change_settings` applies the result."""
        from subflow_app.features.settings.qt import SettingsDialog

        ports = self._ports
        path = str(ports.database.path or tr("not open"))
        dialog = SettingsDialog(ports.preferences.settings, path, self._window)
        dialog.chosen.connect(self.change_settings)
        dialog.database_wanted.connect(lambda: ports.bar.trigger("file.open_database"))
        open_dialog(dialog)

    def change_settings(self, settings: Settings) -> None:
        """Apply new settings, and report which of them take effect only at the next start."""
        ports = self._ports
        later = for_next_start(ports.preferences.settings, settings)
        ports.preferences.change(settings)
        ports.theme.set_mode(next(mode for mode in MODES if mode == settings.theme))
        ports.bar.set_on(f"view.theme_{settings.theme}", True)
        ports.bar.set_on("run.record_decisions", settings.record_decisions)
        if later:
            ports.notices.settings_later([tr(spec.label) for spec in later], ports.restart)

    def show_welcome_once(self) -> None:
        """Show the welcome dialog if it was never shown."""
        if not self._ports.preferences.settings.is_welcomed:
            self.show_welcome()

    def show_welcome(self) -> None:
        """Show the welcome dialog with its starting points."""
        from subflow_app.shell.help_dialogs import WelcomeDialog

        preferences = self._ports.preferences
        preferences.change(preferences.settings.with_welcome())
        dialog = WelcomeDialog(preferences.settings.recent_files, self._window)
        dialog.door_chosen.connect(self.open_door)
        dialog.file_chosen.connect(self._ports.documents.open)
        open_dialog(dialog)

    def open_door(self, name: str) -> None:
        """Open a starting point of the welcome dialog: ``"demo"``, ``"lab"``, ``"new"`` or ``"import"``."""
        ports = self._ports
        if name == "demo" and ports.documents.open_example(DEMO_SCENARIO):
            ports.workspaces.show("run")
            ports.toggle_run()
        elif name == "lab":
            from subflow_app.features.labs.qt.feature import LabFeature

            ports.features[LabFeature].session.show_list()
        elif name == "import":
            from subflow_app.features.importing.qt.feature import ImportFeature

            ports.features[ImportFeature].ask_import()
        elif name == "new" and ports.documents.new():
            ports.workspaces.show("design")

    def show_help(self) -> None:
        """Show help on the panel with the keyboard focus, or else on the panel under the mouse."""
        ports = self._ports
        at_hand = (QApplication.focusWidget(), QApplication.widgetAt(QCursor.pos()))
        pages = (self._page_of(widget) for widget in at_hand if widget is not None)
        ports.help.show_page(next(filter(None, pages), START_PAGE))
        ports.docks.set_open("help", True)

    def _page_of(self, widget: QWidget) -> str:
        """Help page of the panel that a widget or tab belongs to; empty for a widget outside of all panels."""
        docks = self._ports.docks
        for name in PANELS:
            if docks.contains(name, widget) or docks.tab(name) in (widget, widget.parentWidget()):
                return name
        return "plots" if self._ports.plots.isAncestorOf(widget) else ""
