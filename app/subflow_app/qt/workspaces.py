"""Workspaces: an arrangement of the panels for each task, kept with what the person has changed about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QByteArray, QObject, QSize, Signal
from PySide6.QtWidgets import QWidget

from subflow_app.qt.actions.choices import DEFAULT_WORKSPACE, PANELS, WORKSPACES
from subflow_app.qt.docks import Docks, Side

# Where text and tables are comfortable, px: more room than this goes to pictures and curves.
_WIDEST_FORM, _NARROWEST_FORM = 460, 340


@dataclass(frozen=True, slots=True)
class Place:
    """Where a panel starts out.

    Attributes:
        name: the panel.
        side: of the panel or centre ``beside``, or of the whole window.
        beside: whose place it shares.
    """

    name: str
    side: Side
    beside: str | None = None


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How a workspace begins.

    Attributes:
        places: of the panels that are open, in the order in which they are put there; all others are closed, and open
            where they were last.
        columns: share of the width of each column, left to right; 0 for one that takes what a form needs.
        rows: share of the height of the panels above each other, by any of them.
        front: panels (or the plots) that are on top of those they share a place with.
    """

    places: tuple[Place, ...]
    columns: tuple[float, ...]
    rows: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    front: tuple[str, ...] = ()


ARRANGEMENTS: Mapping[str, Arrangement] = {
    "design": Arrangement(
        (Place("topology", Side.LEFT), Place("inspector", Side.TOP, "plots")),
        columns=(1, 0),
        rows={"inspector": (0.62, 0.38)},
    ),
    "run": Arrangement(
        (
            Place("topology", Side.LEFT),
            Place("inspector", Side.BOTTOM, "topology"),
            Place("history", Side.BOTTOM, "plots"),
            Place("events", Side.TAB, "history"),
            Place("explain", Side.TAB, "history"),
            Place("queue", Side.TAB, "history"),
            Place("agent", Side.TAB, "inspector"),
            Place("train", Side.TAB, "plots"),
            Place("log", Side.TAB, "history"),
        ),
        columns=(0, 1),
        rows={"topology": (0.52, 0.48), "plots": (0.74, 0.26)},
    ),
    "analyse": Arrangement(
        (
            Place("history", Side.BOTTOM, "plots"),
            Place("events", Side.TAB, "history"),
            Place("explain", Side.TAB, "history"),
            Place("agent", Side.TAB, "history"),
            Place("fairness", Side.TAB, "history"),
            Place("compare", Side.TAB, "history"),
            Place("sweeps", Side.TAB, "plots"),
        ),
        columns=(1,),
        rows={"plots": (0.64, 0.36)},
    ),
    "study": Arrangement(
        (
            Place("history", Side.BOTTOM, "plots"),
            Place("sweeps", Side.TAB, "plots"),
            Place("gallery", Side.TAB, "plots"),
            Place("leaderboard", Side.TAB, "plots"),
            Place("compare", Side.TAB, "plots"),
            Place("fairness", Side.TAB, "plots"),
        ),
        columns=(1,),
        rows={"history": (0.75, 0.25)},
        front=("sweeps",),
    ),
    "train": Arrangement(
        (
            Place("topology", Side.LEFT),
            Place("agent", Side.BOTTOM, "topology"),
            Place("inspector", Side.TAB, "agent"),
            Place("train", Side.TAB, "plots"),
        ),
        columns=(0, 1),
        rows={"topology": (0.4, 0.6)},
        front=("train",),
    ),
    "lab": Arrangement(
        (
            Place("topology", Side.LEFT),
            Place("inspector", Side.BOTTOM, "topology"),
            Place("agent", Side.TAB, "inspector"),
            Place("lab", Side.RIGHT),
            Place("help", Side.TAB, "lab"),
            Place("history", Side.BOTTOM, "plots"),
            Place("events", Side.TAB, "history"),
            Place("explain", Side.TAB, "history"),
            Place("fairness", Side.TAB, "history"),
            Place("compare", Side.TAB, "history"),
            Place("sweeps", Side.TAB, "plots"),
            Place("train", Side.TAB, "plots"),
        ),
        columns=(0, 1, 0),
        rows={"topology": (0.45, 0.55), "plots": (0.78, 0.22)},
        front=("lab",),
    ),
}


class Workspaces(QObject):
    """The workspaces of one window."""

    changed = Signal(str)  # the one that is shown now

    def __init__(self, docks: Docks, window: QWidget) -> None:
        """``docks`` has all panels; :meth:`restore` arranges them for the first time."""
        super().__init__(window)
        self._docks = docks
        self._window = window
        self._current = DEFAULT_WORKSPACE
        self._kept: dict[str, QByteArray] = {}

    @property
    def current(self) -> str:
        """The workspace that is shown."""
        return self._current

    def show(self, name: str) -> None:
        """Shows another workspace as it was left; nothing happens if it is the one that is shown.

        Raises:
            KeyError: if there is no such workspace.
        """
        if name not in WORKSPACES:
            raise KeyError(name)
        if name != self._current:
            self._kept[self._current] = self._docks.save_state()
            self._current = name
            self._bring_back()
        self.changed.emit(name)

    def reset(self) -> None:
        """Arranges the present workspace as it was at first, at the sizes that suit the window as it is now."""
        self._kept.pop(self._current, None)
        self._arrange()

    def reset_all(self) -> None:
        """Arranges all workspaces as they were at first."""
        self._kept.clear()
        self._arrange()

    def states(self) -> dict[str, QByteArray]:
        """How every workspace was left that was ever looked at, to be kept until the next start."""
        return {**self._kept, self._current: self._docks.save_state()}

    def restore(self, states: Mapping[str, QByteArray], current: str) -> None:
        """Brings back what :meth:`states` told, with this workspace in front; the first one if there is none such."""
        self._kept = {name: state for name, state in states.items() if name in WORKSPACES}
        self._current = current if current in WORKSPACES else DEFAULT_WORKSPACE
        self._bring_back()
        self.changed.emit(self._current)

    def _bring_back(self) -> None:
        state = self._kept.get(self._current)
        if state is None or not self._docks.restore_state(state):
            self._arrange()

    def _arrange(self) -> None:
        arrangement = ARRANGEMENTS[self._current]
        with self._docks.rearranging():
            for place in arrangement.places:
                self._docks.place(place.name, place.side, place.beside)
            named = {place.name for place in arrangement.places}
            for name in PANELS:
                if name not in named:
                    self._docks.close_panel(name)
            behind = {place.beside for place in arrangement.places if place.side is Side.TAB and place.beside}
            for name in (*sorted(behind), "plots", *arrangement.front):
                self._docks.raise_panel(name)
        self._share_out(arrangement, self._window.size())

    def _share_out(self, arrangement: Arrangement, size: QSize) -> None:
        form = min(_WIDEST_FORM, max(_NARROWEST_FORM, round(size.width() * 0.3)))
        rest = size.width() - form * arrangement.columns.count(0)
        self._docks.set_outer_sizes([round(share * rest) or form for share in arrangement.columns])
        for name, shares in arrangement.rows.items():
            self._docks.set_sizes(name, [round(share * size.height()) for share in shares])
