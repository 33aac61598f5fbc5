"""Impossible numbers in a summary, such as a loss ratio above 1, which are reported and left out of pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from subflow_app.vocabulary.measures import MEASURES, measure
from subflow_app.vocabulary.number_text import finite


class Impossible(NamedTuple):
    """A number outside the bounds of its measure.

    Attributes:
        key: dotted key, as in the store: ``flows.download.loss_ratio``.
        value: SI value.
        least: lower bound, SI.
        most: upper bound, SI; may be infinite.
    """

    key: str
    value: float
    least: float
    most: float

    @property
    def allowed(self) -> str:
        """The bounds in words."""
        return f"at least {self.least:g}" if math.isinf(self.most) else f"{self.least:g} to {self.most:g}"


def impossible_values(summary: Mapping[str, Any]) -> list[Impossible]:
    """The impossible numbers in a summary, flow by flow and link by link.

    Args:
        summary: a summary of a run; any part may be missing.
    """
    found = []
    for owner, part in _parts(summary):
        for name, entry in part.items():
            value = finite(entry)
            if name in MEASURES and value is not None and not (shown := measure(name)).is_possible(value):
                found.append(Impossible(f"{owner}{name}", value, *shown.bounds))
    return found


def _parts(summary: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield "fairness.", summary.get("fairness") or {}
    for flow in _entries(summary, "flows"):
        yield f"flows.{flow.get('name', '')}.", flow
        for number, subflow in enumerate(_entries(flow, "subflows"), start=1):
            yield f"flows.{flow.get('name', '')}/{number}.", subflow
    for link in _entries(summary, "links"):
        yield f"links.{link.get('name', '')}/{link.get('direction', '')}.", link


def _entries(document: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    return document.get(name) or ()
