"""How a person wants curves to be drawn, in all plots of a window."""

from __future__ import annotations

from dataclasses import dataclass

from subflow_app.features.plots.core.drawing.colouring import BY_RUN, ColourBy


@dataclass(frozen=True, slots=True)
class CurveChoices:
    """What was chosen.

    Attributes:
        bin_s: in bins of which length curves over time are drawn, s; zero: as sampled, None: as the zoom asks for.
        colour_by: what colours tell apart.
        seeds_averaged: whether runs of one experiment are drawn as their mean, where they are enough.
        crowds_summed_up: whether of very many flows the median is drawn.
        ghosts_shown: whether originals are drawn behind their forks.
    """

    bin_s: float | None = None
    colour_by: ColourBy = BY_RUN
    seeds_averaged: bool = True
    crowds_summed_up: bool = True
    ghosts_shown: bool = True
