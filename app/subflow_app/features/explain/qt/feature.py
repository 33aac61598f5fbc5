"""Explains a point on a curve: a click shows the decision behind it.

The decision comes from the records of the run, or from a replay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence

from subflow_app.features.explain.core.measured_story import measured_lines, measured_story
from subflow_app.features.explain.qt.watching import Watching
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.features.script.qt.feature import ScriptFeature
from subflow_app.features.script.qt.ports import ScriptMoment
from subflow_app.features.traces.core.traces import SUBFLOW, Traces, is_measured_run, nearest_mark_s
from subflow_app.features.training.qt.agent_feature import AgentFeature
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.problem_texts import error_text
from subflow_app.toolkit.action_bar import PLOTS_SHOWN, ActionSpec, possible
from subflow_app.toolkit.feature import FeatureHolder, PanelFeature
from subflow_app.toolkit.ports import StudyPorts
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.toolkit.workers import LatestReader
from subflow_app.vocabulary.language import tr, translatable

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.topology.view import TopologyView
    from subflow_app.features.explain.core.explained import DecisionSteps, ExplainedDecision
    from subflow_app.features.explain.core.replay import Replay
    from subflow_app.features.explain.core.story import Try
    from subflow_app.features.explain.qt.panel import ExplainPanel
    from subflow_app.features.plots.qt.curve_id import CurveId
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.features.running.qt.run_control import RunControl
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.toolkit.docks import Docks
    from subflow_app.toolkit.preferences import Preferences
    from subflow_sim.scenario_model import ScriptKind


# The window waits this long for a decision. A longer search runs in the background and shows its progress.
_PATIENCE_MS = 40

_PROGRESS_MS = 100
# The decision of a moving playhead is searched at most this often.
_FOLLOW_MS = 120
_SAME_S = 0.5e-9  # times of a run are whole nanoseconds

# A click within this distance of a mark selects it, because clicks rarely hit the instant of a loss exactly.
_SNAP_PX = 6

_Work = Callable[[Callable[[], bool]], "ExplainedDecision"]


class ExplainPorts(FeatureHolder, StudyPorts, Protocol):
    """Parts of the window that this feature uses."""

    docks: Docks
    plots: PlotView
    preferences: Preferences
    runs: RunControl
    shown: ShownRuns
    topology: TopologyView

    def tell(self, text: str) -> None:
        """Show a message for a while."""


class ExplainFeature(PanelFeature["ExplainPanel"]):
    """Explains points on the curves of the runs in the plots."""

    panel_name = "explain"
    title = translatable("Explain")
    room = (298, 221)  # minimum size of the content, px
    scrolls = False
    guide_wanted = Signal(str)  # guide topic of the algorithm behind the shown decision
    try_wanted = Signal(int, object)  # a change to prepare as a fork of a shown run: its position, and a `story.Try`

    def __init__(self, ports: ExplainPorts) -> None:
        """Prepare the search for decisions, and the watches; `make` creates the panel later."""
        super().__init__()
        self.ports = ports
        self._walks: dict[int, DecisionSteps] = {}  # by position among the shown runs
        self._curve: CurveId | None = None  # the clicked curve, until its time arrives
        self._here: tuple[CurveId, float] | None = None  # the last clicked point, or the point of the context menu
        self._why = ""  # reason for showing this decision
        self._progress = 0.0  # completed fraction of the replay, 0 to 1
        self._progress_timer = timer(self, self._show_progress, _PROGRESS_MS)
        self._decided: tuple[int, str] | None = None  # run and owner of the shown decision
        self._followed: tuple[int, str] | None = None  # run and owner that are explained while the playhead moves
        self._is_following = False  # the current search follows the playhead, which must not move back
        self._follow_timer = timer(self, self._follow, _FOLLOW_MS, is_single=True)
        self.watching = Watching(ports.workers, ports.plots, self._replay, self)
        # Only one search at a time, because only one thread may use a replay.
        self._reader = LatestReader(ports.workers, self, "explain")
        self._reader.patience_ms = _PATIENCE_MS
        self._reader.read.connect(lambda found: self._show(*found))
        self._reader.failed.connect(self._on_failed)

    def make(self) -> ExplainPanel:
        """Create the panel with the decision, the lines of the script that made it, and the watches."""
        from subflow_app.features.explain.qt.panel import ExplainPanel

        content = ExplainPanel(
            [self.ports.bar[f"explain.{step}"] for step in ("previous", "next")],
            [self.ports.bar[f"explain.{name}"] for name in ("previous_line", "next_line", "open_script")],
        )
        content.lines.moved.connect(self._on_line)
        content.lines.opened.connect(self.open_script)
        content.watches.asked.connect(self.watch)
        content.watches.removed.connect(self.watching.remove)
        content.agent_wanted.connect(self._show_agent)
        content.guide_wanted.connect(self.guide_wanted)
        content.given_up.connect(self._reader.forget)
        content.show_wanted.connect(self._show_link)
        content.try_wanted.connect(self._try)
        return content

    def connect_parts(self) -> None:
        """Connect clicks in the plots, changes of the shown runs, the end of a run, and the watches."""
        plots = self.ports.plots
        plots.runs_changed.connect(self._forget_runs)
        # A click first emits the curve that it hit, if any, and then its time.
        plots.curve_clicked.connect(self._remember_curve)
        plots.time_clicked.connect(self._on_time_clicked)
        plots.menu_requested.connect(self._on_menu_requested)
        self.ports.runs.ended.connect(lambda _job, _result: self._on_run_ended())
        self.ports.features[PlayheadFeature].playhead.moved.connect(self._on_moved)
        self.watching.changed.connect(self._show_watches)
        self.watching.told.connect(self.ports.tell)
        self.ports.docks.visibility_changed.connect(self._on_visible)

    def _on_visible(self, name: str, is_open: bool) -> None:
        """Explain the point that was clicked before the panel was opened."""
        if name == self.panel_name and is_open and self._here is not None and not self.is_busy:
            curve, time_s = self._here
            owner = self._owner_of(curve)
            if owner is not None and (self._decided is None or self.shown is None or self.shown.point is None):
                self.explain(curve.run, owner, time_s)

    def possible(self) -> frozenset[str]:
        """The actions of this feature that are possible now."""
        here = frozenset({"explain.here"}) if self.ports.plots.runs else frozenset[str]()
        if self.shown is None or self.shown.point is None or self.is_busy:
            return here
        point, lines = self.shown.point, self.shown.lines
        steps = {"explain.previous": point.has_previous, "explain.next": point.has_next}
        if lines.line is not None:
            steps |= {
                "explain.previous_line": lines.position > 0,
                "explain.next_line": lines.position < len(lines.lines) - 1,
                "explain.open_script": True,
                "explain.watch": True,
            }
        return here | {step for step, is_there in steps.items() if is_there}

    def close(self) -> None:
        """Cancel searches and computations."""
        self._reader.forget()
        self.watching.close()

    @property
    def is_busy(self) -> bool:
        """True during the search for a decision."""
        return self._reader.is_busy

    def explain(self, run: int, owner: str, time_s: float, why: str = "") -> None:
        """Show the last decision of a subflow, or of a flow's scheduler, at or before a time of a shown run.

        Args:
            run: position of the run among the shown runs.
            owner: the subflow, or the flow.
            time_s: the time, s.
            why: reason for showing this decision; empty after a click.
        """
        self._why = why
        self._stop_following()
        traces = self.ports.plots.runs[run]
        if is_measured_run(traces):
            self._decided = self._followed = None
            try:
                text = "\n".join(measured_lines(measured_story(traces, owner, time_s)))
            except InputError as error:
                text = str(error)  # the total of several subflows
            self.content.show_nothing(tr("A measured point"), text)
            self.ports.plots.set_pin(time_s)
            self.changed.emit()
            return
        self._search(run, owner, time_s)

    def _search(self, run: int, owner: str, time_s: float) -> None:
        def work(is_cancelled: Callable[[], bool]) -> ExplainedDecision:
            return self._walk(run).go_to(owner, time_s, is_cancelled, self._take_progress)

        self._ask(run, owner, work)

    def explain_here(self) -> None:
        """Explain the clicked point, or else the marked time of the chosen curve; show a hint if neither is usable."""
        point = self._here or self._marked()
        owner = self._owner_of(point[0]) if point is not None else None
        if point is None or owner is None:
            text = tr("Click a point on a cwnd or rate curve first: links and constant-rate flows make no decisions.")
            self.ports.tell(text)
            return
        self._here = point
        self.ports.docks.set_open("explain", True)
        self.ports.docks.raise_panel("explain")
        self.explain(point[0].run, owner, point[1])

    def step(self, by: int) -> None:
        """Step to the previous (-1) or next (1) decision."""
        if self._decided is None:
            return
        run, owner = self._decided
        self._why = ""
        self._stop_following()

        def work(is_cancelled: Callable[[], bool]) -> ExplainedDecision:
            return self._walk(run).step(by, is_cancelled)

        self._ask(run, owner, work)

    def step_line(self, by: int) -> None:
        """Step to the previous (-1) or next (1) line that the script executed for the shown decision."""
        self.content.lines.step(by)

    def open_script(self) -> None:
        """Open the script that made the decision, at the marked line.

        Raises:
            InputError: if the script is not in the open scenario, or cannot be read.
        """
        moment = self._moment()
        if moment is not None:
            self.ports.features[ScriptFeature].show_moment(moment)

    def ask_watch(self) -> None:
        """Open the panel and focus the input for watch expressions."""
        self.ports.docks.set_open("explain", True)
        self.ports.docks.raise_panel("explain")
        self.content.watches.line.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def watch(self, text: str) -> None:
        """Plot an expression over the names of the script that made the decision, or show the expression's error."""
        from subflow_app.features.explain.core.watches import ScriptId, Watch

        lines, row = self.content.lines.told, self.content.watches
        if lines is None or lines.script is None:
            return
        try:
            self.watching.add(Watch(text, ScriptId(lines.scope, lines.script.name), lines.script))
        except InputError as error:
            row.problem.say(error_text(error))
        else:
            row.line.clear()

    def _show_watches(self) -> None:
        if self.shown is not None:
            self.shown.watches.show_watches(self.watching.watches, self.watching.progress)

    def _moment(self) -> ScriptMoment | None:
        lines = self.shown.lines if self.shown is not None else None
        if lines is None or lines.told is None or lines.told.script is None or lines.line is None:
            return None
        kind: ScriptKind = "controller" if lines.told.scope == "subflow" else "scheduler"
        return ScriptMoment(kind, lines.told.script.name, lines.told.script.text, lines.line.line)

    def _on_line(self) -> None:
        self.ports.features[ScriptFeature].mark_moment(self._moment())
        self.changed.emit()

    # ---- clicks ----

    def _remember_curve(self, curve: CurveId) -> None:
        self._curve = curve
        # The time of a click follows immediately. A context menu emits only the curve, which must be forgotten.
        QTimer.singleShot(0, self, self._forget_curve)

    def _forget_curve(self) -> None:
        self._curve = None

    def _on_time_clicked(self, time_s: float) -> None:
        curve, self._curve = self._curve, None
        owner = self._owner_of(curve) if curve is not None else None
        if curve is None or owner is None:
            self._here = None
            return
        time_s = self._snapped(curve.run, owner, time_s)
        self._here = (curve, time_s)
        if not self.ports.docks.is_open("explain"):
            # While the panel is closed, nothing would show the decision, so a message shows the keys to open it.
            label, _title = self.ports.plots.names_of(curve)
            keys = self.ports.bar["explain.here"].shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            text = tr(
                "{curve} at {time} s: Explain ({keys}) shows its cause", curve=label, time=f"{time_s:.3f}", keys=keys
            )
            self.ports.tell(text)
            return
        self.ports.docks.raise_panel("explain")
        self.explain(curve.run, owner, time_s)

    def _on_menu_requested(self, _position: QPoint) -> None:
        # Keep the time now: the context menu moves the mouse away from the plots, which hides the crosshair.
        curve, time_s = self._curve, self.ports.plots.stack.cursor_s
        owner = self._owner_of(curve) if curve is not None else None
        if curve is None or time_s is None:
            self._here = None
        else:
            self._here = (curve, time_s if owner is None else self._snapped(curve.run, owner, time_s))

    def _snapped(self, run: int, owner: str, time_s: float) -> float:
        """The time of a loss or timeout of the subflow near the click, or else the time of the click."""
        shown = self.ports.plots.stack.time_plots[:1]  # all of them show the same time range
        reach_s = max((_SNAP_PX * float(plot.view.viewPixelSize()[0]) for plot in shown), default=0.0)
        return nearest_mark_s(self.ports.plots.runs[run], owner, time_s, reach_s)

    def _marked(self) -> tuple[CurveId, float] | None:
        curve, stack = self.ports.plots.current_curve, self.ports.plots.stack
        marked = (self.ports.features[PlayheadFeature].playhead.time_s, stack.cursor_s, stack.pin_s)
        time_s = next((each for each in marked if each is not None), None)
        return None if curve is None or time_s is None else (curve, time_s)

    def _owner_of(self, curve: CurveId) -> str | None:
        """The owner of the decisions behind a curve; None for a curve without decisions."""
        runs = self.ports.plots.runs
        if curve.kind == "link" or not 0 <= curve.run < len(runs):
            return None
        return deciding_owner(runs[curve.run], curve.owner, curve.kind)

    # ---- finding ----

    def _walk(self, run: int) -> DecisionSteps:
        """The steps through the decisions of a run, created on first use. Only one worker at a time may call this."""
        from subflow_app.features.explain.core.explained import DecisionSteps

        walk = self._walks.get(run)
        if walk is None:
            walk = self._walks[run] = DecisionSteps(self._replay(run), self.ports.plots.runs[run].mss_bytes)
        return walk

    def _replay(self, run: int) -> Replay:
        from subflow_app.features.explain.core.replay import Replay

        budget_bytes = self.ports.preferences.settings.replay_budget_bytes
        job = self.ports.runs.job
        if job is not None and job.traces is self.ports.plots.runs[run]:
            return Replay.live(job, budget_bytes=budget_bytes)
        run_id, store = self.ports.shown.id_of(run), self.ports.database.store
        if run_id is None or store is None:
            raise InputError(tr("This run is not in the database: its decisions can no longer be found."))
        return Replay.stored(store, run_id, budget_bytes=budget_bytes)

    def _ask(self, run: int, owner: str, work: _Work) -> None:
        self._progress = 0.0
        self._reader.ask(lambda is_given_up: (run, owner, work(is_given_up)), is_other=True)
        if self.is_busy:
            self._progress_timer.start()
        self._show_progress()
        self.changed.emit()

    def _show_progress(self) -> None:
        self.content.set_waiting(self.is_busy, self._progress)
        if not self.is_busy:
            self._progress_timer.stop()

    def _on_failed(self, error: Exception) -> None:
        self._show_progress()
        self._decided = None
        self._followed = self._followed if self._is_following else None
        self.content.show_nothing(tr("No decision to explain"), str(error))
        self._on_line()
        self.changed.emit()

    def _take_progress(self, share: float) -> None:
        """Store the progress of a worker. A timer of the window reads it."""
        self._progress = share

    def _show(self, run: int, owner: str, point: ExplainedDecision) -> None:
        runs = self.ports.plots.runs
        label = runs[run].labels.get(owner, owner)
        self._decided = self._followed = (run, owner)
        self._show_progress()
        self.content.show_point(point, f"{label} ({runs[run].title})" if len(runs) > 1 else label, self._why)
        self._on_line()
        if not self._is_following:
            self.ports.plots.set_pin(point.told.time_s)
            playhead = self.ports.features[PlayheadFeature].playhead
            if playhead.time_s is not None:
                self._follow_timer.stop()
                # Align all views with this decision rather than with the click near it.
                playhead.seek(point.told.time_s)
        self.changed.emit()

    # ---- the playhead ----

    def _stop_following(self) -> None:
        """Show the requested decision, although the playhead may have moved just before, as by the same click."""
        self._is_following = False
        self._follow_timer.stop()

    def _on_moved(self, time_s: float) -> None:
        """Explain the time of the playhead, once it rests for a moment or during slow playback."""
        point = self.shown.point if self.shown is not None else None
        is_here = point is not None and abs(point.told.time_s - time_s) < _SAME_S
        if self._followed is None or is_here or not self.ports.docks.is_open("explain"):
            return
        if not self._follow_timer.isActive():
            self._follow_timer.start()

    def _follow(self) -> None:
        playhead = self.ports.features[PlayheadFeature].playhead
        time_s = playhead.looked_s
        if self._followed is None or time_s is None or self._followed[0] >= len(self.ports.plots.runs):
            return
        if playhead.run_shown != self._followed[0]:
            return  # the time belongs to another run
        self._why, self._is_following = "", True
        self._search(*self._followed, time_s)

    def _show_link(self, time_s: float, link: str) -> None:
        """Move the playhead to the cause, and choose its link on the canvas."""
        self.ports.features[PlayheadFeature].playhead.seek(time_s)
        self.ports.topology.scene.choose([f"links.{link.partition('/')[0]}"])

    def _try(self, change: Try) -> None:
        if self._decided is not None:
            self.try_wanted.emit(self._decided[0], change)

    def _show_agent(self) -> None:
        point = self.content.point
        if point is not None:
            self.ports.docks.raise_panel("agent")
            self.ports.features[AgentFeature].go_to_time(point.told.time_s)

    # ---- other runs ----

    def _forget_runs(self) -> None:
        self._forget_walks()
        self._decided = self._followed = self._curve = self._here = None
        self._follow_timer.stop()
        self.watching.compute()
        if self.shown is not None:
            self.shown.show_nothing()
            self._on_line()
        self.changed.emit()

    def _on_run_ended(self) -> None:
        self._forget_walks()
        self.watching.compute()

    def _forget_walks(self) -> None:
        """Drop the replays, because a live run is now stored or other runs are shown."""
        self._reader.forget()
        self._walks = {}


def deciding_owner(traces: Traces, owner: str, kind: str) -> str | None:
    """The owner of the decisions behind a curve: a subflow, a flow with a scheduler, or the only subflow of a flow.

    Args:
        traces: traces of the run.
        owner: owner of the curve.
        kind: kind of the curve.

    Returns:
        None for curves without decisions, e.g. of a flow with a constant rate.
    """
    deciding = {key.owner for key in traces.keys() if key.scope == SUBFLOW}  # noqa: SIM118 - a method of Traces
    if kind == SUBFLOW or "/" in owner:
        return owner if owner in deciding else None
    of_flow = [subflow for subflow in deciding if subflow.rpartition("/")[0] == owner]
    if len(of_flow) == 1:
        return of_flow[0]
    return owner if of_flow else None


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Entries of the Time menu."""
    yield ActionSpec(
        "explain.here",
        "E&xplain this point",
        "Show the decision behind the clicked point of a curve, or at the marked time of the chosen curve",
        "explain",
        ("Alt+Shift+Up",),
        lambda w, _: _explain(w).explain_here(),
        (possible("explain.here", PLOTS_SHOWN.otherwise),),
    )
    for step, by, text, key, otherwise in (
        (
            "previous",
            -1,
            "Earlier &decision",
            "Alt+Shift+Left",
            translatable("the Explain panel shows no decision, or the first one"),
        ),
        (
            "next",
            1,
            "L&ater decision",
            "Alt+Shift+Right",
            translatable("the Explain panel shows no decision, or the last one"),
        ),
    ):
        where = "before" if by < 0 else "after"
        yield ActionSpec(
            f"explain.{step}",
            text,
            f"Explain the decision {where} the one that the explain panel shows; a click on a curve chooses one",
            step,
            (key,),
            lambda w, _, by=by: _explain(w).step(by),  # type: ignore[misc]
            (possible(f"explain.{step}", otherwise),),
        )

    for step, by, text, key, otherwise in (
        (
            "previous",
            -1,
            "Line &before",
            "Alt+PgUp",
            translatable("the Explain panel shows no line of a script, or the first one"),
        ),
        (
            "next",
            1,
            "Line &after",
            "Alt+PgDown",
            translatable("the Explain panel shows no line of a script, or the last one"),
        ),
    ):
        yield ActionSpec(
            f"explain.{step}_line",
            text,
            f"Go to the {step} line that the script executed in the decision that the explain panel shows",
            "up" if by < 0 else "down",
            (key,),
            lambda w, _, by=by: _explain(w).step_line(by),  # type: ignore[misc]
            (possible(f"explain.{step}_line", otherwise),),
        )
    yield ActionSpec(
        "explain.open_script",
        "Open the s&cript there",
        "Open the deciding script at the line marked in Explain; a double-click on a line does the same",
        "script",
        ("Alt+Return",),
        lambda w, _: _explain(w).open_script(),
        (possible("explain.open_script", translatable("the Explain panel shows no line of a script")),),
    )
    yield ActionSpec(
        "explain.watch",
        "&Watch an expression",
        "Plot an expression of names in the script, with a value for each decision",
        "plots",
        ("Alt+Shift+Down",),
        lambda w, _: _explain(w).ask_watch(),
        (possible("explain.watch", translatable("the Explain panel shows no line of a script")),),
    )


def _explain(holder: FeatureHolder) -> ExplainFeature:
    return holder.features[ExplainFeature]
