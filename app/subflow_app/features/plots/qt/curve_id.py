"""Ids of lines across plots, and texts of plots in the language of the window.

This module works without pyqtgraph, because the legend uses it too. Figures in files are always in English.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from subflow_app.features.forking.core.words import split_ghost_title
from subflow_app.features.history.core.run_names import told_apart
from subflow_app.features.plots.core import Curve, PlotSpec
from subflow_app.toolkit import format as fmt
from subflow_app.vocabulary.language import tr


class CurveId(NamedTuple):
    """Id of a line: a subflow, flow or link direction of one run, with one colour and one legend entry in all plots."""

    run: int
    owner: str
    kind: str


def curve_id(curve: Curve) -> CurveId:
    """The id of a curve; a flow and its total share one id."""
    return CurveId(curve.run, curve.owner, line_kind(curve.kind))


def line_kind(kind: str) -> str:
    """Kind of the line to which curves or bars of this kind belong."""
    return "flow" if kind == "total" else kind


def run_names(curves: Iterable[Curve]) -> dict[int, str]:
    """Name of each run of an overlay, by position."""
    return dict(sorted({curve.run: curve.run_title for curve in curves}.items()))


def short_run_names(curves: Iterable[Curve]) -> dict[int, str]:
    """Names of the runs of an overlay by position, each without the beginning that all share.

    A run beside its ghost alone is named by its relation to the ghost: "Fork" or "After".
    """
    every = list(curves)
    names = run_names(every)
    ghosts = {curve.run for curve in every if curve.is_ghost}
    parts = {run: split_ghost_title(name) if run in ghosts else ("", name) for run, name in names.items()}
    common, rests = told_apart([title for _tag, title in parts.values()])
    is_enough = bool(common) and len(set(rests)) == len(rests)
    shorts = {
        run: (f"{tag}: {rest}" if is_enough else tag) if tag else (rest if is_enough else title)
        for (run, (tag, title)), rest in zip(parts.items(), rests, strict=True)
    }
    if len(ghosts) == 1 and len(shorts) == 2:
        (ghost,) = ghosts
        other = {tr("Original"): tr("Fork"), tr("Before"): tr("After")}.get(shorts[ghost])
        shorts |= {run: other for run in shorts.keys() - ghosts if other is not None}
    return shorts if len(set(shorts.values())) == len(shorts) else names


def title_of(spec: PlotSpec) -> str:
    """Title of a plot, with the name of the agent's number if it shows one."""
    return _with_number(spec, spec.title)


def axis_of(spec: PlotSpec) -> str:
    """Text of the value axis with its unit."""
    label = _with_number(spec, spec.y_label)
    return f"{label} ({tr(spec.unit)})" if spec.unit else label


def x_axis_of(spec: PlotSpec) -> str:
    """Text of the x axis with its unit."""
    if spec.x is None:
        return tr("Time (s)")
    return f"{tr(spec.x.label)} ({tr(spec.x.unit)})" if spec.x.unit else tr(spec.x.label)


def _with_number(spec: PlotSpec, text: str) -> str:
    if not spec.number:
        return tr(text)
    return f"{tr(text.removesuffix(f': {spec.number}'))}: {spec.number}"


def bins_text(bin_s: float | None) -> str:
    """Text that describes a bin length in s; 0 means raw samples, and None means that the bin length is automatic."""
    if bin_s is None:
        return tr("Bins: automatic")
    return tr("Bins: {time} s", time=fmt.number(bin_s)) if bin_s else tr("Bins: raw samples")


def left_out_text(spec: PlotSpec) -> str:
    """Message that a plot is switched on but missing, with the requirement that the runs do not meet."""
    if spec.needs:
        return tr("No {plot} plot: no run shown has {needs}.", plot=tr(spec.title), needs=tr(spec.needs))
    return tr("No {plot} plot: no run shown has its data.", plot=tr(spec.title))
