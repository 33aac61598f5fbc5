"""Converts files of measurements to runs: resamples their tables to one time grid in SI units, and summarises them.

Meanings that the user chose for columns replace guessed meanings. Measured runs are stored like simulated runs.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import subflow_app
from subflow_app.features.measured.core.measured_table import (
    BY_NAME,
    LEAST_INTERVAL_S,
    MOST_CELLS,
    MOST_SAMPLES,
    MOST_TRACES,
    MeasuredTable,
    RawColumn,
    ReadingOptions,
    Target,
    factor,
    parse_target,
    unit_named,
    units_of,
)
from subflow_app.features.measured.core.trace_formats import trace_format, trace_formats
from subflow_app.features.traces.core.measured import MEASURED_TAG
from subflow_app.features.traces.core.traces import LINK, SUBFLOW
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.number_text import count_text, counted, ordinal
from subflow_app.vocabulary.plain_text import readable_line
from subflow_sim.gate import MOST_SECONDS, open_file
from subflow_sim.stats import jain_index
from subflow_store.values import ColumnSpec, RunStart

if TYPE_CHECKING:
    from subflow_store import Store


_MSS_BYTES = 1448
_SUMS = ("losses_pkts", "drops_pkts")
"""Traces that count events since the previous sample: resampling adds their samples instead of averaging."""

_GAP = 3.0
"""A distance between samples that exceeds the usual distance by more than this factor is a gap."""

_ON_GRID = 1e-4

_LARGEST = float(np.finfo(np.float32).max)

_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
_ROUND_WITHIN = 0.03
_MOST_TOLD = 5

_BLOCK = 1 << 16  # grid points resampled at a time


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredRun:
    """A measurement on a regular time grid.

    Attributes:
        name: name of the run.
        interval_s: sampling interval, s; row k of `values`, from 0, belongs to time (k + 1) * interval_s.
        targets: trace of each column.
        values: float32 [n, columns], SI units; NaN in gaps.
        mss_bytes: payload of a full packet.
        start_s: time in the file at which the run begins.
        notices: notes for the user, one sentence each.
        source: file name, format, program, protocol and SHA-256, for the summary.
    """

    name: str
    interval_s: float
    targets: tuple[Target, ...]
    values: NDArray[np.float32]
    mss_bytes: int
    start_s: float
    notices: tuple[str, ...]
    source: Mapping[str, Any]

    @property
    def duration_s(self) -> float:
        """Duration of the run, s."""
        return self.interval_s * len(self.values)

    @property
    def signature(self) -> str:
        """Fingerprint of the samples, which is equal for two imports of the same file."""
        return hashlib.sha256(np.ascontiguousarray(self.values).tobytes()).hexdigest()[:16]

    def summary(self) -> dict[str, Any]:
        """Results in the form of `subflow run --json` with the source of the data; missing measurements are None."""
        flows = self._flows()
        goodputs = [flow["goodput_bps"] for flow in flows if flow["goodput_bps"] is not None]
        return {
            "scenario": "",
            "seed": 0,
            "duration_s": self.duration_s,
            "simulated_s": self.duration_s,
            "warmup_s": 0.0,
            "profile": MEASURED_TAG,
            "signature": self.signature,
            "flows": flows,
            "links": self._links(),
            "fairness": {"jain": jain_index(goodputs) if any(goodputs) else None},
            "measured": {**self.source, "start_s": self.start_s, "notices": list(self.notices)},
        }

    def _flows(self) -> list[dict[str, Any]]:
        members: dict[str, set[str]] = {}
        for target in self.targets:
            if target.scope != LINK:
                parts_of = members.setdefault(target.flow, set())
                parts_of.update([target.owner] if target.scope == SUBFLOW else [])
        flows = []
        for flow, owners in members.items():
            parts = sorted(owners, key=_ordinal)
            subflows: list[dict[str, Any]] = [
                {
                    "path": [],
                    "throughput_bps": self._mean(part, "throughput_bps"),
                    "goodput_bps": self._mean(part, "goodput_bps"),
                    "mean_cwnd_pkts": self._mean(part, "cwnd_pkts"),
                    "mean_rtt_s": self._mean(part, "srtt_s"),
                    "retransmits": self._sum(part, "losses_pkts"),
                }
                for part in parts
            ]
            rtts = self._pooled(parts, "srtt_s")
            flows.append(
                {
                    "name": flow,
                    "kind": "measured",
                    "controller": "",
                    "size_bytes": None,  # unknown in a recording
                    # If no goodput was measured, the throughput replaces it.
                    "goodput_bps": self._first(
                        self._mean(flow, "goodput_bps"),
                        _total(subflows, "goodput_bps"),
                        self._mean(flow, "throughput_bps"),
                        _total(subflows, "throughput_bps"),
                    ),
                    "completion_s": None,
                    "mean_rtt_s": float(rtts.mean()) if len(rtts) else None,
                    "p95_rtt_s": float(np.quantile(rtts, 0.95)) if len(rtts) else None,
                    "retransmits": _total(subflows, "retransmits"),
                    "subflows": subflows,
                }
            )
        return flows

    def _links(self) -> list[dict[str, Any]]:
        links = []
        for owner in dict.fromkeys(target.owner for target in self.targets if target.scope == LINK):
            name, _, direction = owner.rpartition("/")
            is_told = bool(name) and direction in ("forward", "reverse")
            links.append(
                {
                    "name": name if is_told else owner,
                    "direction": direction if is_told else "forward",
                    "utilisation": self._mean(owner, "utilisation"),
                    "mean_queue_pkts": self._mean(owner, "queue_pkts"),
                    "drops_queue": self._sum(owner, "drops_pkts"),
                }
            )
        return links

    def _column(self, owner: str, name: str) -> NDArray[np.float64]:
        for place, target in enumerate(self.targets):
            if (target.owner, target.name) == (owner, name):
                values = self.values[:, place].astype(np.float64)
                return values[np.isfinite(values)]
        return np.empty(0)

    def _mean(self, owner: str, name: str) -> float | None:
        values = self._column(owner, name)
        return float(values.mean()) if len(values) else None

    def _sum(self, owner: str, name: str) -> float | None:
        values = self._column(owner, name)
        return float(values.sum()) if len(values) else None

    def _pooled(self, owners: Sequence[str], name: str) -> NDArray[np.float64]:
        found = [self._column(owner, name) for owner in owners]
        return np.concatenate(found) if found else np.empty(0)

    @staticmethod
    def _first(*values: float | None) -> float | None:
        return next((value for value in values if value is not None), None)


def make_run(
    table: MeasuredTable,
    *,
    name: str,
    path: Path,
    interval_s: float | None = None,
    mss_bytes: int | None = None,
) -> MeasuredRun:
    """Resamples the columns that have a target to one time grid.

    Args:
        table: columns with their final targets and units.
        name: name of the run.
        path: path of the file; the run keeps its name and SHA-256.
        interval_s: sampling interval of the run; None for the usual distance between samples, rounded.
        mss_bytes: payload of a full packet; None for the value in the file, or else 1448.

    Raises:
        InputError: if no column has a target or a number, a unit does not fit, the interval is not allowed, or the run
            would have too many traces or samples.
    """
    chosen = [column for column in table.columns if column.target is not None and len(column.time_s)]
    if not chosen:
        titles = ", ".join(column.title for column in table.columns[:12])
        raise InputError(
            f"the meaning of the columns of {path.name} is unknown: {titles}. State it with "
            f'--map "COLUMN=TRACE:OWNER", e.g. --map "{table.columns[0].title}=cwnd_pkts:download/1"; '
            f"traces are {', '.join(BY_NAME)}"
        )
    if not any(np.isfinite(column.values).any() for column in chosen):
        titles = ", ".join(column.title for column in chosen[:12])
        raise InputError(f"{path.name}: none of the chosen columns holds a number: {titles}")
    if len(chosen) > MOST_TRACES:
        raise InputError(
            f"{path.name} would become {count_text(len(chosen))} traces; allowed: {count_text(MOST_TRACES)}. Leave"
            ' columns out with --map "COLUMN=-"'
        )
    doubts = doubts_of(table, mss_bytes)
    if doubts:
        raise InputError(f"{path.name}: {doubts[0]}")
    notices = [*table.notices, *_assumed(chosen)]
    mss = mss_bytes or table.mss_bytes or _MSS_BYTES
    usual_s = min((_usual_s(column.time_s) for column in chosen), default=math.nan)
    step_s = interval_s or _round_interval(usual_s if math.isfinite(usual_s) else 1.0)
    if not LEAST_INTERVAL_S <= step_s <= MOST_SECONDS:
        raise InputError(
            f"an interval of {step_s:g} s; allowed: from {LEAST_INTERVAL_S:g} s to {MOST_SECONDS:g} s (is the unit of"
            " the times right?)"
        )
    first_s = min(float(column.time_s[0]) for column in chosen)
    last_s = max(float(column.time_s[-1]) for column in chosen)
    start_s = _start_of(first_s, last_s, step_s)
    count = max(1, math.ceil((last_s - start_s) / step_s - 1e-6))
    if count > MOST_SAMPLES or count * len(chosen) > MOST_CELLS:
        raise InputError(
            f"{len(chosen)} columns from {first_s:.6g} s to {last_s:.6g} s, every {step_s:.3g} s, would be {count:.3g}"
            " samples each: choose a longer --interval, or check the unit of the times (--unit time=ms)"
        )
    if start_s:
        notices.append(f"times begin at {_moment(first_s)}: the run begins {step_s:.3g} s before the first sample.")
    grid_s = step_s * np.arange(1, count + 1, dtype=np.float64)
    values = np.empty((count, len(chosen)), np.float32)
    gaps: dict[str, None] = {}
    for place, column in enumerate(chosen):
        with np.errstate(over="ignore", invalid="ignore"):
            time_s, converted = _si(column, mss, notices)
            # float32 cannot represent larger values
            converted = np.where(np.abs(converted) <= _LARGEST, converted, np.nan)
        target = column.target
        assert target is not None
        if table.has_certain_units:
            converted = _plausible(column.title, target, converted, notices)
        resampled = _resampled(time_s - start_s, converted, grid_s, step_s, is_sum=target.name in _SUMS)
        # a sum of several samples may exceed the range of float32
        values[:, place] = np.clip(resampled, -_LARGEST, _LARGEST)
        for gap in _gaps_of(time_s - start_s, _usual_s(time_s)):
            gaps[gap] = None
    notices += list(gaps)[:_MOST_TOLD]
    if len(gaps) > _MOST_TOLD:
        notices.append(f"and {len(gaps) - _MOST_TOLD} more gaps.")
    left_out = [column.title for column in table.columns if column.target is None]
    if left_out:
        more = f" and {len(left_out) - 8} more" if len(left_out) > 8 else ""
        notices.append(f"left out, without a meaning of their own: {', '.join(left_out[:8])}{more}.")
    source = {
        "file": path.name,
        "format": table.format,
        "tool": table.tool,
        "transport": table.transport,
        "sha256": _fingerprint(path),
    }
    targets = tuple(column.target for column in chosen if column.target is not None)
    return MeasuredRun(name, step_s, targets, values, mss, start_s, tuple(map(readable_line, notices)), source)


@dataclass(frozen=True, slots=True)
class _Plausible:
    """Largest plausible values of a unit.

    Attributes:
        most: largest plausible value, in the SI unit.
        unstated: smallest and largest plausible median where the file does not state the unit, in the SI unit.
    """

    most: float
    unstated: tuple[float, float]


# A round trip of 10 min, a rate of 100 Tbit/s and a window of ten million packets exceed what networks have. Without a
# unit, the smaller ranges are those in which other units are improbable: 40 is a round trip in ms, 25 a rate in Mbit/s,
# and 13 500 a window in bytes.
_PLAUSIBLE: Mapping[str, _Plausible] = {
    "s": _Plausible(600.0, (1e-6, 5.0)),
    "bit/s": _Plausible(1e14, (1e4, 1e12)),
    "pkt": _Plausible(1e7, (0.0, 5000.0)),
}
_UNLIMITED = ("ssthresh_pkts", "losses_pkts", "marks_pkts", "reordered_pkts", "reinjections_pkts", "drops_pkts")
"""Traces in packets without a plausible limit: counts, and a threshold that is practically infinite at first."""


def doubts_of(table: MeasuredTable, mss_bytes: int | None = None) -> list[str]:
    """Questions about the units of columns: one sentence for each column whose values are implausible.

    Args:
        table: columns with their final targets and units.
        mss_bytes: payload of a full packet; None for the value in the file, or else 1448.
    """
    if table.has_certain_units:
        return []
    doubts = []
    mss = mss_bytes or table.mss_bytes or _MSS_BYTES
    for column in table.columns:
        target = column.target
        if target is None or column.is_counter or target.name in _UNLIMITED:
            continue
        unit = BY_NAME[target.name].unit
        plausible, scale = _PLAUSIBLE.get(unit), factor(column.unit or unit, unit, mss)
        values = np.abs(column.values[np.isfinite(column.values)]) * (scale or 0.0)
        if plausible is None or not np.any(values):
            continue
        most, median = float(values.max()), float(np.median(values[values > 0]))
        least_usual, most_usual = plausible.unstated
        allowed = ", ".join(each for each in units_of(unit) if each)
        if column.unit == "" and not least_usual <= median <= most_usual:
            doubts.append(
                f'the unit of "{column.title}" is not stated, and in {unit} its median of {median:.6g} would be'
                f' unusual: state the unit with --unit "{column.title}=UNIT"; allowed: {allowed}'
            )
        elif most > plausible.most:
            doubts.append(
                f'"{column.title}" reaches {most:.6g} {unit}; at most {plausible.most:g} {unit} is plausible: state'
                f' another unit with --unit "{column.title}=UNIT" (allowed: {allowed}), or leave the column out with'
                f' --map "{column.title}=-"'
            )
    return doubts


def _plausible(title: str, target: Target, values: NDArray[np.float64], notices: list[str]) -> NDArray[np.float64]:
    """The values in SI units without those that no network has."""
    unit = BY_NAME[target.name].unit
    limit = _PLAUSIBLE.get(unit)
    if limit is None or target.name in _UNLIMITED:
        return values
    wild = np.abs(values) > limit.most
    if np.any(wild):
        notices.append(
            f'"{title}": {counted(int(np.count_nonzero(wild)), "value")} above {limit.most:g} {unit} left out.'
        )
    return np.where(wild, np.nan, values)


def _assumed(columns: Sequence[RawColumn]) -> list[str]:
    """A sentence about the columns that are read in the unit of Subflow because the file states none."""
    names: dict[str, list[str]] = {}
    for column in columns:
        unit = BY_NAME[column.target.name].unit if column.target is not None else ""
        if not column.unit and unit and not column.is_counter:
            names.setdefault(unit, []).append(column.title)
    return [
        f"without a stated unit, read in {unit}: {', '.join(titles[:6])}{' ...' if len(titles) > 6 else ''}."
        for unit, titles in names.items()
    ]


def found_text(table: MeasuredTable) -> str:
    """The content of a file in a line: ``ss log of 2 MPTCP connections with 4 subflows, 63 s, no queue lengths``."""
    targets = [column.target for column in table.columns if column.target is not None]
    flows = {target.flow for target in targets if target.scope != LINK}
    subflows = {target.owner for target in targets if target.scope == SUBFLOW}
    links = {target.owner for target in targets if target.scope == LINK}
    title = next((kind.title for kind in trace_formats() if kind.name == table.format), table.format)
    parts = []
    if flows:
        kind = f"{table.transport} connection" if table.transport else "flow"
        parts.append(counted(len(flows), kind))
    if len(subflows) > len(flows) or "MPTCP" in table.transport:
        parts.append(counted(len(subflows), "subflow"))
    if links:
        parts.append(counted(len(links), "link direction"))
    known = [column for column in table.columns if column.target is not None and len(column.time_s)]
    if known:
        first_s = min(float(column.time_s[0]) for column in known)
        last_s = max(float(column.time_s[-1]) for column in known)
        parts.append(f"{last_s - _start_of(first_s, last_s, 0.0):.3g} s")
    if targets and not any(target.name == "queue_pkts" for target in targets):
        parts.append("no queue information")
    if not table.is_whole:
        parts.append("cut off or damaged")
    tool = f" of {table.tool}" if table.tool and table.tool.lower() not in title.lower() else ""
    return f"{title}{tool}: {', '.join(parts)}" if parts else f"{title}{tool}, no known column"


def keep_run(run: MeasuredRun, store: Store) -> int:
    """Stores a measurement as a finished run with the tag "measured", and returns the number of the run.

    Raises:
        StoreError: if the store cannot hold the run; the partial run is deleted.
    """
    start = RunStart(
        name=run.name,
        scenario_name=str(run.source["file"]),
        scenario_text="",  # empty: a measurement cannot be run again
        seed=0,
        duration_s=run.duration_s,
        sample_interval_s=run.interval_s,
        mss_bytes=run.mss_bytes,
        profile=MEASURED_TAG,
        version=subflow_app.__version__,
        started_at_utc=datetime.now(UTC),
    )
    columns = [ColumnSpec(each.scope, each.owner, each.name, BY_NAME[each.name].unit) for each in run.targets]
    writer = store.start_run(start, columns)
    try:
        writer.append(0, run.values)
        writer.finish("finished", run.summary(), run.signature)
    except Exception:
        writer.abandon()
        store.delete([writer.run_id])
        raise
    store.add_tag(writer.run_id, MEASURED_TAG)
    return writer.run_id


def _moment(at_s: float) -> str:
    """A time in words: with its date if it counts from 1970."""
    if not 1e9 <= at_s < 1e10:
        return f"{at_s:.9g} s"
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _start_of(first_s: float, last_s: float, step_s: float) -> float:
    """Time in the file at which the run begins, one step before the first sample.

    Times that start near zero count from the start of the measurement; other times, e.g. since 1970, are shifted.
    """
    return 0.0 if 0 <= first_s <= max(2.0 * (last_s - first_s), step_s) else first_s - step_s


def _si(column: RawColumn, mss_bytes: int, notices: list[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Convert a column to SI units. Byte counters become rates, and other counters become increases per sample."""
    assert column.target is not None
    quantity = BY_NAME[column.target.name]
    values, time_s = column.values, column.time_s
    if column.is_counter:
        rise = np.diff(values, prepend=np.nan)
        fell = np.flatnonzero(rise < 0)
        if len(fell):
            notices.append(
                f'"{column.title}" counts from the start, and falls at {time_s[fell[0]]:.6g} s: left out there.'
            )
            rise[fell] = np.nan
        if quantity.unit != "bit/s":
            return time_s, rise
        scale = units_of("B").get(column.unit or "B", 1.0)
        return time_s, rise * 8 * scale / np.diff(time_s, prepend=np.nan)
    scale_or_none = factor(column.unit or quantity.unit, quantity.unit, mss_bytes)
    if scale_or_none is None:
        allowed = ", ".join(unit for unit in units_of(quantity.unit) if unit)
        raise InputError(
            f'"{column.title}" is in {column.unit}, which {quantity.name} cannot be; allowed: {allowed}. Set it with'
            f' --unit "{column.title}=UNIT", or map the column to another trace'
        )
    return time_s, values * scale_or_none


def _resampled(
    time_s: NDArray[np.float64],
    values: NDArray[np.float64],
    grid_s: NDArray[np.float64],
    step_s: float,
    *,
    is_sum: bool,
) -> NDArray[np.float64]:
    """Values at the times of a grid; NaN in gaps, before the first sample and after the last sample."""
    is_known = np.isfinite(values)
    at, known = time_s[is_known], values[is_known]
    result = np.full(len(grid_s), np.nan)
    if len(at) == 0:
        return result
    usual_s = _usual_s(at)
    widest_s = _GAP * max(step_s, usual_s if math.isfinite(usual_s) else step_s)
    if is_sum or step_s > 1.5 * usual_s:
        # Several samples may fall into one grid interval, which gets their sum or mean.
        places = np.ceil(at / step_s - 1e-6).astype(np.int64) - 1
        places = np.clip(places, 0, len(grid_s) - 1)
        counts = np.bincount(places, minlength=len(grid_s))
        sums = np.bincount(places, weights=known, minlength=len(grid_s))
        has = counts > 0
        result[has] = sums[has] if is_sum else sums[has] / counts[has]
        if is_sum:
            # Unless two samples are separated by a gap, a grid interval between them contains no event.
            missing = np.flatnonzero(~has)
            before = np.searchsorted(at, grid_s[missing] + 1e-6 * step_s) - 1
            following = np.minimum(before + 1, len(at) - 1)
            within = (before >= 0) & (before < len(at) - 1) & (at[following] - at[np.maximum(before, 0)] <= widest_s)
            result[missing[within]] = 0.0
        return result
    # Times in files are rounded: a sample within `_ON_GRID` of a grid point moves to it and keeps its exact value.
    nearest_s = np.rint(at / step_s) * step_s
    at = np.where(np.abs(at - nearest_s) < _ON_GRID * step_s, nearest_s, at)
    if len(at) == 1:
        result[int(np.argmin(np.abs(grid_s - at[0])))] = known[0]
        return result
    # Interpolate in blocks, because the interpolation needs ten times the memory of its result.
    for first in range(0, len(grid_s), _BLOCK):
        block = slice(first, first + _BLOCK)
        result[block] = _interpolated(at, known, grid_s[block], step_s, widest_s)
    return result


def _interpolated(
    at: NDArray[np.float64], known: NDArray[np.float64], grid_s: NDArray[np.float64], step_s: float, widest_s: float
) -> NDArray[np.float64]:
    """Interpolated values where successive samples are at most `widest_s` apart.

    Elsewhere the values are NaN, except within half a step of a sample.
    """
    right = np.clip(np.searchsorted(at, grid_s - 1e-6 * step_s), 1, len(at) - 1)
    left = right - 1
    result: NDArray[np.float64] = np.interp(grid_s, at, known)
    is_gap = at[right] - at[left] > widest_s
    near = np.minimum(np.abs(grid_s - at[left]), np.abs(at[right] - grid_s)) <= 0.5 * step_s
    outside = (grid_s < at[0] - 0.5 * step_s) | (grid_s > at[-1] + 0.5 * step_s + 1e-9)
    result[(is_gap & ~near) | outside] = np.nan
    return result


def _gaps_of(time_s: NDArray[np.float64], usual_s: float) -> list[str]:
    """One sentence for each gap of a column."""
    if not math.isfinite(usual_s):
        return []
    steps = np.diff(time_s)
    places = np.flatnonzero(steps > _GAP * usual_s * (1 + 1e-9))
    return [f"no samples from {time_s[place]:.6g} s to {time_s[place + 1]:.6g} s: a gap." for place in places.tolist()]


def _usual_s(time_s: NDArray[np.float64]) -> float:
    """Median distance between successive samples in seconds; NaN for fewer than two samples."""
    steps = np.diff(time_s)
    steps = steps[steps > 0]
    return float(np.median(steps)) if len(steps) else math.nan


def _round_interval(usual_s: float) -> float:
    """The nearest round interval if it is within 3 %, else the interval with four significant digits."""
    size = 10.0 ** math.floor(math.log10(usual_s))
    for digit in _ROUND:
        if abs(usual_s - digit * size) <= _ROUND_WITHIN * usual_s:
            return float(f"{digit * size:.6g}")
    return float(f"{usual_s:.4g}")


def _ordinal(owner: str) -> tuple[int, str]:
    number = owner.rpartition("/")[2]
    return (ordinal(number) or 0, owner)


def _total(parts: Sequence[Mapping[str, Any]], name: str) -> float | None:
    known = [part[name] for part in parts if part[name] is not None]
    return sum(known) if known else None


def _fingerprint(path: Path) -> str:
    digest = hashlib.sha256()
    with open_file(path) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def read_trace(path: Path, options: ReadingOptions) -> MeasuredTable:
    """Reads a file as a table of columns, with the meanings and units that the user chose.

    Raises:
        InputError: if the file cannot be read in the chosen format; the message contains the reason and a remedy.
        AppError: if a required package is missing.
    """
    try:
        table = trace_format(options.format, path).read(path, options)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    return told(table, options.maps, options.units)


def told(table: MeasuredTable, maps: Mapping[str, str], units: Mapping[str, str]) -> MeasuredTable:
    """Apply the meanings and units that the user chose for some columns of a table.

    Args:
        table: table with guessed meanings.
        maps: trace by column title or alias, such as ``cwnd_pkts:download/1``; empty or "-" leaves the column out.
        units: unit by column title or alias.

    Raises:
        InputError: if a column, trace or unit is unknown.
    """
    titles = [column.title for column in table.columns]
    aliases = {column.alias: column.title for column in table.columns if column.alias}
    maps = {aliases.get(title, title): text for title, text in maps.items()}
    units = {aliases.get(title, title): unit for title, unit in units.items()}
    for title in (*maps, *units):
        if title not in titles:
            raise InputError(f'unknown column "{title}"; allowed: {", ".join(titles[:20])}')
    columns = [_told(column, maps.get(column.title), units.get(column.title)) for column in table.columns]
    mapped = {column.target for column in columns if column.title in maps and column.target is not None}
    # A column with a guessed target is left out if `maps` gives the same target to another column.
    columns = [
        replace(column, target=None) if column.target in mapped and column.title not in maps else column
        for column in columns
    ]
    seen: dict[object, str] = {}
    for column in columns:
        if column.target is None:
            continue
        if column.target in seen:
            raise InputError(f'"{column.title}" and "{seen[column.target]}" are both mapped to {column.target.text}')
        seen[column.target] = column.title
    return replace(table, columns=tuple(columns))


def _told(column: RawColumn, target: str | None, unit: str | None) -> RawColumn:
    if target is not None:
        column = replace(column, target=parse_target(target) if target not in ("", "-") else None)
    if unit is not None:
        named = unit_named(unit) if unit else ""
        quantity = BY_NAME[column.target.name] if column.target is not None else None
        allowed = units_of(quantity.unit) if quantity is not None else None
        # "MB" for a rate probably means MB/s, but may mean Mbit/s, and is therefore refused.
        if named is None or (allowed is not None and named and named not in allowed and not column.is_counter):
            what = f" for {quantity.name}" if quantity is not None else ""
            known = ", ".join(allowed) if allowed is not None else "bit/s, s, pkt, B and their multiples"
            raise InputError(f'"{column.title}": "{unit}" is not a unit{what}; allowed: {known}')
        column = replace(column, unit=named)
    return column
