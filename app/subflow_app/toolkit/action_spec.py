"""What an action of the window is: a row of the table in :mod:`.actions`, and what its availability depends on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from subflow_app.vocabulary.language import translatable

P_contra = TypeVar("P_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class WindowState:
    """What the availability of actions depends on."""

    is_valid: bool = False  # the scenario can run
    is_begun_only: bool = False  # nothing is wrong with it, but there is no node, link or flow yet
    is_running: bool = False  # a run is going on, paused or not
    is_paused: bool = False
    has_live_link: bool = False  # a link is selected that the run has
    can_undo: bool = False
    can_redo: bool = False
    nodes_selected: int = 0  # on the canvas
    has_nodes: bool = False  # the picture shows some
    can_move_nodes: bool = False  # the scenario can be edited, and nodes are not locked
    runs_shown: int = 0  # in the plots
    runs_selected: int = 0  # in the history
    has_store: bool = False
    can_write: bool = False  # to the store
    plots_without_data: frozenset[str] = frozenset()  # that no run shown has
    features: frozenset[str] = frozenset()  # ids of what can be done with features, see `features`


class Scope(Enum):
    """Where a shortcut works: single letters only where nobody types."""

    WINDOW = "anywhere"
    PLOTS = "in the plots"
    HISTORY = "in the history"
    TRAINING = "on the Train page"
    TOPOLOGY = "on the canvas"
    QUEUE = "in the queue"
    SWEEPS = "in the sweeps"
    SCRIPT = "in the script"


@dataclass(frozen=True, slots=True)
class Need:
    """What an action cannot do without.

    Attributes:
        is_met: whether it is there.
        otherwise: why the action cannot be done where it is not: in the middle of a sentence, in English.
    """

    is_met: Callable[[WindowState], bool]
    otherwise: str


COMPLETE = Need(
    lambda s: s.is_running or not s.is_begun_only,
    translatable("nothing to run yet: add two hosts, a link between them and a flow"),
)
VALID = Need(lambda s: s.is_valid, translatable("the scenario has problems, which the inspector lists"))
RUNNABLE = Need(lambda s: s.is_valid or s.is_running, VALID.otherwise)
RUNNING = Need(lambda s: s.is_running, translatable("no run is in progress"))
NOT_RUNNING = Need(lambda s: not s.is_running, translatable("a run is in progress"))
PLOTS_SHOWN = Need(lambda s: s.runs_shown > 0, translatable("the plots show no run"))
HAS_NODES = Need(lambda s: s.has_nodes, translatable("the canvas is empty"))
STORE = Need(lambda s: s.has_store, translatable("no database is open"))
WRITABLE = Need(lambda s: s.can_write, translatable("no database is open that can be written"))
SELECTED = Need(lambda s: s.runs_selected > 0, translatable("select runs in the history first"))
ONE_SELECTED = Need(lambda s: s.runs_selected == 1, translatable("select one run in the history first"))


def possible(action_id: str, otherwise: str) -> Need:
    """That a feature says of its action that it can be done."""
    return Need(lambda state: action_id in state.features, otherwise)


@dataclass(frozen=True, slots=True)
class ActionSpec(Generic[P_contra]):
    """One row of the table, for windows that have the parts `P_contra`.

    Attributes:
        id: object name of the action, ``menu.verb``.
        text: what menus say, with its mnemonic.
        tip: what the status bar says.
        icon: its meaning, see ``icons``.
        shortcuts: portable text; the first is shown, the others work too.
        run: what it does; a switch reads its new state from the second argument.
        needs: what it cannot do without; of what is missing, the first is told.
        scope: where its shortcuts work.
        checkable: whether it is a switch.
        group: of the actions with the same group exactly one is on.
        is_on: whether a switch is on at first.
        is_contextual: whether menus have it only while it can be done, because it belongs to what goes on then.
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
        """Whether it can be done now."""
        return all(need.is_met(state) for need in self.needs)

    def refusal(self, state: WindowState) -> str:
        """Why it cannot be done now, in the middle of a sentence and in English; empty if it can."""
        return next((need.otherwise for need in self.needs if not need.is_met(state)), "")

    @property
    def is_remembered(self) -> bool:
        """Whether it is a switch of plots or canvas, kept from session to session; others are kept elsewhere."""
        if not self.checkable:
            return False
        return self.scope is Scope.PLOTS or (not self.group and self.id.startswith(("view.plot_", "arrange.")))
