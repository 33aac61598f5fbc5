"""What the learning agents earned in the latest epoch."""

from __future__ import annotations

from subflow_app.core.learning.agent_series import REWARD
from subflow_app.core.plots.spec import AGENTS, Curve, PlotSpec, column_curves
from subflow_app.core.traces import FLOW, SUBFLOW, Traces


def curves(traces: Traces) -> list[Curve]:
    """One curve per connection, or per subflow where each has an agent of its own, in the controller's own unit."""
    return column_curves(traces, FLOW, REWARD) + column_curves(traces, SUBFLOW, REWARD)


PLOT = PlotSpec(
    id="reward",
    title="Reward",
    y_label="Reward",
    unit="",
    scale=1.0,
    columns=((FLOW, REWARD), (SUBFLOW, REWARD)),
    curves=curves,
    from_zero=False,
    is_signed=True,
    group=AGENTS,
    needs="a learning agent",
)
