"""Connects the panel of learning agents to the window, in particular to the plots and the playhead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.features.policies.core import find_policy, policy_lines
from subflow_app.features.training.core.agent_explanations import learning_subflows
from subflow_app.toolkit.action_bar import ActionBar, ActionSpec, possible
from subflow_app.toolkit.feature import FeatureHolder, PanelFeature
from subflow_app.vocabulary.language import tr, translatable

if TYPE_CHECKING:
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.features.running.qt.run_control import RunControl
    from subflow_app.features.training.qt.agent_panel import AgentPanel
    from subflow_app.toolkit.dialogs import Dialogs
    from subflow_app.toolkit.notices import Notices


class AgentPorts(FeatureHolder, Protocol):
    """Parts of the window that the panel of learning agents uses."""

    bar: ActionBar
    dialogs: Dialogs
    notices: Notices
    plots: PlotView
    runs: RunControl

    def set_plot_shown(self, plot_id: str, is_shown: bool) -> None:
        """Shows or hides a plot."""


class AgentFeature(PanelFeature["AgentPanel"]):
    """The panel that shows the learning agents of the plotted runs."""

    panel_name = "agent"
    title = translatable("Agent")
    room = (298, 140)  # px

    def __init__(self, ports: AgentPorts) -> None:
        super().__init__()
        self.ports = ports

    def make(self) -> AgentPanel:
        """Creates the panel, with buttons for stepping through decisions."""
        from subflow_app.features.training.qt.agent_panel import AgentPanel

        ports = self.ports
        content = AgentPanel([ports.bar[f"agent.{step}"] for step in ("first", "previous", "next", "last")])
        content.decision_chosen.connect(self._on_decision_chosen)
        content.number_chosen.connect(self._show_number)
        content.changed.connect(self.changed)
        content.failed.connect(ports.notices.history_failed)
        content.card_wanted.connect(self._show_card)
        return content

    def connect_parts(self) -> None:
        """Connects the panel to the plotted runs, the current run and the playhead."""
        ports = self.ports
        ports.plots.runs_changed.connect(self._on_runs_changed)
        ports.plots.time_clicked.connect(self.go_to_time)
        ports.runs.ticked.connect(lambda _progress: self._refresh())
        ports.runs.ended.connect(lambda _job, _result: self._refresh())
        ports.features[PlayheadFeature].playhead.moved.connect(self.show_time)

    def possible(self) -> frozenset[str]:
        """Names of those actions for stepping through decisions that are currently possible."""
        earlier = {"agent.first", "agent.previous"} if self.shown is not None and self.shown.can_go_back else set()
        later = {"agent.next", "agent.last"} if self.shown is not None and self.shown.can_go_on else set()
        return frozenset(earlier | later)

    def go_to_time(self, time_s: float) -> None:
        """Goes to the decision nearest to a time, if the runs have decisions."""
        if self.shown is not None:
            self.shown.go_to_time(time_s)

    def show_time(self, time_s: float) -> None:
        """Shows the decision nearest to a time of the playhead."""
        if self.shown is not None:
            self.shown.show_time(time_s)

    def _on_decision_chosen(self, _run: int, time_s: float) -> None:
        self.ports.plots.set_pin(time_s)
        self.ports.features[PlayheadFeature].move_to(time_s)

    def _on_runs_changed(self) -> None:
        runs = self.ports.plots.runs
        # Runs with agents need the panel even while it is hidden: actions and clicks in plots select decisions in it.
        if self.shown is not None or any(map(learning_subflows, runs)):
            self.content.show_runs(runs)

    def _show_card(self, name: str) -> None:
        """Shows where a policy comes from: kind, file, hash, and its card."""
        record = find_policy(name)
        self.ports.dialogs.report(tr("Policy {name}", name=record.name), "\n".join(policy_lines(record)))

    def _refresh(self) -> None:
        if self.shown is not None:
            self.shown.refresh()

    def _show_number(self, kind: str, name: str) -> None:
        self.ports.plots.set_number(f"agent_{kind}", name)
        self.ports.set_plot_shown(f"agent_{kind}", True)


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Entries of the Run menu for stepping through the decisions of a learning agent."""
    yield ActionSpec(
        "agent.first",
        "&First decision",
        "Go to the first decision of the learning agent that the agent panel shows",
        "first",
        ("Alt+Home",),
        lambda w, _: w.features[AgentFeature].content.go_to_first(),
        (possible("agent.first", translatable("no earlier decision of an agent")),),
    )
    yield ActionSpec(
        "agent.previous",
        "Pre&vious decision",
        "Go to the previous decision of the learning agent; a click in the plots goes to the nearest",
        "previous",
        ("Alt+Left",),
        lambda w, _: w.features[AgentFeature].content.step(-1),
        (possible("agent.previous", translatable("no earlier decision of an agent")),),
    )
    yield ActionSpec(
        "agent.next",
        "Ne&xt decision",
        "Go to the next decision of the learning agent; a click in the plots goes to the nearest",
        "next",
        ("Alt+Right",),
        lambda w, _: w.features[AgentFeature].content.step(1),
        (possible("agent.next", translatable("no later decision of an agent")),),
    )
    yield ActionSpec(
        "agent.last",
        "L&atest decision",
        "Go to the latest decision of the learning agent, and follow it during a run",
        "last",
        ("Alt+End",),
        lambda w, _: w.features[AgentFeature].content.go_to_last(),
        (possible("agent.last", translatable("no later decision of an agent")),),
    )
