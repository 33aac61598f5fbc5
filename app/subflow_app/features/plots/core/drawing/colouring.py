"""What the colours of curves and bars tell apart: the subflows of each run, its controllers, or the runs themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from subflow_app.features.traces.core.traces import Traces
from subflow_app.vocabulary.palette import TOTAL, ColourKey

ColourBy = Literal["run", "controller", "subflow"]
BY_RUN: ColourBy = "run"
BY_CONTROLLER: ColourBy = "controller"
BY_SUBFLOW: ColourBy = "subflow"

# The total of a flow is darker than its parts, where they have one hue.
_SHADE_OF_TOTAL = 2


class Colouring:
    """Colours and dashes of the lines of several runs."""

    def __init__(self, runs: Sequence[Traces], by: ColourBy, ranks: Sequence[int]) -> None:
        """Tells apart what ``by`` says.

        Args:
            runs: that are shown.
            by: of a single run, colour by run is colour by subflow.
            ranks: of each run, its place among what is told apart as a run: a fork and its original have the same.
        """
        self._ranks = tuple(ranks)
        self.by: ColourBy = BY_SUBFLOW if by == BY_RUN and len(set(ranks)) < 2 else by
        names = dict.fromkeys(name for traces in runs for name in traces.controllers.values())
        hues = {name: hue for hue, name in enumerate(names)}
        self._hues: list[Mapping[str, int]] = [
            {flow: hues[name] for flow, name in traces.controllers.items()} for traces in runs
        ]

    def colour(self, own: ColourKey, run: int, owner: str) -> ColourKey:
        """The colour of a line whose own one, among the lines of its run, is ``own``."""
        if self.by == BY_RUN:
            return _of_hue(self._ranks[run], own)
        if self.by == BY_CONTROLLER:
            hue = self._hues[run].get(owner.partition("/")[0])
            # What no controller governs, as links, keeps its own.
            return own if hue is None else _of_hue(hue, own)
        return own

    def dash(self, own: ColourKey, run: int) -> int:
        """Number of the dash pattern: what the hue does not tell apart."""
        if self.by == BY_RUN or (self.by == BY_CONTROLLER and len(set(self._ranks)) < 2):
            return max(0, own.hue)
        return self._ranks[run]


def _of_hue(hue: int, own: ColourKey) -> ColourKey:
    """A line of this hue, whose shade says which line of its run it is."""
    return ColourKey(hue, own.shade + (_SHADE_OF_TOTAL if own.hue == TOTAL else own.hue))
