"""Panels of the window, and workspaces that arrange them for each task and save the user's changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QByteArray, QEvent, QObject, QSize, Signal
from PySide6.QtWidgets import QWidget

from subflow_app.toolkit.docks import Docks, PanelFold, Side

# Panels: object name -> (title, icon, shortcut). The plots are the fixed centre.
PANELS = {
    "topology": ("Topology", "topology", "Ctrl+1"),
    "inspector": ("Inspector", "inspector", "Ctrl+2"),
    "history": ("History", "history", "Ctrl+3"),
    "agent": ("Agent", "agent", "Ctrl+4"),
    "explain": ("Explain", "explain", "Ctrl+Shift+7"),
    "train": ("Train", "train", "Ctrl+5"),
    "queue": ("Queue", "queue", "Ctrl+6"),
    "fairness": ("Fairness", "fairness", "Ctrl+Shift+9"),
    "events": ("Events", "events", "Ctrl+7"),
    "compare": ("Compare", "compare", ""),
    "log": ("Log", "log_panel", "Ctrl+8"),
    "help": ("Help", "help", "Ctrl+9"),
    "sweeps": ("Sweeps", "sweeps", "Ctrl+Shift+8"),
    "lab": ("Lab", "example", ""),
    "gallery": ("Experiments", "gallery", ""),
    "arena": ("Arena", "arena", ""),
    "break": ("Break a claim", "break", ""),
    "script": ("Script", "script", ""),
}

# Workspaces: id -> (title, purpose of the arrangement, icon, shortcut, if people use it daily).
WORKSPACES = {
    "design": ("Drawing", "to draw: a large topology and the inspector", "topology", "Ctrl+Shift+1"),
    "run": ("Simulation", "to run and watch: topology, inspector, plots and history", "run", "Ctrl+Shift+2"),
    "analyse": ("Analysis", "to compare: plots and the history of runs", "plots", "Ctrl+Shift+3"),
    "study": (
        "Parameter study",
        "to vary and compare: large sweeps, comparison, fairness and history",
        "sweeps",
        "Ctrl+Shift+4",
    ),
    "train": ("Agent training", "to train agents: the Train page, topology and agent", "train", "Ctrl+Shift+5"),
    "lab": ("Guided lab", "to follow a lab: its steps, the topology and the plots", "example", "Ctrl+Shift+6"),
    "script": (
        "Writing scripts",
        "to write controllers and schedulers: the script and the plots",
        "script",
        "",
    ),
}
DEFAULT_WORKSPACE = "run"


# Greatest and least width of a column of forms and tables, px. Plots and pictures take the remaining width.
_WIDEST_FORM, _NARROWEST_FORM = 460, 308
_ROOMY = "study"  # workspace whose panels are as large as its plots
_HOMES = {"script": "script"}  # panel -> the workspace designed for it
_LOW = 900  # px; in a window of less height, the history starts folded to a line


@dataclass(frozen=True, slots=True)
class Place:
    """The initial place of a panel.

    Attributes:
        name: the panel.
        side: side of the panel or centre ``beside``, or of the whole window.
        beside: the neighbouring panel or centre.
        is_open: whether the panel is open at first; a closed panel opens at this place later.
    """

    name: str
    side: Side
    beside: str | None = None
    is_open: bool = True


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The initial arrangement of a workspace.

    Attributes:
        places: places of panels, in the order in which they are applied; all other panels are closed, and reopen at
            their last place.
        columns: share of the width of each column, left to right; 0 for a column of forms.
        rows: shares of the height for panels above each other, by the name of one of these panels.
        front: panels (or the plots) in front of other panels in the same place.
        forms: share of the window's width for each column of forms, within limits.
    """

    places: tuple[Place, ...]
    columns: tuple[float, ...]
    rows: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    front: tuple[str, ...] = ()
    forms: tuple[float, ...] = ()


ARRANGEMENTS: Mapping[str, Arrangement] = {
    "design": Arrangement(
        # Topology and plots share the largest place, which shows the canvas until a run starts, and then the plots.
        (Place("topology", Side.TAB, "plots"), Place("inspector", Side.RIGHT)),
        columns=(1, 0),
        front=("topology",),
        forms=(0.29,),
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
        rows={"topology": (0.48, 0.52), "plots": (0.74, 0.26)},
        forms=(0.22,),
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
            Place("arena", Side.TAB, "plots"),
            Place("break", Side.TAB, "plots"),
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
        forms=(0.23,),
    ),
    "lab": Arrangement(
        # The text of a lab has the whole height, and the panels that it describes have separate places, even on
        # the screen of a laptop.
        (
            Place("topology", Side.LEFT),
            Place("inspector", Side.BOTTOM, "topology"),
            Place("agent", Side.TAB, "inspector"),
            Place("lab", Side.RIGHT),
            Place("help", Side.TAB, "lab"),
            Place("history", Side.BOTTOM, "plots"),
            Place("events", Side.TAB, "history"),
            Place("explain", Side.TAB, "history"),
            Place("compare", Side.TAB, "history"),
            Place("sweeps", Side.TAB, "plots"),
            Place("fairness", Side.TAB, "plots"),
            Place("train", Side.TAB, "plots"),
        ),
        columns=(0, 1, 0),
        rows={"topology": (0.42, 0.58), "plots": (0.78, 0.22)},
        front=("inspector", "lab"),
        forms=(0.225, 0.336),
    ),
    "script": Arrangement(
        (
            Place("script", Side.LEFT),
            Place("topology", Side.TAB, "plots"),
            Place("inspector", Side.TAB, "script"),
            Place("history", Side.BOTTOM, "plots"),
            Place("explain", Side.TAB, "history"),
            Place("events", Side.TAB, "history"),
            Place("compare", Side.TAB, "history"),
        ),
        columns=(0.38, 0.62),
        rows={"plots": (0.7, 0.3)},
        front=("script",),
    ),
}


PRESENTATION = Arrangement((Place("topology", Side.LEFT),), columns=(0.28, 0.72))
"""Arrangement in presentations, for every workspace."""


class Workspaces(QObject):
    """The workspaces of one window."""

    changed = Signal(str)  # name of the new workspace
    visited = Signal()  # `can_go_back` may have changed
    left = Signal(str)  # name of the previous workspace, after it was left to show a panel without a place in it

    def __init__(self, docks: Docks, fold: PanelFold, window: QWidget) -> None:
        """Prepare workspaces for ``docks``; :meth:`restore` arranges the panels for the first time.

        Args:
            docks: the docks with all panels.
            fold: fold of the history.
            window: the window; the history is folded while the window is low, unless the user chose otherwise.
        """
        super().__init__(window)
        self._docks = docks
        self._fold = fold
        self._window = window
        self.current = DEFAULT_WORKSPACE  # name of the current workspace
        self._kept: dict[str, QByteArray] = {}
        self._is_presenting = False
        self.folds: dict[str, bool] = {}  # choices of the user, by workspace
        self._was_low = False
        self._before: list[tuple[str, QByteArray]] = []  # workspaces with their layouts, before each visit
        fold.chosen.connect(self._on_fold_chosen)
        window.installEventFilter(self)

    def show(self, name: str) -> None:
        """Show a workspace as it was left, and emit `changed`; the current workspace is not rearranged.

        Raises:
            KeyError: if the workspace does not exist.
        """
        if name not in WORKSPACES:
            raise KeyError(name)
        self._before.clear()
        self._change(name)

    def _change(self, name: str) -> None:
        if name != self.current:
            self._keep()
            self._is_presenting = False
            self.current = name
            self.bring_back()
        self.changed.emit(name)

    @property
    def can_go_back(self) -> bool:
        """True if a panel was visited, and no workspace has been chosen since."""
        return bool(self._before)

    def visit(self, panel: str) -> None:
        """Show and focus a panel as `go_to` does; `go_back` returns to the present arrangement."""
        before = (self.current, self._docks.save_state())
        kept = [*self._before, before]
        self._show_place_of(panel)
        self._docks.go_to(panel)
        self._before = kept
        self.visited.emit()

    def go_back(self) -> None:
        """Return to the arrangement before the last visit, if any."""
        if not self._before:
            return
        *rest, (name, state) = self._before
        self._change(name)
        self._docks.restore_state(state)
        self._before = rest
        self.visited.emit()

    def go_to(self, panel: str) -> None:
        """Show and focus a panel; if the current workspace has no place for it, change to a workspace that has one.

        An open panel remains in place, because the user has put it there.
        """
        before = (self.current, self._docks.save_state())
        kept = self._before
        self._show_place_of(panel)
        self._docks.go_to(panel)
        if self.current != before[0]:
            self._leave(kept, before)

    def enter(self, name: str) -> None:
        """Show a workspace for an activity, such as a lab; `go_back` returns to the present arrangement.

        Raises:
            KeyError: if the workspace does not exist.
        """
        before, kept = (self.current, self._docks.save_state()), self._before
        self.show(name)
        if self.current != before[0]:
            self._leave(kept, before)

    def _leave(self, kept: list[tuple[str, QByteArray]], before: tuple[str, QByteArray]) -> None:
        self._before = [*kept, before]
        self.visited.emit()
        self.left.emit(before[0])

    def _show_place_of(self, panel: str) -> None:
        has_place = any(place.name == panel for place in ARRANGEMENTS[self.current].places)
        if not has_place and not self._docks.is_open(panel):
            self.show(_HOMES.get(panel, _ROOMY))

    def reset(self) -> None:
        """Restore the initial arrangement of the current workspace, with sizes for the current window."""
        self._kept.pop(self.current, None)
        self.folds.pop(self.current, None)
        self._arrange()

    def reset_all(self) -> None:
        """Restore the initial arrangements of all workspaces."""
        self._kept.clear()
        self.folds.clear()
        self._arrange()

    def states(self) -> dict[str, QByteArray]:
        """Layouts of all workspaces used so far, to be saved for the next start."""
        self._keep()
        return dict(self._kept)

    def present(self) -> None:
        """Show the arrangement for presentations, until :meth:`end_presenting` or the choice of a workspace."""
        self._keep()
        self._is_presenting = True
        self._arrange()

    def end_presenting(self) -> None:
        """Show the workspace as it was before the presentation."""
        if self._is_presenting:
            self._is_presenting = False
            self.bring_back()

    def restore(self, states: Mapping[str, QByteArray], current: str, folds: Mapping[str, bool] | None = None) -> None:
        """Restore saved `states` and `folds`, and show this workspace, or the default one if it is unknown."""
        self.folds = dict(folds or {})
        self._kept = {name: state for name, state in states.items() if name in WORKSPACES}
        self.current = current if current in WORKSPACES else DEFAULT_WORKSPACE
        self.bring_back()
        self.changed.emit(self.current)

    def _keep(self) -> None:
        """Store the layout of the current workspace, except in a presentation."""
        if not self._is_presenting:
            self._kept[self.current] = self._docks.save_state()

    def bring_back(self) -> None:
        """Show the current workspace as it was last left."""
        state = self._kept.get(self.current)
        if state is None or not self._docks.restore_state(state):
            self._arrange()
        else:
            self._fold_or_unfold()

    def _on_fold_chosen(self, is_folded: bool) -> None:
        self.folds[self.current] = is_folded

    def _fold_or_unfold(self) -> None:
        self._was_low = self._window.height() < _LOW
        self._fold.set_folded(self.folds.get(self.current, self._was_low))

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Fold or unfold the history when the height of the window crosses the limit, unless the user has chosen."""
        if event.type() == QEvent.Type.Resize and (self._window.height() < _LOW) != self._was_low:
            self._fold_or_unfold()
        return False

    def _arrange(self) -> None:
        arrangement = PRESENTATION if self._is_presenting else ARRANGEMENTS[self.current]
        with self._docks.rearranging():
            for place in arrangement.places:
                self._docks.place(place.name, place.side, place.beside)
            is_open = {place.name for place in arrangement.places if place.is_open}
            for name in PANELS:
                if name not in is_open:
                    self._docks.close_panel(name)
            behind = {place.beside for place in arrangement.places if place.side is Side.TAB and place.beside}
            for name in (*sorted(behind), "plots", *arrangement.front):
                self._docks.raise_panel(name)
        self._share_out(arrangement, self._window.size())
        self._fold_or_unfold()

    def _share_out(self, arrangement: Arrangement, size: QSize) -> None:
        forms = [min(_WIDEST_FORM, max(_NARROWEST_FORM, round(size.width() * share))) for share in arrangement.forms]
        rest = size.width() - sum(forms)
        left = iter(forms)
        self._docks.set_outer_sizes([round(share * rest) if share else next(left) for share in arrangement.columns])
        for name, shares in arrangement.rows.items():
            self._docks.set_sizes(name, [round(share * size.height()) for share in shares])
