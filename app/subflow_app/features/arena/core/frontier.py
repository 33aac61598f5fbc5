"""Who is on the frontier of two columns: nobody else is at least as good in both, and better in one.

The frontier is of those who heed the network: the oracle knows it, and who sends blindly has short queues by sending
next to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from subflow_app.features.arena.core.columns import COLUMNS
from subflow_app.features.arena.core.standings import Standing
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.palette import ColourKey
from subflow_app.vocabulary.pareto import pareto_front
from subflow_app.vocabulary.picture import Panel, PanelSeries
from subflow_sim.arena.blind import BLIND


def scatter(rows: Sequence[Standing], along: str, up: str, order: Sequence[str] = ()) -> Panel:
    """The picture of two columns: a mark for each entrant of which both are known, best rank first.

    Args:
        rows: standings.
        along: column of the x axis.
        up: column of the y axis.
        order: names whose places choose the colours; left out: the rank does.
    """
    x, y = COLUMNS[along], COLUMNS[up]
    both = [(row.name, row.columns.get(along, math.nan), row.columns.get(up, math.nan)) for row in rows]
    known = [each for each in both if math.isfinite(each[1]) and math.isfinite(each[2])]
    others = [each for each in known if each[0] not in BLIND]
    front = pareto_front([(x.better * each[1], y.better * each[2]) for each in others])
    best = {name for (name, *_), is_best in zip(others, front, strict=True) if is_best}
    places = {name: place for place, name in enumerate(order or [name for name, *_ in known])}
    nothing = np.array([math.nan])
    series = tuple(
        PanelSeries(
            name,
            ColourKey(places[name], 0),
            places[name],
            name in best,
            np.array([value_y * y.scale]),
            nothing,
            x=np.array([value_x * x.scale]),
            x_halves=nothing,
        )
        for name, value_x, value_y in known
    )
    names = ", ".join(each.name for each in sorted(series, key=lambda each: float(each.x[0])) if each.is_ours)
    note = tr("Frontier: {names}", names=names) if names else ""
    return Panel(
        "scatter", "", x.axis_title, y.axis_title, ("",), np.empty(0), series, note, better=(x.better, y.better)
    )
