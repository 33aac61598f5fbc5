"""The panel of learning agents in the window: it goes with the plots, which follow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from subflow_app.core.learning.agent_series import learning_subflows
from subflow_app.qt.feature import Feature
from subflow_app.qt.widgets.lazy_panel import LazyPanel
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.qt.agent_panel import AgentPanel
    from subflow_app.qt.main_window import MainWindow

_ROOM = (298, 140)  # px


class AgentFeature(Feature):
    """Shows the agents of the runs that the plots show."""

    panel_name = "agent"

    decision_chosen = Signal(int, float)  # position of the run among those shown, time of the decision, s

    def __init__(self, window: MainWindow) -> None:
        """An empty panel."""
        super().__init__()
        self.window = window
        self.panel: LazyPanel = LazyPanel("agent_panel", tr("Agent"), room=_ROOM)
        self._content: AgentPanel | None = None

    @property
    def content(self) -> AgentPanel:
        """What is in the panel; it comes when it is first asked for."""
        if self._content is None:
            from subflow_app.qt.agent_panel import AgentPanel

            window = self.window
            steps = [window.bar[f"agent.{step}"] for step in ("first", "previous", "next", "last")]
            content = self._content = AgentPanel(steps)
            content.decision_chosen.connect(lambda _run, time_s: window.plots.set_pin(time_s))
            content.decision_chosen.connect(self.decision_chosen)
            content.number_chosen.connect(self._show_number)
            content.changed.connect(self.changed)
            content.failed.connect(window.notices.history_failed)
            self.panel.put_in(content, scrolls=True)
        return self._content

    def connect_parts(self) -> None:
        """Follows the runs that the plots show, and the one that goes on."""
        window = self.window
        self.panel.first_shown.connect(lambda: self.content)
        window.plots.runs_changed.connect(self._on_runs_changed)
        window.plots.time_clicked.connect(self.go_to_time)
        window.runs.ticked.connect(lambda _progress: self._refresh())
        window.runs.ended.connect(lambda _job, _result: self._refresh())

    def possible(self) -> frozenset[str]:
        """Going to decisions before and after the one that is shown."""
        content = self._content
        earlier = {"agent.first", "agent.previous"} if content is not None and content.can_go_back else set()
        later = {"agent.next", "agent.last"} if content is not None and content.can_go_on else set()
        return frozenset(earlier | later)

    def go_to_time(self, time_s: float) -> None:
        """Goes to the decision nearest to a time, if the runs have any."""
        if self._content is not None:
            self._content.go_to_time(time_s)

    def show_time(self, time_s: float) -> None:
        """Shows the decision nearest to a time, as the playhead moves there."""
        if self._content is not None:
            self._content.show_time(time_s)

    def _on_runs_changed(self) -> None:
        runs = self.window.plots.runs
        # Runs that learn need it even while nobody looks: the plots' clicks and the actions go to their decisions.
        if self._content is not None or any(map(learning_subflows, runs)):
            self.content.show_runs(runs)

    def _refresh(self) -> None:
        if self._content is not None:
            self._content.refresh()

    def _show_number(self, kind: str, name: str) -> None:
        self.window.plots.set_number(f"agent_{kind}", name)
        self.window.set_plot_shown(f"agent_{kind}", True)
