"""Makes actions, menus and toolbar from the table in ``actions``, and keeps them in step with the window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QPoint, QSize, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from subflow_app.core.errors import AppError
from subflow_app.core.running.stepping import speed_text
from subflow_app.qt.action_spec import ActionSpec, Scope, WindowState
from subflow_app.qt.choices import SPEEDS, WORKSPACES
from subflow_app.qt.icons import icon
from subflow_app.qt.menus import MENUS, SUBMENU_ICONS, SUBMENUS, TOOLBAR, TOOLBAR_WORDS
from subflow_app.qt.speed_slider import SpeedSlider
from subflow_app.qt.widgets.shorthand import named
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.errors import SimError
from subflow_store import StoreError

W = TypeVar("W", bound=QMainWindow)

_TOOLBAR_ICON = 18
# What the run action says that it does next.
_RUN_WORDS = (translatable("&Run"), translatable("&Pause"), translatable("&Resume"))


class ActionBar(QObject):
    """The actions of one window."""

    def __init__(self, window: W, specs: Sequence[ActionSpec[W]], failed: Callable[[Exception], object]) -> None:
        """Makes all actions; :meth:`place` puts them into the window once its parts exist.

        Args:
            window: what the actions work on.
            specs: the table of actions.
            failed: called with the error of an action that the world refused.
        """
        super().__init__(window)
        self._window: QMainWindow = window
        self._failed = failed
        self._specs = tuple(specs)
        self._work = {spec.id: partial(spec.run, window) for spec in specs}
        self._actions: dict[str, QAction] = {}
        self._refusals: dict[str, str] = {}  # why actions cannot be done now
        self._groups: dict[str, QActionGroup] = {}
        self.state = WindowState()
        self._run_word = "&Run"
        self._training_word = "&Pause"
        self.speed_slider = SpeedSlider(window)
        self._limit: float | None = None
        for spec in specs:
            self._make(spec)
        self._style_run()
        self._style_training()
        # Between the presets none is on.
        self._groups["speed"].setExclusionPolicy(QActionGroup.ExclusionPolicy.ExclusiveOptional)

    def __getitem__(self, action_id: str) -> QAction:
        """The action with this id.

        Raises:
            KeyError: if there is none.
        """
        return self._actions[action_id]

    def switches(self) -> tuple[str, ...]:
        """Ids of the switches of the plots, which are remembered from session to session."""
        return tuple(spec.id for spec in self._specs if spec.is_remembered)

    def ids(self) -> tuple[str, ...]:
        """Ids of all actions, in the order of the table."""
        return tuple(self._actions)

    def trigger(self, action_id: str) -> None:
        """Does what the menu entry does; nothing while it is disabled.

        Raises:
            KeyError: if there is no such action.
        """
        self._actions[action_id].trigger()

    def place(self, scopes: Mapping[Scope, QWidget], submenus: Mapping[str, QMenu]) -> QToolBar:
        """Fills menu bar and toolbar, and makes shortcuts work where they belong.

        Args:
            scopes: the widget of every scope but the window.
            submenus: those that the window fills, by title.

        Returns:
            The toolbar, already in the window.
        """
        for spec in self._specs:
            if spec.scope is Scope.WINDOW:
                self._window.addAction(self._actions[spec.id])
            else:
                scopes[spec.scope].addAction(self._actions[spec.id])
        filled = self._submenus(submenus)
        for title, entries in MENUS.items():
            menu = named(self._window.menuBar().addMenu(tr(title)), f"menu_{title.replace('&', '').lower()}")
            self.fill(menu, entries, filled)
        return self._make_toolbar()

    def fill(self, menu: QMenu, entries: Sequence[str], submenus: Mapping[str, QMenu] | None = None) -> None:
        """Adds the actions with these ids to a menu; "-" is a separator, ">title" a submenu."""
        # What cannot be done says there why.
        menu.setToolTipsVisible(True)
        for entry in entries:
            if entry == "-":
                menu.addSeparator()
            elif entry.startswith(">"):
                menu.addMenu((submenus or {})[entry[1:]])
            else:
                menu.addAction(self._actions[entry])

    def pop_up(self, entries: Sequence[str], position: QPoint) -> None:
        """Shows a menu of these actions there."""
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.fill(menu, entries)
        menu.popup(position)

    def update_state(self, state: WindowState) -> None:
        """Enables what can be done now, and makes the run action say what it does next."""
        self.state = state
        for spec in self._specs:
            refusal = spec.refusal(state)
            if refusal != self._refusals[spec.id]:
                self._refuse(spec, refusal)
        word = "&Run"
        if state.is_running:
            word = "&Resume" if state.is_paused else "&Pause"
        if word != self._run_word:
            self._run_word = word
            self._style_run()

    def set_training_word(self, word: str) -> None:
        """Makes the action on selected trainings say what it does next, one of `TOGGLE_WORDS`."""
        if word != self._training_word:
            self._training_word = word
            self._style_training()

    def set_on(self, action_id: str, is_on: bool) -> None:
        """Shows a switch as on or off without doing what it does."""
        # Actions do their work when they are triggered, which this does not.
        self._actions[action_id].setChecked(is_on)

    def show_speed(self, limit: float | None) -> None:
        """Shows a speed limit: a preset if there is one of it."""
        preset = next((name for name, (value, *_more) in SPEEDS.items() if value == limit), None)
        for name in SPEEDS:
            self._actions[f"run.speed_{name}"].setChecked(name == preset)
        self._limit = limit
        self.speed_slider.show_limit(limit)
        self._update_buttons()

    def set_undo_texts(self, undo: str, redo: str) -> None:
        """Says in the menu what would be undone and redone."""
        self._actions["edit.undo"].setText(tr("&Undo {what}", what=undo) if undo else tr("&Undo"))
        self._actions["edit.redo"].setText(tr("&Redo {what}", what=redo) if redo else tr("&Redo"))

    def set_undo_shown(self, toolbar: QToolBar, is_shown: bool) -> None:
        """Has undo and redo in the toolbar, or leaves them to their keys."""
        entries = toolbar.actions()
        edge = entries[entries.index(self._actions["run.toggle"]) - 1]  # the separator behind them
        edge.setVisible(is_shown)
        for action_id in ("edit.undo", "edit.redo"):
            if is_shown:
                toolbar.insertAction(edge, self._actions[action_id])
            else:
                toolbar.removeAction(self._actions[action_id])

    # ---- inside ----

    def _make(self, spec: ActionSpec[Any]) -> None:
        action = QAction(tr(spec.text), self._window)
        action.setObjectName(spec.id)
        action.setStatusTip(tr(spec.tip))
        action.setIcon(icon(spec.icon, "error" if spec.id == "run.stop" else "text"))
        # Portable text in the order of the table: addition would sort, and the first is the one that menus show.
        action.setShortcuts([QKeySequence(text, QKeySequence.SequenceFormat.PortableText) for text in spec.shortcuts])
        if spec.scope is not Scope.WINDOW:
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        if spec.checkable:
            action.setCheckable(True)
            action.setChecked(spec.is_on)
        if spec.group:
            if spec.group not in self._groups:
                self._groups[spec.group] = QActionGroup(self)
            self._groups[spec.group].addAction(action)
        if spec.id in TOOLBAR_WORDS:
            action.setIconText(tr(TOOLBAR_WORDS[spec.id]))
        self._actions[spec.id] = action
        self._refuse(spec, spec.refusal(self.state))
        action.triggered.connect(lambda is_on, spec=spec: self._run(spec, is_on))
        if spec.group:
            action.toggled.connect(self._update_buttons)

    def _refuse(self, spec: ActionSpec[Any], refusal: str) -> None:
        """Enables an action, or disables it and says why, where it is pointed at."""
        self._refusals[spec.id] = refusal
        action = self._actions[spec.id]
        action.setEnabled(not refusal)
        shown = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        tip, why = tr(spec.tip), tr("Not now: {reason}.", reason=tr(refusal)) if refusal else ""
        action.setToolTip("\n".join(filter(None, (f"{tip} ({shown})" if shown else tip, why))))
        action.setStatusTip(why or tip)
        if spec.is_contextual:
            action.setVisible(not refusal)

    def _submenus(self, filled: Mapping[str, QMenu]) -> dict[str, QMenu]:
        """Those of `SUBMENUS`, beside those that the window fills."""
        menus = dict(filled)
        for title in SUBMENUS:
            menus[title] = named(QMenu(tr(title), self._window), f"menu_{title.replace(' ', '_').lower()}")
            menus[title].setIcon(icon(SUBMENU_ICONS.get(title, "plots")))
        for title, entries in SUBMENUS.items():
            self.fill(menus[title], entries, menus)
        return menus

    def _run(self, spec: ActionSpec[Any], is_on: bool) -> None:
        try:
            self._work[spec.id](is_on)
        except (AppError, StoreError, SimError) as error:
            # The world said no (a database gone, a disk full): told in one place, whatever the action was.
            self._failed(error)

    def _make_toolbar(self) -> QToolBar:
        bar = named(QToolBar(tr("Toolbar"), self._window, movable=False), "toolbar")
        bar.setIconSize(QSize(_TOOLBAR_ICON, _TOOLBAR_ICON))
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._speed = self._drop_down("speed", [f"run.speed_{speed}" for speed in SPEEDS], bar)
        self._speed.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._workspace = self._drop_down(
            "workspace", [*(f"view.workspace_{name}" for name in WORKSPACES), "-", "view.reset_layout"], bar
        )
        self._workspace.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        for entry in TOOLBAR:
            if entry == "-":
                bar.addSeparator()
            elif entry == "<>":
                spacer = QWidget(bar)
                spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
                bar.addWidget(spacer)
            elif entry.startswith(">"):
                buttons = {
                    ">speed": self._speed,
                    ">speed_slider": self.speed_slider,
                    ">workspace": self._workspace,
                }
                bar.addWidget(buttons[entry])
            else:
                bar.addAction(self._actions[entry])
        for action_id in ("run.toggle", *TOOLBAR_WORDS):
            button = bar.widgetForAction(self._actions[action_id])
            assert isinstance(button, QToolButton)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        run = bar.widgetForAction(self._actions["run.toggle"])
        if isinstance(run, QToolButton):
            run.setObjectName("run_button")
            # The words differ in length; the buttons beside must not jump.
            widest = max(run.fontMetrics().horizontalAdvance(_plain(word)) for word in _RUN_WORDS)
            run.setMinimumWidth(widest + _TOOLBAR_ICON + 22)
        self._window.addToolBar(bar)
        self._update_buttons()
        return bar

    def _drop_down(self, name: str, action_ids: Sequence[str], bar: QToolBar) -> QToolButton:
        button = named(QToolButton(bar, popupMode=QToolButton.ToolButtonPopupMode.InstantPopup), f"{name}_button")
        # Like the other buttons of a toolbar: the keyboard has the menus, and the focus stays where a person works.
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        menu = QMenu(button)
        self.fill(menu, action_ids)
        button.setMenu(menu)
        return button

    def _update_buttons(self) -> None:
        if not hasattr(self, "_speed"):
            return
        self._speed.setText((speed_text(self._limit) or tr("Max")) + " ▾")
        self._speed.setIcon(icon("speed"))
        self._speed.setToolTip(self.speed_slider.toolTip())
        self._speed.setAccessibleName(self._speed.toolTip())
        workspace = self._groups["workspace"].checkedAction()
        if workspace is not None:
            title = tr(WORKSPACES[workspace.objectName().removeprefix("view.workspace_")][0])
            self._workspace.setText(f"{title} ▾")
            self._workspace.setIcon(icon("workspace"))
            self._workspace.setToolTip(tr("Workspace: which panels are open, and where"))
            self._workspace.setAccessibleName(tr("Workspace: {name}", name=title))

    def _style_run(self) -> None:
        action = self._actions["run.toggle"]
        action.setText(tr(self._run_word))
        action.setIconText(_plain(self._run_word))
        action.setIcon(icon("pause" if self._run_word == "&Pause" else "run", "ok"))

    def _style_training(self) -> None:
        action = self._actions["train.toggle"]
        action.setText(tr(self._training_word))
        action.setIconText(_plain(self._training_word))
        action.setIcon(icon("pause" if self._training_word == "&Pause" else "run"))


def _plain(text: str) -> str:
    """A menu's text as a button says it."""
    return tr(text).replace("&", "")
