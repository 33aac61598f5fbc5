"""What the learning agents saw when they decided, as the policy is given it."""

from __future__ import annotations

from dataclasses import replace

from subflow_app.core.agent_series import REWARD
from subflow_app.core.traces import FLOW, SUBFLOW, Traces
from subflow_app.plots.spec import AGENTS, Curve, PlotSpec, agent_curves


def curves(traces: Traces) -> list[Curve]:
    """One curve per subflow that an agent decides for: the first feature of what it saw of it, scaled."""
    return agent_curves(traces, "observation")


PLOT = PlotSpec(
    id="agent_observation",
    title="Agent observation",
    y_label="Observation, scaled",
    unit="",
    scale=1.0,
    columns=((FLOW, REWARD), (SUBFLOW, REWARD)),
    curves=curves,
    from_zero=False,
    is_signed=True,
    group=AGENTS,
    numbers="observation",
)


def of(name: str) -> PlotSpec:
    """The plot of one feature: "goodput".

    Subflows whose agent has none of that name have no samples.
    """

    def curves_of(traces: Traces) -> list[Curve]:
        return agent_curves(traces, "observation", name)

    return replace(
        PLOT, title=f"{PLOT.title}: {name}", y_label=f"{PLOT.y_label}: {name}", curves=curves_of, number=name
    )
