"""Owners of traces, with colours and dashes that are the same in curves, subflow paths and exported figures.

The hues are those of Okabe and Ito, which people with the common forms of colour blindness can distinguish. A hue
belongs to one subflow of a flow *definition* (``[flows.download]``, first path); the instances of a flow with
``count = 5`` share its hue in five shades. Thus the ribbon of a path in the topology, the curves of its subflows and
the legend of a figure agree, and the fifteen curves of a fairness experiment still form three groups. One hue per
instance was the alternative, but only seven hues exist.

Source: Okabe, Ito 2008, "Color Universal Design".

An owner string names a flow, a copy of a flow, a subflow, or a direction of a link. ``download.3/2`` is the second
subflow of the third copy of `download`, ``wifi/forward`` a direction of `wifi`. Names in scenarios consist of letters,
digits, ``-`` and ``_``. Names from measurements and other databases may contain any character, so `trace_owner` escapes
the separators in them. `written` restores the original name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from subflow_app.vocabulary.number_text import ordinal
from subflow_app.vocabulary.plain_text import readable_line

_COPY = re.compile(r"[A-Za-z0-9_-]*(\.[1-9][0-9]{0,4})?")
"""Names of flows, copies and links in scenarios; any other name is escaped."""
_SPELLED = {"%": "%25", ".": "%2E", "/": "%2F"}
_SIDES = ("forward", "reverse")


class Owner(NamedTuple):
    """The parts of an owner.

    Attributes:
        name: name of the flow in the scenario.
        instance: index of the copy, from 0.
        ordinal: number of the subflow, from 1; 0 for the flow itself.
    """

    name: str
    instance: int = 0
    ordinal: int = 0


def trace_owner(scope: str, text: str) -> str:
    """The owner of a trace, from its text in a file or a database.

    Args:
        scope: "flow", "subflow" (a number may follow a slash) or "link" (a direction may follow a slash).
        text: text such as ``10.0.0.1/2``.
    """
    if scope != "flow":
        name, slash, part = text.rpartition("/")
        if slash and (part in _SIDES if scope == "link" else ordinal(part) and part.isascii()):
            return f"{_spelled(name)}/{part}"
    return _spelled(text)


def written(owner: str) -> str:
    """The original text of an owner that `trace_owner` has escaped."""
    if "%" not in owner:
        return owner
    for character in reversed(_SPELLED):
        owner = owner.replace(_SPELLED[character], character)
    return owner


def label_of(owner: str) -> str:
    """An owner as one line of text for display."""
    return readable_line(written(owner))


def split_owner(owner: str) -> Owner:
    """The parts of an owner: ``"download.3/2"`` is ``("download", 2, 2)``."""
    flow, _, part = owner.partition("/")
    name, _, instance = flow.partition(".")
    return Owner(name, int(instance) - 1 if instance else 0, (ordinal(part) or 0) if part else 0)


def _spelled(name: str) -> str:
    if _COPY.fullmatch(name):
        return name
    for character, spelling in _SPELLED.items():
        name = name.replace(character, spelling)
    return name


OKABE_ITO: Mapping[str, str] = {
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "sky": "#56B4E9",
    "orange": "#E69F00",
    "yellow": "#F0E442",
    "black": "#000000",
}

# Yellow comes last because it is hard to see on white; black is reserved for totals.
HUES: tuple[str, ...] = tuple(
    OKABE_ITO[name] for name in ("blue", "vermillion", "green", "purple", "sky", "orange", "yellow")
)

TOTAL_ON_LIGHT = "#000000"
TOTAL_ON_DARK = "#F2F2F2"

# Shift of the hue for the k-th instance of a flow: towards white (positive) or black (negative).
_SHADES: tuple[float, ...] = (0.0, 0.40, -0.35, 0.20, -0.18, 0.55, -0.50)
# Shifts on a dark background, where a darkened hue would be invisible: never towards black, and most towards white.
_SHADES_ON_DARK: tuple[float, ...] = (0.20, 0.46, 0.0, 0.33, 0.10, 0.60, 0.73)

# Dash of the k-th run in an overlay, in multiples of the line width: on, off, on, off ... Empty is a solid line.
_DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (6.0, 3.0),
    (2.0, 2.0),
    (8.0, 2.5, 2.0, 2.5),
    (4.0, 2.0, 1.5, 2.0, 1.5, 2.0),
)


class ColourKey(NamedTuple):
    """A colour before the theme is known.

    Attributes:
        hue: index of the hue (0 is the first subflow of the first flow), or -1 for the neutral colour of totals.
        shade: index of the shade, from 0: the instance of the flow, the total, or 1 for the reverse direction of a
            link. Shades repeat after seven.
        chosen: ``#RRGGBB`` that the user chose instead, the same in every theme; empty if the user chose no colour.
    """

    hue: int
    shade: int
    chosen: str = ""


TOTAL = -1
_BLUE, _VERMILLION, _GREEN, _PURPLE, _SKY, _ORANGE, _YELLOW = range(7)
# Shades of the palette that differ clearly from the plain hue on white and on dark backgrounds.
_FAR, _OLIVE = 6, 2

OURS = ColourKey(_VERMILLION, 0)
"""Colour of the controller that a paper proposes; all papers share it, because no figure shows two proposals."""

CONTROLLER_COLOURS: Mapping[str, ColourKey] = {
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
"""Colours of controllers in figures that compare them, the same in all."""


def free_colour(wanted: ColourKey | None, taken: Iterable[ColourKey]) -> ColourKey:
    """The requested colour, or the nearest unused colour; None requests any."""
    used = set(taken)
    if wanted is None:
        hues = {key.hue for key in used}
        # Blue comes first; vermillion is reserved for the proposal of the paper.
        wanted = ColourKey(next((hue for hue in range(len(HUES)) if hue not in hues and hue != _VERMILLION), 0), 0)
    shades = [(wanted.shade + step) % len(_SHADES) for step in range(len(_SHADES))]
    # Plain and light yellow are invisible on white.
    order = dict.fromkeys((wanted.hue, *range(len(HUES) - 1)))
    keys = (ColourKey(hue, shade) for hue in order for shade in shades if hue != _YELLOW or shade in (_OLIVE, _FAR))
    return next((key for key in keys if key not in used), wanted)


def hex_colour(key: ColourKey, *, dark: bool = False) -> str:
    """The colour as ``#RRGGBB`` for a light or a dark background."""
    if key.chosen:
        return key.chosen
    amount = _SHADES[key.shade % len(_SHADES)]
    if key.hue == TOTAL:
        # Black cannot get darker and white cannot get lighter, so the neutral colour always moves towards grey.
        return _mixed(TOTAL_ON_DARK, -abs(amount)) if dark else _mixed(TOTAL_ON_LIGHT, abs(amount))
    # A second round through the hues starts one shade further, so that the eighth subflow differs from the first.
    rounds, hue = divmod(key.hue, len(HUES))
    shades = _SHADES_ON_DARK if dark else _SHADES
    return _mixed(HUES[hue], shades[(key.shade + rounds) % len(shades)])


def dash(run: int) -> tuple[float, ...]:
    """The dash pattern of the run with this position in an overlay, in line widths; empty means solid."""
    return _DASHES[run % len(_DASHES)]


GHOST_DASH = (5.0, 4.0)
GHOST_OPACITY = 0.7
"""Dash and opacity of curves drawn behind a run, which belong to the original of a fork, or to the run before a script
was changed. These curves keep their colours.
"""


def colour_keys(owners: Iterable[str]) -> dict[str, ColourKey]:
    """Colours of flows and subflows.

    Args:
        owners: owner strings with the flows in the order of the scenario, e.g. ``["download", "download/1", "cross"]``;
            subflows may follow their flow or all flows, as in traces.

    Returns:
        A key per owner. Each subflow has a hue. A flow with several subflows has the neutral colour of totals, a flow
        with one subflow has the colour of the subflow, and a flow without subflows (cbr, onoff) has its own hue.
    """
    return dict(_colour_keys(tuple(dict.fromkeys(owners))))


# Cached because every plot needs the keys for each frame, for up to a thousand flows.
@lru_cache(maxsize=16)
def _colour_keys(listed: tuple[str, ...]) -> Mapping[str, ColourKey]:
    subflows: dict[str, list[str]] = {}
    for owner in listed:
        if "/" in owner:
            subflows.setdefault(owner.partition("/")[0], []).append(owner)
    hues: dict[tuple[str, int], int] = {}
    totals: dict[str, int] = {}
    keys: dict[str, ColourKey] = {}
    ranks: dict[str, int] = {}
    for owner in listed:
        ranks.setdefault(split_owner(owner)[0], len(ranks))
    for owner in sorted(listed, key=lambda owner: ranks[split_owner(owner)[0]]):
        name, instance, ordinal = split_owner(owner)
        if ordinal == 0 and len(subflows.get(owner, ())) > 1:
            keys[owner] = ColourKey(TOTAL, totals.setdefault(owner, len(totals)))
        elif ordinal == 0 and owner in subflows:
            only = split_owner(subflows[owner][0])[2]
            keys[owner] = ColourKey(hues.setdefault((name, only), len(hues)), instance)
        else:
            keys[owner] = ColourKey(hues.setdefault((name, ordinal), len(hues)), instance)
    return keys


def link_colour_keys(owners: Iterable[str]) -> dict[str, ColourKey]:
    """Colours of link directions: one hue per link, the reverse direction one shade lighter."""
    links: dict[str, int] = {}
    keys: dict[str, ColourKey] = {}
    for owner in dict.fromkeys(owners):
        link, _, direction = owner.partition("/")
        keys[owner] = ColourKey(links.setdefault(link, len(links)), 0 if direction == "forward" else 1)
    return keys


def _mixed(colour: str, amount: float) -> str:
    """The colour moved towards white (amount > 0) or black (amount < 0) by that share of the distance."""
    target = 255 if amount > 0 else 0
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(c + (target - c) * abs(amount)):02X}" for c in channels)
