"""What the descriptions of plots say, in the language of the window. Figures that are written to files stay English."""

from __future__ import annotations

from subflow_app.core.language import tr
from subflow_app.plots import PlotSpec


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
