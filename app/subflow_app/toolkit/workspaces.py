"""Panels of the window, and workspaces that arrange them for each task and save the user's changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QByteArray, QEvent, QObject, QSize, Qt, QTimer, Signal
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
    "programs": ("Programs", "programs", ""),
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
# Width of the column of the inspector and of the panels at the right, px.
SIDE_WIDTH, COLUMN_WIDTH = 256, 360
# Heights of the head and of a row of the inspector, px, and its rows by the least height of the window.
HEAD_HEIGHT, FIELD_HEIGHT, _FIELDS_END = 28, 24, 4
_FIELD_ROWS = ((700, 8), (560, 6), (0, 4))


def top_height(window_height: int) -> int:
    """Height of the row of the topology and its inspector, px, in a window of a height."""
    rows = next(rows for least, rows in _FIELD_ROWS if window_height >= least)
    return HEAD_HEIGHT + rows * FIELD_HEIGHT + _FIELDS_END


_WATCHED = "sides_splitter"  # object name of splitters whose signals are connected
_ROOMY = "study"  # workspace whose panels are as large as its plots
_HOMES = {"script": "script", "programs": "run"}  # panel -> the workspace designed for it
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
        column: panels that open one at a time, as a column at the right of the window. An arrangement with a column has
            the topology and its inspector above the plots.
    """

    places: tuple[Place, ...]
    columns: tuple[float, ...]
    rows: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    front: tuple[str, ...] = ()
    forms: tuple[float, ...] = ()
    column: tuple[str, ...] = ()


# Panels that open in the column at the right, one at a time.
_COLUMN = ("history", "events", "explain", "queue", "agent", "programs", "log", "help")


def _column(first: str, *others: str) -> Iterator[Place]:
    """Places of panels in the column at the right, all of them closed at first."""
    yield Place(first, Side.RIGHT, is_open=False)
    for name in others:
        yield Place(name, Side.TAB, first, is_open=False)


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
            Place("topology", Side.TOP, "plots"),
            Place("inspector", Side.RIGHT, "topology"),
            *_column(*_COLUMN),
            # Pages that need the whole width lie over the plots.
            Place("train", Side.TAB, "plots", is_open=False),
            Place("fairness", Side.TAB, "plots", is_open=False),
        ),
        columns=(),
        column=_COLUMN,
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
        ),
        columns=(0.37, 0.63),
        rows={"plots": (0.7, 0.3)},
        front=("script",),
    ),
}


PRESENTATION = Arrangement((Place("topology", Side.LEFT),), columns=(0.28, 0.72))
"""Arrangement in presentations, for every workspace."""


class Workspaces(QObject):
    """The workspaces of one window."""

    changed = Signal(str)  # name of the new workspace
    side_changed = Signal(int)  # width of the inspector above the legend, px; 0 without an inspector there
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
        self.previous = DEFAULT_WORKSPACE  # name of the workspace that was shown before it
        self._kept: dict[str, QByteArray] = {}
        self._is_presenting = False
        self.folds: dict[str, bool] = {}  # choices of the user, by workspace
        self._was_low = False
        self._before: list[tuple[str, QByteArray]] = []  # workspaces with their layouts, before each visit
        self._top = 0  # height of the row above the plots that the user chose, px; 0: depends on the window
        self._side = SIDE_WIDTH
        fold.chosen.connect(self._on_fold_chosen)
        docks.opened.connect(self._on_opened)
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
            self.previous, self.current = self.current, name
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
            self._take_sides()

    def _take_sides(self) -> None:
        """Keep the sizes of a restored arrangement from now on."""
        if not self._has_column:
            self.side_changed.emit(0)
        if self._has_column and self._docks.is_open("inspector"):
            upper, outer = self._docks.splitter_of("inspector"), self._docks.splitter_of("plots")
            if upper is not None and outer is not None and upper is not outer and min(upper.sizes()) > 0:
                self._side = upper.sizes()[-1]
                top = outer.sizes()[0]
                self._top = 0 if top == top_height(self._window.height()) else top
            self._keep_sides()

    def _on_fold_chosen(self, is_folded: bool) -> None:
        self.folds[self.current] = is_folded

    def _fold_or_unfold(self) -> None:
        self._was_low = self._window.height() < _LOW
        self._fold.set_folded(self.folds.get(self.current, self._was_low))

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Adapt the panels to a new size of the window, unless the user has chosen.

        The history is folded or unfolded, and the inspector gets the rows for this height.
        """
        if event.type() == QEvent.Type.Resize:
            if (self._window.height() < _LOW) != self._was_low:
                self._fold_or_unfold()
            if self._has_column:
                QTimer.singleShot(0, self, self._keep_sides)
        return False

    # ---- the column at the right ----

    @property
    def _has_column(self) -> bool:
        return not self._is_presenting and bool(ARRANGEMENTS[self.current].column)

    def _on_opened(self, name: str) -> None:
        """Close the panel that was open in the column before, and give the column its width.

        A page that opens over the plots gets the width of the column.
        """
        column = ARRANGEMENTS[self.current].column
        if not self._has_column:
            return
        if name not in column:
            if self._docks.is_over_centre(name):
                for other in column:
                    if self._docks.is_open(other):
                        self._docks.close_panel(other)
            return
        others = [other for other in self._docks.neighbours(name) if other in column]
        for other in others:
            self._docks.close_panel(other)
        if not others:
            # The splitter shares out the width once the panel is visible.
            QTimer.singleShot(0, self, lambda: self._widen_column(name))

    def _widen_column(self, name: str) -> None:
        splitter = self._docks.splitter_of(name)
        if not self._has_column or splitter is None or splitter is not self._docks.outer_splitter:
            return
        whole = sum(splitter.sizes())
        self._docks.set_outer_sizes([whole - COLUMN_WIDTH, COLUMN_WIDTH])
        self._keep_sides()

    def _keep_sides(self) -> None:
        """Give the topology and its inspector the sizes for this window, unless the user has chosen others."""
        if not self._has_column or not (self._docks.is_open("topology") and self._docks.is_open("inspector")):
            self.side_changed.emit(0)
            return
        upper, outer = self._docks.splitter_of("topology"), self._docks.splitter_of("plots")
        if upper is None or outer is None or upper is not self._docks.splitter_of("inspector") or upper is outer:
            return
        if upper.orientation() is not Qt.Orientation.Horizontal:
            return
        for splitter, follow in ((upper, self._on_side_dragged), (outer, self._on_top_dragged)):
            if splitter.objectName() != _WATCHED:
                splitter.setObjectName(_WATCHED)  # forgotten with the splitter, which QtAds replaces at will
                splitter.splitterMoved.connect(follow)
        if upper.parentWidget() is outer and outer.orientation() is Qt.Orientation.Vertical:
            top = self._top or top_height(self._window.height())
            self._docks.set_sizes("plots", [top, max(outer.height() - top - outer.handleWidth(), 1)])
        self._docks.set_sizes("topology", [max(upper.width() - self._side - upper.handleWidth(), 1), self._side])
        self.side_changed.emit(self._side)

    def _on_side_dragged(self) -> None:
        upper = self._docks.splitter_of("inspector")
        if upper is not None and self._has_column:
            self._side = upper.sizes()[-1]
            self.side_changed.emit(self._side)

    def _on_top_dragged(self) -> None:
        outer = self._docks.splitter_of("plots")
        if outer is not None and self._has_column:
            self._top = outer.sizes()[0]

    def set_side_width(self, width: int) -> None:
        """Set the width of the inspector beside the topology, px, as the user chose it."""
        if width != self._side and width > 0:
            self._side = width
            self._keep_sides()

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
        if arrangement.column:
            self._top, self._side = 0, SIDE_WIDTH
            self._keep_sides()
            return
        self.side_changed.emit(0)
        forms = [min(_WIDEST_FORM, max(_NARROWEST_FORM, round(size.width() * share))) for share in arrangement.forms]
        rest = size.width() - sum(forms)
        left = iter(forms)
        self._docks.set_outer_sizes([round(share * rest) if share else next(left) for share in arrangement.columns])
        for name, shares in arrangement.rows.items():
            self._docks.set_sizes(name, [round(share * size.height()) for share in shares])
