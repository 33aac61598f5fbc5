"""What the learning agents did, decision by decision."""

from __future__ import annotations

from dataclasses import replace

from subflow_app.core.agent_series import REWARD
from subflow_app.core.traces import FLOW, SUBFLOW, Traces
from subflow_app.plots.spec import AGENTS, Curve, PlotSpec, agent_curves


def curves(traces: Traces) -> list[Curve]:
    """One curve per subflow that an agent decides for: the first number of its action, or the number of its choice."""
    return agent_curves(traces, "action")


PLOT = PlotSpec(
    id="agent_action",
    title="Agent action",
    y_label="Action",
    unit="",
    scale=1.0,
    columns=((FLOW, REWARD), (SUBFLOW, REWARD)),
    curves=curves,
    from_zero=False,
    is_signed=True,
    group=AGENTS,
    numbers="action",
)


def of(name: str) -> PlotSpec:
    """The plot of one number of the action: "window_change".

    Subflows whose agent has none of that name have no samples.
    """

    def curves_of(traces: Traces) -> list[Curve]:
        return agent_curves(traces, "action", name)

    return replace(
        PLOT, title=f"{PLOT.title}: {name}", y_label=f"{PLOT.y_label}: {name}", curves=curves_of, number=name
    )
