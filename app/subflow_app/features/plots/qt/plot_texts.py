"""What the descriptions of plots say, in the language of the window. Figures that are written to files stay English."""

from __future__ import annotations

from subflow_app.features.plots.core import PlotSpec
from subflow_app.toolkit import format as fmt
from subflow_app.vocabulary.language import tr


def title_of(spec: PlotSpec) -> str:
    """Heading, with the name of the agent's number where the plot shows one."""
    return _with_number(spec, spec.title)


def axis_of(spec: PlotSpec) -> str:
    """Text of the value axis with its unit."""
    label = _with_number(spec, spec.y_label)
    return f"{label} ({tr(spec.unit)})" if spec.unit else label


def x_axis_of(spec: PlotSpec) -> str:
    """Text of the axis along the bottom with its unit."""
    if spec.x is None:
        return tr("Time (s)")
    return f"{tr(spec.x.label)} ({tr(spec.x.unit)})" if spec.x.unit else tr(spec.x.label)


def _with_number(spec: PlotSpec, text: str) -> str:
    if not spec.number:
        return tr(text)
    return f"{tr(text.removesuffix(f': {spec.number}'))}: {spec.number}"


def bins_text(bin_s: float | None) -> str:
    """In which bins curves are drawn: of so many seconds, as sampled (zero), or as the zoom asks for (None)."""
    if bin_s is None:
        return tr("Bins: automatic")
    return tr("Bins: {time} s", time=fmt.number(bin_s)) if bin_s else tr("Bins: raw samples")


def left_out_text(spec: PlotSpec) -> str:
    """That a plot is switched on and still not there, and what a run would need for it."""
    if spec.needs:
        return tr("No {plot} plot: no run shown has {needs}.", plot=tr(spec.title), needs=tr(spec.needs))
    return tr("No {plot} plot: no run shown has its data.", plot=tr(spec.title))
