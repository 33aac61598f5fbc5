"""The values at the crosshair as text behind the title of a plot, for when there is no legend."""

from __future__ import annotations

import math
from collections.abc import Mapping

from subflow_app.features.plots.core import Curve
from subflow_app.features.plots.qt.curve_id import CurveId
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.plotting.title_item import Span
from subflow_app.toolkit.theme import Tokens
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr


def readout(
    at_time: Mapping[CurveId, float],
    time_s: float | None,
    curves: Mapping[CurveId, Curve],
    hidden: frozenset[CurveId],
    tokens: Tokens,
) -> list[Span]:
    """The values of the visible curves of a plot at a time, s, in its unit; nothing for None."""
    if time_s is None:
        return []
    spans = [Span(f"   {tr('at {time} s', time=fmt.number(time_s, 4))}", tokens.muted_text)]
    # The same line of several runs stands together: "wifi 3.5 / 3.7".
    values: dict[tuple[str, str], list[str]] = {}
    lines: dict[tuple[str, str], Curve] = {}
    for key, value in at_time.items():
        if key not in hidden and math.isfinite(value):
            values.setdefault((key.owner, key.kind), []).append(fmt.number(value))
            lines.setdefault((key.owner, key.kind), curves[key])
    for line, texts in values.items():
        colour = palette.hex_colour(lines[line].colour, dark=tokens.is_dark)
        spans.append(Span(f"   {lines[line].label} ", tokens.muted_text))
        spans.append(Span(" / ".join(texts), colour, bold=True))
    return spans
