"""The dialogs of the window that no other part owns: palette, settings, welcome and help.

Each is imported when it is opened first: a start needs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QWidget

from subflow_app.core.resources import DEMO_SCENARIO
from subflow_app.core.setting_specs import for_next_start
from subflow_app.core.settings import Settings
from subflow_app.qt.dialogs import open_dialog
from subflow_app.qt.help_panel import START_PAGE
from subflow_app.qt.panels import PANELS
from subflow_app.qt.theme import MODES
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.qt.main_window import MainWindow


class WindowDialogs(QObject):
    """Opens them, and does what was chosen in them."""

    def __init__(self, window: MainWindow) -> None:
        """The dialogs of ``window``."""
        super().__init__(window)
        self._window = window

    def show_palette(self) -> None:
        """Finds by typing."""
        from subflow_app.qt.command_palette import CommandPalette

        self._window.inspector.commit_pending()
        open_dialog(CommandPalette(self._window))

    def show_shortcuts(self) -> None:
        """Lists the shortcuts."""
        from subflow_app.qt.help_dialogs import ShortcutsDialog

        open_dialog(ShortcutsDialog(self._window))

    def show_about(self) -> None:
        """Says what Subflow is."""
        from subflow_app.qt.about_dialog import AboutDialog

        open_dialog(AboutDialog(self._window.database.path, self._window.workers, self._window))

    def show_settings(self) -> None:
        """Lets the person choose."""
        from subflow_app.qt.settings_dialog import SettingsDialog

        window = self._window
        dialog = SettingsDialog(window.preferences.settings, str(window.database.path or tr("none is open")), window)
        dialog.chosen.connect(self.change_settings)
        dialog.database_wanted.connect(lambda: window.bar.trigger("file.open_database"))
        open_dialog(dialog)

    def change_settings(self, settings: Settings) -> None:
        """Puts other settings in force, now or, where that is so, says that it is at the next start."""
        window = self._window
        later = for_next_start(window.preferences.settings, settings)
        window.preferences.change(settings)
        window.theme.set_mode(next(mode for mode in MODES if mode == settings.theme))
        window.bar.set_on(f"view.theme_{settings.theme}", True)
        window.bar.set_on("run.record_decisions", settings.record_decisions)
        if later:
            window.notices.settings_later([tr(spec.label) for spec in later])

    def show_welcome_once(self) -> None:
        """Welcomes at the first start."""
        if not self._window.preferences.settings.is_welcomed:
            self.show_welcome()

    def show_welcome(self) -> None:
        """Offers the ways into the program."""
        from subflow_app.qt.welcome import WelcomeDialog

        preferences = self._window.preferences
        preferences.change(preferences.settings.with_welcome())
        dialog = WelcomeDialog(preferences.settings.recent_files, self._window)
        dialog.door_chosen.connect(self.open_door)
        dialog.file_chosen.connect(self._window.documents.open)
        open_dialog(dialog)

    def open_door(self, name: str) -> None:
        """Goes through one of the doors of the welcome: ``"demo"``, ``"lab"`` or ``"new"``."""
        window = self._window
        if name == "demo" and window.documents.open_example(DEMO_SCENARIO):
            window.workspaces.show("run")
            window.toggle_run()
        elif name == "lab":
            from subflow_app.qt.labs.feature import LabFeature

            window.features[LabFeature].show_labs()
        elif name == "new" and window.documents.new():
            window.workspaces.show("design")

    def show_help(self) -> None:
        """Shows help on the panel at hand: that has the keyboard, or else is under the mouse."""
        window = self._window
        at_hand = (QApplication.focusWidget(), QApplication.widgetAt(QCursor.pos()))
        pages = (self._page_of(widget) for widget in at_hand if widget is not None)
        window.help.show_page(next(filter(None, pages), START_PAGE))
        window.docks.set_open("help", True)

    def _page_of(self, widget: QWidget) -> str:
        """The page of the panel that a widget is part of, or of whose place it is the tab; empty: none has it."""
        window = self._window
        for name in PANELS:
            if window.docks.contains(name, widget) or window.docks.tab(name) in (widget, widget.parentWidget()):
                return name
        return "plots" if window.plots.isAncestorOf(widget) else ""
