"""Times of a run as text: as many digits as can be told apart, and what a person types."""

from __future__ import annotations

import math
import re

from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import ParamError
from subflow_sim.units import Dimension, parse_quantity

_BARE = re.compile(r"\s*\d+(\.\d*)?\s*")
_LEAST_DECIMALS, _MOST_DECIMALS = 2, 9
_FRAMES_PER_S = 30.0


def decimals_for(resolution_s: float) -> int:
    """How many decimals of a second tell times so far apart from each other."""
    if resolution_s <= 0:
        return _MOST_DECIMALS
    return min(_MOST_DECIMALS, max(_LEAST_DECIMALS, math.ceil(-math.log10(resolution_s) - 1e-9)))


def shown_time(time_s: float, speed: float = 1.0) -> str:
    """A time with the digits that move visibly at a speed of playing: 12.345 s, at 1/1000 12.345678 s."""
    return f"{time_s:.{decimals_for(speed / _FRAMES_PER_S)}f} s"


def parse_time(text: str, end_s: float) -> float:
    """A time of a run that was typed, s; without a unit it is in seconds.

    Raises:
        InputError: if it is not a time, or none of the run.
    """
    try:
        time_s = float(text) if _BARE.fullmatch(text) else parse_quantity(text, Dimension.TIME)
    except ParamError as error:
        raise InputError(tr('"{text}" is not a time: write 12.5s or 12500ms', text=text.strip())) from error
    if not 0.0 <= time_s <= end_s:
        raise InputError(
            tr('"{text}" is not in this run, which goes from 0 s to {end} s', text=text.strip(), end=f"{end_s:.6g}")
        )
    return time_s
