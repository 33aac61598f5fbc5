"""Menu bar, toolbar and status buttons of the window; menu bar and toolbar come from the tables in `menus`.

The buttons at the right end of the status bar show unread warnings, the problems of the scenario and the database in
use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMainWindow, QMenu, QSizePolicy, QStatusBar, QToolBar, QToolButton, QWidget

from subflow_app.features.running.core.runs import speed_text
from subflow_app.features.running.qt.run_status import SpeedSlider
from subflow_app.shell.menus import MENUS, SPEEDS, SUBMENU_ICONS, SUBMENUS, TOOLBAR, TOOLBAR_WORDS
from subflow_app.toolkit.action_bar import ActionBar
from subflow_app.toolkit.database import DatabaseControl
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.widgets.shorthand import as_written, named
from subflow_app.toolkit.workspaces import WORKSPACES
from subflow_app.vocabulary.language import tr, translatable, trn

_ICON = 18
# Names of the run action in its three states.
_RUN_WORDS = (translatable("&Run"), translatable("&Pause"), translatable("&Resume"))


def fill_menu_bar(window: QMainWindow, bar: ActionBar, filled: Mapping[str, QMenu]) -> None:
    """Add all menus to the menu bar; `filled` contains the submenus, by title, that the window fills."""
    menus = dict(filled)
    for title in SUBMENUS:
        menus[title] = named(QMenu(tr(title), window), f"menu_{title.replace(' ', '_').lower()}")
        menus[title].setIcon(icon(SUBMENU_ICONS.get(title, "plots")))
    for title, entries in SUBMENUS.items():
        bar.fill(menus[title], entries, menus)
    for title, entries in MENUS.items():
        menu = named(window.menuBar().addMenu(tr(title)), f"menu_{title.replace('&', '').lower()}")
        bar.fill(menu, entries, menus)


class MainToolbar(QToolBar):
    """Buttons of the most frequent actions, with the speed and the workspace."""

    def __init__(self, bar: ActionBar, window: QMainWindow) -> None:
        """Create the buttons; `bar` supplies the actions."""
        super().__init__(tr("Toolbar"), window, movable=False)
        named(self, "toolbar")
        self._bar = bar
        self._limit: float | None = None
        self.speed_slider = SpeedSlider(window)
        self.setIconSize(QSize(_ICON, _ICON))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._speed = self._drop_down("speed", [f"run.speed_{speed}" for speed in SPEEDS])
        self._workspace = self._drop_down(
            "workspace", [*(f"view.workspace_{name}" for name in WORKSPACES), "-", "view.reset_layout"]
        )
        # At a speed between the presets, no preset is checked.
        bar["run.speed_express"].actionGroup().setExclusionPolicy(QActionGroup.ExclusionPolicy.ExclusiveOptional)
        for action_id in (
            *(f"run.speed_{speed}" for speed in SPEEDS),
            *(f"view.workspace_{name}" for name in WORKSPACES),
        ):
            bar[action_id].toggled.connect(self._update_buttons)
        for action_id, word in TOOLBAR_WORDS.items():
            bar[action_id].setIconText(tr(word))
        self._fill()
        self._update_buttons()

    def show_speed(self, limit: float | None) -> None:
        """Show a speed limit, and check the preset with this limit, if any."""
        preset = next((name for name, (value, *_more) in SPEEDS.items() if value == limit), None)
        for name in SPEEDS:
            self._bar[f"run.speed_{name}"].setChecked(name == preset)
        self._limit = limit
        self.speed_slider.show_limit(limit)
        self._update_buttons()

    def set_undo_shown(self, is_shown: bool) -> None:
        """Show or hide the buttons of undo and redo; their shortcuts always work."""
        entries = self.actions()
        edge = entries[entries.index(self._bar["run.toggle"]) - 1]  # the separator after undo and redo
        edge.setVisible(is_shown)
        for action_id in ("edit.undo", "edit.redo"):
            if is_shown:
                self.insertAction(edge, self._bar[action_id])
            else:
                self.removeAction(self._bar[action_id])

    # ---- internals ----

    def _fill(self) -> None:
        for entry in TOOLBAR:
            if entry == "-":
                self.addSeparator()
            elif entry == "<>":
                spacer = QWidget(self)
                spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
                self.addWidget(spacer)
            elif entry.startswith(">"):
                buttons = {
                    ">speed": self._speed,
                    ">speed_slider": self.speed_slider,
                    ">workspace": self._workspace,
                }
                self.addWidget(buttons[entry])
            else:
                self.addAction(self._bar[entry])
        for action_id in ("run.toggle", *TOOLBAR_WORDS):
            button = self.widgetForAction(self._bar[action_id])
            assert isinstance(button, QToolButton)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        run = self.widgetForAction(self._bar["run.toggle"])
        if isinstance(run, QToolButton):
            run.setObjectName("run_button")
            # The words differ in length, so fix the width of the button to keep other buttons in place.
            widest = max(run.fontMetrics().horizontalAdvance(tr(word).replace("&", "")) for word in _RUN_WORDS)
            run.setMinimumWidth(widest + _ICON + 22)

    def _drop_down(self, name: str, action_ids: Sequence[str]) -> QToolButton:
        button = named(QToolButton(self, popupMode=QToolButton.ToolButtonPopupMode.InstantPopup), f"{name}_button")
        # Like other toolbar buttons, this one takes no keyboard focus: keyboard users have the menus, and the focus
        # remains in the panel.
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        menu = QMenu(button)
        self._bar.fill(menu, action_ids)
        button.setMenu(menu)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        return button

    def _update_buttons(self) -> None:
        self._speed.setText((speed_text(self._limit) or tr("Max")) + " ▾")
        self._speed.setIcon(icon("speed"))
        self._speed.setToolTip(self.speed_slider.toolTip())
        self._speed.setAccessibleName(self._speed.toolTip())
        workspace = self._bar["view.workspace_run"].actionGroup().checkedAction()
        if workspace is not None:
            title = tr(WORKSPACES[workspace.objectName().removeprefix("view.workspace_")][0])
            self._workspace.setText(f"{title} ▾")
            self._workspace.setIcon(icon("workspace"))
            self._workspace.setToolTip(tr("Workspace: the open panels and their places"))
            self._workspace.setAccessibleName(tr("Workspace: {name}", name=title))


class StatusButtons(QObject):
    """Buttons in the status bar, after the state of the run: warnings, problems and the database."""

    problems_clicked = Signal()
    database_clicked = Signal()
    warnings_clicked = Signal()

    def __init__(self, bar: QStatusBar, run_status: QWidget) -> None:
        """Fill the status bar; ``run_status`` comes first."""
        super().__init__(bar)
        bar.setSizeGripEnabled(False)
        self._problems = named(QToolButton(bar), "problems_button")
        self._problems.setStatusTip(tr("Go to the first problem of the scenario"))
        self._problems.clicked.connect(self.problems_clicked)
        self._database = named(QToolButton(bar), "database_button")
        self._database.setStatusTip(tr("Keep runs in another database file from now on"))
        self._database.clicked.connect(self.database_clicked)
        self._warnings = named(QToolButton(bar), "warnings_button")
        self._warnings.setStatusTip(tr("Open the log, which has unread warnings"))
        self._warnings.clicked.connect(self.warnings_clicked)
        self._warnings.hide()
        self._warnings.setIcon(icon("warning", "warning"))
        self._problems.setIcon(icon("error", "error"))
        self._database.setIcon(icon("database", "muted_text"))
        for button in (self._warnings, self._problems, self._database):
            button.setAutoRaise(True)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        for widget in (run_status, self._warnings, self._problems, self._database):
            bar.addPermanentWidget(widget)

    def show_problems(self, count: int) -> None:
        """Show the number of problems in the scenario; the button is hidden if it is 0."""
        self._problems.setVisible(count > 0)
        self._problems.setText(trn("{count} problem", "{count} problems", count))

    def show_warnings(self, count: int) -> None:
        """Show the number of unread warnings in the log; the button is hidden if it is 0."""
        self._warnings.setVisible(count > 0)
        self._warnings.setText(trn("{count} warning", "{count} warnings", count))

    def show_database(self, database: DatabaseControl) -> None:
        """Show the name of the database in use, with its path in the tool tip, or that no database is open."""
        path, has_store = database.path, database.store is not None
        self._database.setText(path.name if path is not None and has_store else tr("no database"))
        if not has_store:
            tip = tr("Runs stay in memory")
        else:
            tip = str(path) if database.can_write else tr("{path} (read-only)", path=path)
        self._database.setToolTip(as_written(tip))
