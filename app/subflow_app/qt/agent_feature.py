"""The panel of learning agents in the window: it goes with the plots, which follow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from subflow_app.qt.agent_panel import AgentPanel
from subflow_app.qt.features import Feature
from subflow_app.qt.theme import Tokens

if TYPE_CHECKING:
    from subflow_app.qt.main_window import MainWindow


class AgentFeature(Feature):
    """Shows the agents of the runs that the plots show."""

    panel_name = "agent"

    def __init__(self, window: MainWindow) -> None:
        """An empty panel."""
        super().__init__(window)
        self.panel: AgentPanel = AgentPanel(
            [window.bar[f"agent.{step}"] for step in ("first", "previous", "next", "last")]
        )

    def connect_parts(self) -> None:
        """Follows the runs that the plots show, and the one that goes on."""
        window, panel = self.window, self.panel
        window.plots.runs_changed.connect(lambda: panel.show_runs(window.plots.runs))
        window.plots.time_clicked.connect(panel.go_to_time)
        window.runs.ticked.connect(lambda _progress: panel.refresh())
        window.runs.ended.connect(lambda _job, _result: panel.refresh())
        panel.decision_chosen.connect(lambda _run, time_s: window.plots.set_pin(time_s))
        panel.number_chosen.connect(self._show_number)
        panel.changed.connect(self.changed)
        panel.failed.connect(window.notices.history_failed)

    def possible(self) -> frozenset[str]:
        """Going to decisions before and after the one that is shown."""
        earlier = {"agent.first", "agent.previous"} if self.panel.can_go_back else set()
        later = {"agent.next", "agent.last"} if self.panel.can_go_on else set()
        return frozenset(earlier | later)

    def apply_tokens(self, tokens: Tokens) -> None:
        """Recolours the panel."""
        self.panel.apply_tokens(tokens)

    def _show_number(self, kind: str, name: str) -> None:
        self.window.plots.set_number(f"agent_{kind}", name)
        self.window.set_plot_shown(f"agent_{kind}", True)
