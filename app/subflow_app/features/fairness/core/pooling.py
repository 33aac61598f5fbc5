"""Resource pooling: what the multipath connections have of their paths together, against what one path would give.

The principle: "make a collection of resources behave like a single pooled resource" (Wischik, Handley, Bagnulo 2008,
"The resource pooling principle", ACM CCR 38(5)). How far it succeeds is measured between two marks, as Raiciu et al.
2011 ("Improving datacenter performance and robustness with Multipath TCP", SIGCOMM) do with single-path TCP and the
optimum:

* the single-path share b: what a connection would get if everybody used one path, the best for it
  (`single_path_totals`);
* the pooled share o: its max-min fair share when everybody may split over all paths (`max_min_split`).

With the goodput g of a connection:

    gain       = g / b            above 1: better off than with the best single path (goal 1 of RFC 6356: at least 1)
    potential  = o / b            what pooling could bring; 1: this topology has nothing to pool
    efficiency = (g - b)/(o - b)  0: as with single paths, 1: all that can be pooled is; undefined where o = b

In total the same with the sums over the multipath connections.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

_NOTHING_TO_POOL = 1e-3


@dataclass(frozen=True, slots=True)
class PoolingGain:
    """Goodput of a connection, or of several together, between what a single path gives and what pooling could.

    Attributes:
        goodput_bps: what it has; NaN: nothing was run.
        single_path_bps: what it would have with its best path alone.
        pooled_bps: what it would have if all paths were pooled.
    """

    goodput_bps: float
    single_path_bps: float
    pooled_bps: float

    @property
    def gain(self) -> float:
        """Goodput over the single-path share; NaN if there is none."""
        return _ratio(self.goodput_bps, self.single_path_bps)

    @property
    def potential(self) -> float:
        """Pooled share over the single-path share; NaN if there is none."""
        return _ratio(self.pooled_bps, self.single_path_bps)

    @property
    def efficiency(self) -> float:
        """Which part of what pooling could bring has been had; NaN where it could bring nothing."""
        room_bps = self.pooled_bps - self.single_path_bps
        if not self.pooled_bps > 0 or not abs(room_bps) > _NOTHING_TO_POOL * self.pooled_bps:
            return math.nan
        return _ratio(self.goodput_bps - self.single_path_bps, room_bps)


def pooling_gains(
    multipath: Collection[str],
    goodputs_bps: Mapping[str, float],
    single_path_bps: Mapping[str, float],
    pooled_bps: Mapping[str, float],
) -> tuple[dict[str, PoolingGain], PoolingGain | None]:
    """The gain of each multipath connection that anything limits, and of all together; None if there is none."""
    gains = {
        name: PoolingGain(goodputs_bps.get(name, math.nan), single_path_bps[name], pooled_bps[name])
        for name in multipath
        if name in pooled_bps and math.isfinite(pooled_bps[name]) and math.isfinite(single_path_bps[name])
    }
    if not gains:
        return {}, None
    sums = (
        math.fsum(getattr(gain, field) for gain in gains.values())
        for field in ("goodput_bps", "single_path_bps", "pooled_bps")
    )
    return gains, PoolingGain(*sums)


def _ratio(part: float, whole: float) -> float:
    return part / whole if math.isfinite(whole) and whole != 0 else math.nan
