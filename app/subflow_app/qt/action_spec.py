"""What an action of the window is: a row of the table in :mod:`.actions`, and what its availability depends on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subflow_app.qt.main_window import MainWindow


@dataclass(frozen=True, slots=True)
class WindowState:
    """What the availability of actions depends on."""

    is_valid: bool = False  # the scenario can run
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
    features: frozenset[str] = frozenset()  # ids of the actions of features that can be done, see `features`
    can_train: bool = False  # there is something to start
    is_training: bool = False  # a training goes on, or waits for its turn
    training: frozenset[str] = frozenset()  # what can be done with the selected trainings
    is_queue_busy: bool = False  # runs go on in the queue, or wait there
    queue: frozenset[str] = frozenset()  # what can be done with it and its selected runs
    drawing: frozenset[str] = frozenset()  # what can be done with what is selected on the canvas


class Scope(Enum):
    """Where a shortcut works: single letters only where nobody types."""

    WINDOW = "anywhere"
    PLOTS = "in the plots"
    HISTORY = "in the history"
    TRAINING = "on the Train page"
    TOPOLOGY = "on the canvas"
    QUEUE = "in the queue"
    SWEEPS = "in the sweeps"


def _always(_state: WindowState) -> bool:
    return True


def has_plots(state: WindowState) -> bool:
    """Whether the plots show something."""
    return state.runs_shown > 0


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One row of the table.

    Attributes:
        id: object name of the action, ``menu.verb``.
        text: what menus say, with its mnemonic.
        tip: what the status bar says.
        icon: its meaning, see ``icons``.
        shortcuts: portable text; the first is shown, the others work too.
        run: what it does; a switch reads its new state from the second argument.
        enabled_when: whether it can be done now.
        scope: where its shortcuts work.
        checkable: whether it is a switch.
        group: of the actions with the same group exactly one is on.
        is_on: whether a switch is on at first.
    """

    id: str
    text: str
    tip: str
    icon: str
    shortcuts: tuple[str, ...]
    run: Callable[[MainWindow, bool], object]
    enabled_when: Callable[[WindowState], bool] = _always
    scope: Scope = Scope.WINDOW
    checkable: bool = False
    group: str = ""
    is_on: bool = False

    @property
    def is_remembered(self) -> bool:
        """Whether it is a switch of plots or canvas, kept from session to session; others are kept elsewhere."""
        if not self.checkable or self.group:
            return False
        return self.scope is Scope.PLOTS or self.id.startswith(("view.plot_", "arrange."))
