"""Shows a simulation in notebooks: curves as HTML, samples as data frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from subflow_sim.trace import Column
    from subflow_sim.whole_scenario import Scenario

DataFrameLibrary = Literal["pandas", "polars"]
DATA_FRAME_LIBRARIES: tuple[DataFrameLibrary, ...] = ("pandas", "polars")

# Curves by quantity of subflows: title, display unit, factor from SI.
_DRAWN = {
    "throughput_bps": ("Throughput", "Mbit/s", 1e-6),
    "cwnd_pkts": ("Congestion window", "packets", 1.0),
    "srtt_s": ("Smoothed round-trip time", "ms", 1e3),
}
# Colours of Okabe and Ito (2008), without black and yellow, which are invisible on the background of some notebooks.
_INKS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9")
_MOST_CURVES = len(_INKS)
_MOST_POINTS = 400
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 720, 150, 58, 24


class Sampled(Protocol):
    """Attributes and methods of a simulation that notebooks use."""

    scenario: Scenario
    seed: int
    duration_s: float
    sample_interval_s: float

    @property
    def columns(self) -> tuple[Column, ...]:
        """The sampled quantities, in the order of `values`."""

    @property
    def now_s(self) -> float:
        """Simulated time so far, s."""

    @property
    def finished(self) -> bool:
        """True at the end of the run."""

    @property
    def sample_count(self) -> int:
        """Number of samples per column so far."""

    def values(self, index: int) -> NDArray[np.float32]:
        """Samples of the column with this index in `columns`, SI."""

    def summary(self) -> dict[str, Any]:
        """Results so far, as `Simulation.summary`."""

    def signature(self) -> str:
        """Hash of all events so far."""


def data_frame(simulation: Sampled, library: DataFrameLibrary | None) -> Any:
    """The samples taken so far: `time_s`, then a column `owner:quantity` for each of `columns`, in SI units.

    Raises:
        ImportError: if the named library is missing; without a name, if all supported libraries are missing.
        ValueError: if the name is not in `DATA_FRAME_LIBRARIES`.
    """
    if library is not None and library not in DATA_FRAME_LIBRARIES:
        raise ValueError(f"library {library!r}: must be one of {', '.join(DATA_FRAME_LIBRARIES)}, or None for either")
    made = _first_there(DATA_FRAME_LIBRARIES if library is None else (library,))
    columns = {"time_s": _times_s(simulation)}
    columns |= {
        f"{column.owner}:{column.name}": np.array(simulation.values(place))
        for place, column in enumerate(simulation.columns)
    }
    return made.DataFrame(columns)


def html(simulation: Sampled) -> str:
    """Title, results so far and curves of the subflows, as HTML without scripts or external files."""
    scenario = simulation.scenario
    state = "finished" if simulation.finished else f"at {simulation.now_s:g} of {simulation.duration_s:g} s"
    parts = [
        f"<p><b>{escape(scenario.name)}</b>, seed {simulation.seed}, {state}, signature "
        f"<code>{simulation.signature()}</code></p>",
        *_charts(simulation),
    ]
    return f'<div class="subflow-simulation">{"".join(parts)}{_table(simulation)}</div>'


def _first_there(libraries: Sequence[str]) -> Any:
    for name in libraries:
        try:
            return import_module(name)
        except ImportError:
            continue
    raise ImportError(f"a data frame needs {' or '.join(libraries)}: pip install {libraries[0]}")


def _times_s(simulation: Sampled) -> NDArray[np.float64]:
    return simulation.sample_interval_s * np.arange(1, simulation.sample_count + 1, dtype=np.float64)


def _charts(simulation: Sampled) -> list[str]:
    if simulation.sample_count < 2:
        return ["<p>Nothing was sampled yet: <code>run_until</code> simulates.</p>"]
    charts = []
    for name, (title, unit, factor) in _DRAWN.items():
        found = [(place, column) for place, column in enumerate(simulation.columns) if column.name == name]
        curves = [(place, column) for place, column in found if column.scope == "subflow"]
        if curves:
            charts.append(_chart(simulation, curves, f"{title} ({unit})", factor))
    return charts


def _chart(simulation: Sampled, curves: list[tuple[int, Column]], title: str, factor: float) -> str:
    """A chart of one quantity over time, with the first curves and a note on how many are omitted."""
    shown = curves[:_MOST_CURVES]
    times = _times_s(simulation)
    step = max(1, math.ceil(len(times) / _MOST_POINTS))
    drawn = [np.asarray(simulation.values(place), dtype=np.float64)[::step] * factor for place, _column in shown]
    top = _round_up(max((float(np.nanmax(each)) for each in drawn if np.isfinite(each).any()), default=0.0))
    end = float(times[-1])
    wide, high = _WIDTH - _LEFT - 8, _HEIGHT - _BOTTOM - 8
    lines = []
    for values, ink in zip(drawn, _INKS, strict=False):
        for points in _pieces(times[::step], values):
            path = " ".join(f"{_LEFT + wide * t / end:.1f},{8 + high * (1 - v / top):.1f}" for t, v in points)
            lines.append(f'<polyline points="{path}" fill="none" stroke="{ink}" stroke-width="1.5"/>')
    axes = (
        f'<path d="M{_LEFT},8 V{8 + high} H{_LEFT + wide}" fill="none" stroke="currentColor" stroke-width="0.8"/>'
        f'<text x="{_LEFT - 5}" y="15" text-anchor="end">{top:g}</text>'
        f'<text x="{_LEFT - 5}" y="{8 + high}" text-anchor="end">0</text>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 4}" text-anchor="middle">0</text>'
        f'<text x="{_LEFT + wide}" y="{_HEIGHT - 4}" text-anchor="end">{end:g} s</text>'
    )
    names = ", ".join(
        f'<span style="color:{ink}">&#9632;</span> {escape(column.owner)}'
        for (_place, column), ink in zip(shown, _INKS, strict=False)
    )
    others = f", and {len(curves) - len(shown)} more" if len(curves) > len(shown) else ""
    label = f"{title} of {len(shown)} subflows over {end:g} s"
    return (
        f"<figure style='margin:0.6em 0'><figcaption>{title}: {names}{others}</figcaption>"
        f'<svg role="img" aria-label="{label}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'style="width:100%;max-width:{_WIDTH}px;font:12px sans-serif;fill:currentColor">{axes}{"".join(lines)}</svg>'
        "</figure>"
    )


def _pieces(times: NDArray[np.float64], values: NDArray[np.float64]) -> list[list[tuple[float, float]]]:
    """The points of a curve, divided at missing values."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for t, v in zip(times.tolist(), values.tolist(), strict=True):
        if math.isfinite(v):
            pieces[-1].append((t, v))
        elif pieces[-1]:
            pieces.append([])
    return [piece for piece in pieces if piece]


def _round_up(value: float) -> float:
    """The smallest round number that is not below a value, for an axis; 1 for values of 0 or less."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * power >= value * (1 - 1e-9))


# Measures of flows by key: heading, scale, decimals, and the flows that show the measure, which are those with a size
# (True), those without (False) or all (None). A test compares the values with the application's table of measures.
MEASURES = {
    "completion_s": ("Completion time, s", 1.0, 3, True),
    "active_goodput_bps": ("Goodput while active, Mbit/s", 1e-6, 3, True),
    "goodput_bps": ("Goodput, Mbit/s", 1e-6, 3, False),
    "loss_ratio": ("Loss, %", 100.0, 2, None),
}


def _table(simulation: Sampled) -> str:
    """Table of the flows. Flows with a size show completion time and active goodput, endless flows goodput."""
    flows = simulation.summary()["flows"]
    is_sized = [flow["size_bytes"] is not None for flow in flows]
    shown = {key: of for key, of in MEASURES.items() if of[3] is None or of[3] in is_sized}
    head = "".join(f"<th>{title}</th>" for title in ("Flow", "Controller", *(of[0] for of in shown.values())))
    rows = []
    for flow, has_size in zip(flows, is_sized, strict=True):
        cells = [escape(flow["name"]), escape(flow["controller"])]
        for key, (_, scale, decimals, of_sized) in shown.items():
            is_known = flow[key] is not None and of_sized in (None, has_size)
            cells.append(f"{flow[key] * scale:.{decimals}f}" if is_known else "–")
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
