"""Actions of a window, which are created from a table and enabled or disabled with the state of the window.

An action is a row of the table in ``subflow_app.shell.actions``, with the conditions under which it is available.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QWidget

from subflow_app.foundation.errors import AppError
from subflow_app.toolkit.icons import icon
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.errors import SimError
from subflow_store import StoreError

P_contra = TypeVar("P_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class WindowState:
    """State of the window on which the availability of actions depends."""

    is_valid: bool = False  # the scenario can run
    is_begun_only: bool = False  # the scenario has no problem, but lacks a node, a link or a flow
    is_running: bool = False  # a run is in progress, paused or not
    is_paused: bool = False
    is_measured: bool = False  # the run in progress is measured in real time, not simulated
    has_live_link: bool = False  # the selected link exists in the run
    can_go_back: bool = False  # other panels were shown before an activity
    can_undo: bool = False
    can_redo: bool = False
    nodes_selected: int = 0  # number of nodes selected on the canvas
    has_nodes: bool = False  # the canvas shows nodes
    can_move_nodes: bool = False  # the scenario can be edited, and nodes are not locked
    runs_shown: int = 0  # number of runs in the plots
    runs_selected: int = 0  # number of runs selected in the history
    runs_seen: int = 0  # number of selected runs in a visible history
    is_cut: bool = False  # the only selected run was stopped or interrupted before its end
    has_store: bool = False
    can_write: bool = False  # the store is writable
    plots_without_data: frozenset[str] = frozenset()  # ids of plots without data in any shown run
    features: frozenset[str] = frozenset()  # ids of possible actions of features, see `Feature.possible`


class Scope(Enum):
    """Place where a shortcut works; one-letter shortcuts work only outside text fields."""

    WINDOW = "anywhere"
    PLOTS = "in the plots"
    HISTORY = "in the history"
    TRAINING = "on the Train page"
    TOPOLOGY = "on the canvas"
    QUEUE = "in the queue"
    SWEEPS = "in the sweeps"
    SCRIPT = "in the script"
    COMPARE = "in the comparison"


@dataclass(frozen=True, slots=True)
class Need:
    """A condition of an action.

    Attributes:
        is_met: returns True if the condition holds.
        otherwise: reason to show if the condition does not hold, as part of an English sentence.
    """

    is_met: Callable[[WindowState], bool]
    otherwise: str


COMPLETE = Need(
    lambda s: s.is_running or not s.is_begun_only,
    translatable("nothing to run yet: add two hosts, a link between them and a flow"),
)
VALID = Need(lambda s: s.is_valid, translatable("the scenario has problems, which the inspector lists"))
RUNNABLE = Need(lambda s: s.is_valid or s.is_running, VALID.otherwise)
SIMULATED = Need(
    lambda s: not s.is_measured, translatable("real programs run now, which cannot be paused: stop the run instead")
)
RUNNING = Need(lambda s: s.is_running, translatable("no run is in progress"))
NOT_RUNNING = Need(lambda s: not s.is_running, translatable("a run is in progress"))
PLOTS_SHOWN = Need(lambda s: s.runs_shown > 0, translatable("the plots show no run"))
HAS_NODES = Need(lambda s: s.has_nodes, translatable("the canvas is empty"))
STORE = Need(lambda s: s.has_store, translatable("no database is open"))
WRITABLE = Need(lambda s: s.can_write, translatable("no database is open that can be written"))
SELECTED = Need(lambda s: s.runs_selected > 0, translatable("select runs in the history first"))
SEEN = Need(lambda s: s.runs_seen > 0, translatable("first show the history and select runs, so that they are seen"))
ONE_SELECTED = Need(lambda s: s.runs_selected == 1, translatable("select one run in the history first"))


def keys(shortcut: str) -> tuple[str, ...]:
    """The shortcuts of an action in a table: the given one, or none for an empty text."""
    return (shortcut,) if shortcut else ()


def possible(action_id: str, otherwise: str) -> Need:
    """The condition that a feature reports its action as possible."""
    return Need(lambda state: action_id in state.features, otherwise)


@dataclass(frozen=True, slots=True)
class ActionSpec(Generic[P_contra]):
    """One row of the table, for windows with the parts `P_contra`.

    Attributes:
        id: object name of the action, ``menu.verb``.
        text: menu text, with its mnemonic.
        tip: text of its tool tip.
        icon: meaning of the icon, a key of ``icons.GLYPHS``.
        shortcuts: shortcuts as portable text; all work, and menus show the first.
        run: function that carries out the action; the second argument is the new state of a switch.
        needs: conditions of the action; the first unmet condition is reported.
        scope: where its shortcuts work.
        checkable: whether the action is a switch.
        group: name of a group of switches, of which at most one is on; empty for a switch outside of all groups.
        is_on: initial state of a switch.
        is_contextual: whether menus show the action only while it is possible, because it belongs to a temporary
            activity.
    """

    id: str
    text: str
    tip: str
    icon: str
    shortcuts: tuple[str, ...]
    run: Callable[[P_contra, bool], object]
    needs: tuple[Need, ...] = ()
    scope: Scope = Scope.WINDOW
    checkable: bool = False
    group: str = ""
    is_on: bool = False
    is_contextual: bool = False

    def enabled_when(self, state: WindowState) -> bool:
        """True if the action is possible now."""
        return all(need.is_met(state) for need in self.needs)

    def refusal(self, state: WindowState) -> str:
        """The reason why the action is not possible now, as part of an English sentence; empty if it is possible."""
        return next((need.otherwise for need in self.needs if not need.is_met(state)), "")

    @property
    def is_remembered(self) -> bool:
        """True for switches of plots or canvas, which are saved across sessions; others are saved elsewhere."""
        if not self.checkable:
            return False
        return self.scope is Scope.PLOTS or (not self.group and self.id.startswith(("view.plot_", "arrange.")))


W = TypeVar("W", bound=QMainWindow)

# Colours of icons, as fields of `Tokens`; all other icons have the colour of text.
_TONES = {"run.toggle": "ok", "run.stop": "error"}


class ActionBar(QObject):
    """The actions of one window.

    Attributes:
        specs: the table of the actions.
    """

    def __init__(self, window: W, specs: Sequence[ActionSpec[W]], failed: Callable[[Exception], object]) -> None:
        """Create all actions; :meth:`place` activates their shortcuts once the parts of the window exist.

        Args:
            window: passed to the callbacks of the actions.
            specs: the table of actions.
            failed: called with an expected error of an action.
        """
        super().__init__(window)
        self._window: QMainWindow = window
        self._failed = failed
        self.specs = tuple(specs)
        self._work = {spec.id: partial(spec.run, window) for spec in specs}
        self._actions: dict[str, QAction] = {}
        self._refusals: dict[str, str] = {}  # reasons why actions are not possible now
        self._groups: dict[str, QActionGroup] = {}
        self.state = WindowState()
        self._words: dict[str, str] = {}  # names of actions that alternate between run, pause and resume
        for spec in specs:
            self._make(spec)

    def __getitem__(self, action_id: str) -> QAction:
        """The action with this id.

        Raises:
            KeyError: if no action has this id.
        """
        return self._actions[action_id]

    def switches(self) -> tuple[str, ...]:
        """Ids of the switches that are saved across sessions."""
        return tuple(spec.id for spec in self.specs if spec.is_remembered)

    def ids(self) -> tuple[str, ...]:
        """Ids of all actions, in the order of the table."""
        return tuple(self._actions)

    def trigger(self, action_id: str) -> None:
        """Trigger an action as its menu entry does; no effect while it is disabled.

        Raises:
            KeyError: if no action has this id.
        """
        self._actions[action_id].trigger()

    def place(self, scopes: Mapping[Scope, QWidget]) -> None:
        """Add each action to the widget of its scope, so that its shortcuts work there."""
        for spec in self.specs:
            place = self._window if spec.scope is Scope.WINDOW else scopes[spec.scope]
            place.addAction(self._actions[spec.id])

    def fill(self, menu: QMenu, entries: Sequence[str], submenus: Mapping[str, QMenu] | None = None) -> None:
        """Add the actions with these ids to a menu; "-" is a separator, ">title" a submenu."""
        # The tool tip of a disabled action explains why it is disabled.
        menu.setToolTipsVisible(True)
        for entry in entries:
            if entry == "-":
                menu.addSeparator()
            elif entry.startswith(">"):
                menu.addMenu((submenus or {})[entry[1:]])
            else:
                menu.addAction(self._actions[entry])

    def pop_up(self, entries: Sequence[str], position: QPoint) -> None:
        """Show a menu of these actions at a position."""
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.fill(menu, entries)
        menu.popup(position)

    def update_state(self, state: WindowState) -> None:
        """Enable the actions that are possible in a state, and disable the others."""
        self.state = state
        for spec in self.specs:
            refusal = spec.refusal(state)
            if refusal != self._refusals[spec.id]:
                self._refuse(spec, refusal)

    def set_on(self, action_id: str, is_on: bool) -> None:
        """Set the state of a switch without running its callback."""
        # Callbacks are connected to `triggered`, which setChecked does not emit.
        self._actions[action_id].setChecked(is_on)

    def set_word(self, action_id: str, word: str) -> None:
        """Set the name of an action that alternates between run, pause and resume."""
        if word == self._words.get(action_id):
            return
        self._words[action_id] = word
        action = self._actions[action_id]
        action.setText(tr(word))
        action.setIconText(tr(word).replace("&", ""))
        action.setIcon(icon("pause" if word == "&Pause" else "run", _TONES.get(action_id, "text")))

    # ---- internals ----

    def _make(self, spec: ActionSpec[Any]) -> None:
        action = QAction(tr(spec.text), self._window)
        action.setObjectName(spec.id)
        action.setStatusTip(tr(spec.tip))
        action.setIcon(icon(spec.icon, _TONES.get(spec.id, "text")))
        # Menus show the first shortcut. Set all shortcuts together, in the order of the table, because Qt would sort
        # shortcuts that are added later.
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
        self._actions[spec.id] = action
        self._refuse(spec, spec.refusal(self.state))
        action.triggered.connect(lambda is_on, spec=spec: self._run(spec, is_on))

    def _refuse(self, spec: ActionSpec[Any], refusal: str) -> None:
        """Enable an action, or disable it and show the reason in its tool tip."""
        self._refusals[spec.id] = refusal
        action = self._actions[spec.id]
        action.setEnabled(not refusal)
        shown = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        tip, why = tr(spec.tip), tr("Not now: {reason}.", reason=tr(refusal)) if refusal else ""
        action.setToolTip("\n".join(filter(None, (f"{tip} ({shown})" if shown else tip, why))))
        action.setStatusTip(why or tip)
        if spec.is_contextual:
            action.setVisible(not refusal)

    def _run(self, spec: ActionSpec[Any], is_on: bool) -> None:
        try:
            self._work[spec.id](is_on)
        except (AppError, StoreError, SimError) as error:
            # Expected errors (a missing database, a full disk) are reported in one place for all actions.
            self._failed(error)
