"""Rates in the labels of links, as in files of the Topology Zoo: ``2x10Gb/s``, ``STM-64x2``, ``< 1 Gbps``.

Labels are for people: a factor may precede or follow the rate, parts are added with +, and ranges, bounds and
alternatives occur. An upper-case B means bits, too: no link in those files is stated in bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
# Rates in bit/s: the base rates of SONET (OC) and SDH (STM), then those of telephone carriers and Ethernet.
_CARRIER_BPS = {"OC": 51.84e6, "STM": 155.52e6}
_LINES = {
    "E1": 2.048e6,
    "E3": 34.368e6,
    "T1": 1.544e6,
    "T3": 44.736e6,
    "DS-?3": 44.736e6,
    r"FAST\s?ETHERNET": 100e6,
    r"GIGABIT\s?ETHERNET": 1e9,
    "GIGE": 1e9,
    "GBE": 1e9,
}
_ALIKE = 0.06  # "45 Mbps DS-3" names one rate twice, rounded once

_NUMBER = r"\d+(?:\.\d+)?"
_TIMES = r"\s*[x×*]\s*"
_UNIT = r"(?:bit|pb|b|be|e)?s?\s*(?:/\s*s(?:ec)?|ps)?"
_RATE = re.compile(
    rf"""(?<![\w.])
    (?:(?P<factor>{_NUMBER}|N){_TIMES})?
    (?:
      (?P<carrier>OC|STM)-?\s?(?P<level>\d{{1,3}})c?
    | (?:(?P<low>{_NUMBER})\s*(?P<low_prefix>[kmgt])?(?:{_UNIT})?\s*(?P<join>[-–/])\s*)?
      (?P<number>{_NUMBER})\s*(?:(?P<prefix>[kmgt])\s*{_UNIT}|(?P<bits>bits?\s*(?:/\s*s|ps)))
    | (?P<line>{"|".join(_LINES)})
    )
    (?:{_TIMES}(?P<times>\d+))?
    (?![A-Za-z0-9])""",
    re.IGNORECASE | re.VERBOSE,
)
_BOUND = re.compile(r"<|>|\bless than\b|\bmore\b|\bbelow\b|\bup to\b|\bat least\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LabelRate:
    """A rate in a label.

    Attributes:
        bps: the rate, or the upper end of a range, bit/s.
        low_bps: the lower end of a range, or the smallest alternative, bit/s; equal to `bps` without one.
        is_bound: whether the label states a bound, or a factor of unknown size.
    """

    bps: float
    low_bps: float
    is_bound: bool = False

    @property
    def is_certain(self) -> bool:
        """True if the label states exactly one rate."""
        return self.low_bps == self.bps and not self.is_bound

    @property
    def doubt(self) -> str:
        """The reason why the rate is uncertain, in a few words; empty if it is certain."""
        if self.low_bps != self.bps:
            return "a range, of which the upper end is taken"
        return "a bound" if self.is_bound else ""


def rate_in(label: str) -> LabelRate | None:
    """The rate that a label names: the sum of its parts; None if it names no rate."""
    high = low = 0.0
    is_bound = bool(_BOUND.search(label))
    for part in label.split("+"):
        found = [_one(match) for match in _RATE.finditer(part)]
        if not found:
            continue
        is_bound = is_bound or any(is_open for _, _, is_open in found)
        most, least = max(each for _, each, _ in found), min(each for each, _, _ in found)
        if most - least <= _ALIKE * most:
            # Two names of one rate: the first is usually the more precise one.
            most = least = found[0][1]
        high, low = high + most, low + least
    return LabelRate(high, low, is_bound) if high > 0 else None


def _one(match: re.Match[str]) -> tuple[float, float, bool]:
    """Lower and upper end of one rate, bit/s, and whether its factor is unknown."""
    is_open = (match["factor"] or "").upper() == "N"
    factor = 1.0 if is_open or match["factor"] is None else float(match["factor"])
    factor *= float(match["times"] or 1)
    if match["carrier"]:
        rate = _CARRIER_BPS[match["carrier"].upper()] * float(match["level"])
    elif match["line"]:
        rate = next(bps for name, bps in _LINES.items() if re.fullmatch(name, match["line"], re.IGNORECASE))
    else:
        prefix = _PREFIXES[(match["prefix"] or "").lower()]
        rate = float(match["number"]) * prefix
        if match["low"] is not None:
            low = float(match["low"]) * (_PREFIXES[match["low_prefix"].lower()] if match["low_prefix"] else prefix)
            return factor * min(low, rate), factor * max(low, rate), is_open
    return factor * rate, factor * rate, is_open
