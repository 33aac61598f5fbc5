"""Colours of the series of experiments: a controller has the same one in every figure of every paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from subflow_app.vocabulary.palette import HUES, TOTAL, ColourKey

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.recipe import Recipe, Series

_BLUE, _VERMILLION, _GREEN, _PURPLE, _SKY, _ORANGE, _YELLOW = range(7)
# Shades of the palette, as are the other numbers: far from the plain hue on white and on dark grounds.
_FAR, _OLIVE = 6, 2

OURS = ColourKey(_VERMILLION, 0)
"""What a paper proposes: in no paper two of them are compared with each other."""

_BY_CONTROLLER: Mapping[str, ColourKey] = {
    "lia": ColourKey(_BLUE, 0),
    "olia": ColourKey(_SKY, 0),
    "balia": ColourKey(_GREEN, 0),
    "wvegas": ColourKey(_PURPLE, 0),
    "clean-slate": ColourKey(_ORANGE, 0),
    "mpcc-latency": ColourKey(_YELLOW, _OLIVE),
    "mpcc-loss": ColourKey(_YELLOW, _FAR),
    "uncoupled": ColourKey(TOTAL, 1),
    "newreno": ColourKey(TOTAL, 0),
    "cubic": ColourKey(_BLUE, _FAR),
    "vegas": ColourKey(_PURPLE, _FAR),
    "bbr": ColourKey(_GREEN, _FAR),
    "bbr3": ColourKey(_GREEN, _OLIVE),
    "copa": ColourKey(_PURPLE, _OLIVE),
    "coupled-cubic": ColourKey(_BLUE, _OLIVE),
    "dctcp": ColourKey(_ORANGE, _OLIVE),
    "prague": ColourKey(_SKY, _OLIVE),
    "vivace": ColourKey(_ORANGE, _FAR),
    "ewtcp": ColourKey(_SKY, _FAR),
    **dict.fromkeys(("drl-cc", "dql-mptcp", "ddpg-mpcc", "mplibra", "rl-explore"), OURS),
}
_MOST_SHADES = 7


def series_colours(recipe: Recipe) -> dict[str, ColourKey]:
    """A colour for each series of a recipe; no two have the same."""
    found: dict[str, ColourKey] = {}
    # What the paper proposes has its colour whatever comes first in the file.
    for series in sorted(recipe.series.values(), key=lambda each: not each.is_ours):
        wanted = OURS if series.is_ours else _BY_CONTROLLER.get(controller_of(series) or "")
        found[series.name] = _free(wanted, found)
    return {name: found[name] for name in recipe.series}


def controller_of(series: Series) -> str | None:
    """The controller that a series is about, as far as it names one."""
    for key, value in series.values.items():
        if key.rpartition(".")[2] == "controller":
            name = value.get("name") if isinstance(value, Mapping) else value
            if isinstance(name, str):
                return name
    agent = series.extra.get("agent") or series.extra.get("controller")
    return agent if isinstance(agent, str) else None


def _free(wanted: ColourKey | None, taken: Mapping[str, ColourKey]) -> ColourKey:
    """This colour, or the nearest that no other series has."""
    used = set(taken.values())
    if wanted is None:
        hues = {key.hue for key in used}
        # Blue first: what the paper proposes keeps its own.
        wanted = ColourKey(next((hue for hue in range(len(HUES)) if hue not in hues and hue != _VERMILLION), 0), 0)
    shades = [(wanted.shade + step) % _MOST_SHADES for step in range(_MOST_SHADES)]
    # Nobody sees plain or light yellow on white.
    order = dict.fromkeys((wanted.hue, *range(len(HUES) - 1)))
    keys = (ColourKey(hue, shade) for hue in order for shade in shades if hue != _YELLOW or shade in (_OLIVE, _FAR))
    return next((key for key in keys if key not in used), wanted)
