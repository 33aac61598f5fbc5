"""The name of a line across plots; free of pyqtgraph, because the legend needs it too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from subflow_app.features.plots.core import Curve


class CurveId(NamedTuple):
    """One subflow (or flow, or link direction) of one run: one colour, one dash and one legend entry in all plots."""

    run: int
    owner: str
    kind: str


def curve_id(curve: Curve) -> CurveId:
    """The id of a curve; the total of a flow and the flow itself are the same line to a reader."""
    return CurveId(curve.run, curve.owner, line_kind(curve.kind))


def line_kind(kind: str) -> str:
    """The kind of the line that curves or bars of this kind are of."""
    return "flow" if kind == "total" else kind


def run_names(curves: Iterable[Curve]) -> dict[int, str]:
    """The name of each run of an overlay, by position."""
    return dict(sorted({curve.run: curve.run_title for curve in curves}.items()))
