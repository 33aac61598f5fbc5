"""Menu bar and toolbar of the window, from the tables in `menus`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QActionGroup, QResizeEvent
from PySide6.QtWidgets import QMainWindow, QMenu, QSizePolicy, QToolBar, QToolButton, QWidget, QWidgetAction

from subflow_app.features.running.core.runs import speed_text
from subflow_app.features.running.qt.run_status import SpeedSlider
from subflow_app.shell.menus import (
    MENUS,
    SPEEDS,
    SUBMENU_ICONS,
    SUBMENUS,
    TOOLBAR,
    TOOLBAR_WORDS,
    TOOLBAR_YIELDS,
)
from subflow_app.toolkit.action_bar import ActionBar
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.shorthand import Label, h_box, named
from subflow_app.toolkit.workspaces import WORKSPACES
from subflow_app.vocabulary.language import tr, translatable, trn

_ICON = 18
_HEIGHT = 36  # px
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
    """Buttons of the most frequent actions, with the speed, the panels and the workspace."""

    warnings_clicked = Signal()

    def __init__(self, bar: ActionBar, window: QMainWindow) -> None:
        """Create the buttons; `bar` supplies the actions."""
        super().__init__(tr("Toolbar"), window, movable=False)
        named(self, "toolbar")
        self._bar = bar
        self._limit: float | None = None
        self.speed_slider = SpeedSlider(window)
        self.setIconSize(QSize(_ICON, _ICON))
        self.setFixedHeight(max(_HEIGHT, self.fontMetrics().height() + 16))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._speed = self._drop_down("speed", [f"run.speed_{speed}" for speed in SPEEDS])
        self._add_slider(self._speed)
        self._panels = self._drop_down("panels", SUBMENUS["Panels"])
        self._panels.setText(tr("Panels") + " ▾")
        self._panels.setIcon(icon("columns"))
        self._panels.setToolTip(tr("Show or hide panels"))
        self._panels.setAccessibleName(tr("Panels"))
        self._workspace = self._drop_down(
            "workspace", [*(f"view.workspace_{name}" for name in WORKSPACES), "-", "view.reset_layout"]
        )
        self._warnings = named(QToolButton(self), "warnings_button")
        self._warnings.setIcon(icon("warning", "warning"))
        self._warnings.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._warnings.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._warnings.setToolTip(tr("Open the log, which has unread warnings"))
        self._warnings.clicked.connect(self.warnings_clicked)
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
        self.show_warnings(0)
        self._update_buttons()

    def show_speed(self, limit: float | None) -> None:
        """Show a speed limit, and check the preset with this limit, if any."""
        preset = next((name for name, (value, *_more) in SPEEDS.items() if value == limit), None)
        for name in SPEEDS:
            self._bar[f"run.speed_{name}"].setChecked(name == preset)
        self._limit = limit
        self.speed_slider.show_limit(limit)
        self._update_buttons()

    def show_warnings(self, count: int) -> None:
        """Show the number of unread warnings in the log; the button is hidden if it is 0."""
        self._warnings_action.setVisible(count > 0)
        self._warnings.setVisible(count > 0)
        self._warnings.setText(trn("{count} warning", "{count} warnings", count))
        self._fit_words()

    def set_undo_shown(self, is_shown: bool) -> None:
        """Show or hide the buttons of undo and redo; their shortcuts always work."""
        entries = self.actions()
        edge = entries[entries.index(self._bar["sweep.new"]) + 1]  # the separator before undo and redo
        edge.setVisible(is_shown)
        for action_id in ("edit.undo", "edit.redo"):
            if is_shown:
                self.insertAction(self._spacer, self._bar[action_id])
            else:
                self.removeAction(self._bar[action_id])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take away words where not all of them fit; every button stays."""
        super().resizeEvent(event)
        self._fit_words()

    # ---- internals ----

    def _fill(self) -> None:
        buttons = {">speed": self._speed, ">panels": self._panels, ">workspace": self._workspace}
        for entry in TOOLBAR:
            if entry == "-":
                self.addSeparator()
            elif entry == "<>":
                spacer = QWidget(self)
                spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
                self._spacer = self.addWidget(spacer)
                self._warnings_action = self.addWidget(self._warnings)
            elif entry.startswith(">"):
                self.addWidget(buttons[entry])
            else:
                self.addAction(self._bar[entry])
        self._worded: dict[str, QToolButton] = {}
        for action_id in ("run.toggle", *TOOLBAR_WORDS):
            button = self.widgetForAction(self._bar[action_id])
            assert isinstance(button, QToolButton)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            self._worded[action_id] = button
        self._worded |= buttons
        run = self._worded["run.toggle"]
        run.setObjectName("run_button")
        # The words differ in length, so fix the width of the button to keep other buttons in place.
        widest = max(run.fontMetrics().horizontalAdvance(tr(word).replace("&", "")) for word in _RUN_WORDS)
        run.setMinimumWidth(widest + _ICON + 22)

    def _fit_words(self) -> None:
        """Show as many words as fit; the buttons at the end of `TOOLBAR_YIELDS` keep theirs longest."""
        style = Qt.ToolButtonStyle
        for entry in TOOLBAR_YIELDS:
            self._worded[entry].setToolButtonStyle(style.ToolButtonTextBesideIcon)
        for entry in TOOLBAR_YIELDS:
            if self._needed_width() <= self.width():
                return
            self._worded[entry].setToolButtonStyle(style.ToolButtonIconOnly)

    def _needed_width(self) -> int:
        layout = self.layout()
        assert layout is not None
        layout.invalidate()
        return layout.sizeHint().width()

    def _add_slider(self, button: QToolButton) -> None:
        """Put the slider for any speed above the presets."""
        box = QWidget(button.menu())
        h_box(box, muted(Label(tr("Speed"), box)), (self.speed_slider, 1), margins=(10, 4, 10, 4), spacing=8)
        entry = QWidgetAction(button.menu())
        entry.setDefaultWidget(box)
        first = button.menu().actions()[0]
        button.menu().insertAction(first, entry)
        button.menu().insertSeparator(first)

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
        self._fit_words()
