"""Functions of checks over what runs have measured: figures of the whole run, and curves over time."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.labs.core.evidence import Evidence
from subflow_app.features.labs.core.function_table import (
    FunctionTable,
    LabFunction,
    NotThereError,
    known,
    matching,
    pairs_text,
    run_at,
)
from subflow_app.foundation.expressions import ArgumentKind, Function, Value
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.measure import Measure, NotMeasuredError
from subflow_app.vocabulary.measures import NAMED

TABLE = FunctionTable()

FIGURES = tuple(NAMED)
"""The figures that `over` takes."""

_WITH_SUBFLOW = ("throughput", "rtt", "loss_ratio", "mean_cwnd")


# ------------------------------------------------------------------------------------------------------------- figures


def _add(measure: Measure) -> None:
    """Takes a measure as a function: of a run and a flow or link, some also of one of its subflows."""

    def body(evidence: Evidence, run: float, owner: str = "*", subflow: float = 0) -> Value:
        summary = run_at(evidence, run).summary
        if measure.of == "run":
            return known((summary.get("fairness") or {}).get(measure.key), measure.function)
        if measure.of == "link":
            return known(_link(summary, run, owner).get(measure.key), f"{measure.function} ({owner})")
        try:
            return measure.of_flows(_flows(summary, run, owner), int(subflow))
        except NotMeasuredError as error:
            raise NotThereError(str(error)) from error

    kinds: tuple[ArgumentKind, ...] = ("number",) if measure.of == "run" else ("number", "text")
    if measure.function in _WITH_SUBFLOW:
        kinds = (*kinds, "number")
    optional = int(measure.function in (*_WITH_SUBFLOW, "goodput"))
    function = Function(kinds, optional, "number", measure.expression_unit, False)
    TABLE[measure.function] = LabFunction(measure.function, function, measure.definition, body)


for _measure in NAMED.values():
    _add(_measure)


@TABLE.function("text", "any", many=True, optional=1)
def _over(evidence: Evidence, figure: str, *rest: Value) -> Value:
    """Mean of a figure over all finished runs of the lab with certain values, as over seeds.

    over('goodput', 'download', 'flows.download.controller', 'lia'); over('jain', '', 'seed', 3).
    """
    what = str(rest[0]) if rest else ""
    pairs = rest[1:]
    found = matching(evidence.counted, pairs)
    if not found:
        raise NotThereError(tr("no run with {what} has finished yet", what=pairs_text(pairs)))
    if figure not in FIGURES:
        raise NotThereError(tr('"{name}" is not a figure of a run', name=figure))
    body = TABLE[figure].body
    values = [body(evidence, float(run.id), *([what] if what else [])) for run in found]
    numbers = [value for value in values if isinstance(value, int | float)]
    return math.fsum(numbers) / len(numbers)


# -------------------------------------------------------------------------------------------------------------- curves


@TABLE.function("number", "text", "text", "number", "number", optional=2)
def _mean_of(
    evidence: Evidence, run: float, column: str, owner: str, since: float = 0.0, until: float = math.inf
) -> Value:
    """Mean of a curve between two times: mean_of(last(), 'queue_pkts', 'wifi/forward', 20 s, 60 s)."""
    return float(np.mean(_part(evidence, run, column, owner, since, until)))


@TABLE.function("number", "text", "text", "number", "number", optional=2)
def _max_of(
    evidence: Evidence, run: float, column: str, owner: str, since: float = 0.0, until: float = math.inf
) -> Value:
    """Greatest value of a curve between two times."""
    return float(np.max(_part(evidence, run, column, owner, since, until)))


@TABLE.function("number", "text", "text", "number", "number", optional=2)
def _min_of(
    evidence: Evidence, run: float, column: str, owner: str, since: float = 0.0, until: float = math.inf
) -> Value:
    """Smallest value of a curve between two times."""
    return float(np.min(_part(evidence, run, column, owner, since, until)))


@TABLE.function("number", "text", "text", "number", "number", optional=2)
def _spread_of(
    evidence: Evidence, run: float, column: str, owner: str, since: float = 0.0, until: float = math.inf
) -> Value:
    """Greatest value of a curve between two times, less the smallest."""
    return float(np.ptp(_part(evidence, run, column, owner, since, until)))


@TABLE.function("number", "text", "text", "number")
def _value_at(evidence: Evidence, run: float, column: str, owner: str, time_s: float) -> Value:
    """Value of a curve at a time: the sample before it."""
    times, values = _curve(evidence, run, column, owner)
    index = int(np.searchsorted(times, time_s + 1e-9, side="right")) - 1
    if index < 0 or math.isnan(values[index]):
        raise NotThereError(tr("{column} of {owner} is not known at {time} s", column=column, owner=owner, time=time_s))
    return float(values[index])


@TABLE.function("number", "text", "number", "number", optional=2)
def _losses(evidence: Evidence, run: float, owner: str, since: float = 0.0, until: float = math.inf) -> Value:
    """Number of losses that a subflow ("download/1"), or all of a flow, took for congestion between two times."""
    return _marks_between(evidence, run, "loss", owner, since, until)


@TABLE.function("number", "text", "text", optional=1)
def _marks(evidence: Evidence, run: float, kind: str, owner: str = "*") -> Value:
    """Number of marks of a kind, e.g. "rto", "recovered", "link_down"; of an owner, or of all."""
    return _marks_between(evidence, run, kind, owner, 0.0, math.inf)


@TABLE.function("number", "text", "text", "number", optional=1, unit="s")
def _time_of(evidence: Evidence, run: float, kind: str, owner: str, since: float = 0.0) -> Value:
    """Time of an owner's first mark of a kind, from a time on, s: time_of(last(), 'established', 'phone/2')."""
    marks = run_at(evidence, run).marks
    found = next(
        (each.time_s for each in marks if (each.kind, each.owner) == (kind, owner) and each.time_s >= since), None
    )
    return known(found, tr("{kind} of {owner}", kind=kind, owner=owner))


# -------------------------------------------------------------------------------------------------------------- inside


def _flows(summary: Mapping[str, Any], number: float, flow: str) -> list[Mapping[str, Any]]:
    # `download` means its copies, too.
    found = [
        each
        for each in summary.get("flows") or []
        if each["name"] == flow or each["name"].rpartition(".")[0] == flow or fnmatch.fnmatchcase(each["name"], flow)
    ]
    if not found:
        raise NotThereError(tr("run {number} has no flow {flow}", number=int(number), flow=flow))
    return found


def _link(summary: Mapping[str, Any], number: float, link: str) -> Mapping[str, Any]:
    name, _, direction = link.partition("/")
    for each in summary.get("links") or []:
        if each["name"] == name and each["direction"] == (direction or "forward"):
            return each  # type: ignore[no-any-return]
    raise NotThereError(tr("run {number} has no link {link}", number=int(number), link=link))


def _curve(
    evidence: Evidence, number: float, column: str, owner: str
) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    found = run_at(evidence, number).curve(column, owner)
    if found is None:
        raise NotThereError(
            tr("run {number} has no curve {column} of {owner}", number=int(number), column=column, owner=owner)
        )
    return found


def _part(
    evidence: Evidence, number: float, column: str, owner: str, since: float, until: float
) -> NDArray[np.float32]:
    times, values = _curve(evidence, number, column, owner)
    part = values[(times > since - 1e-9) & (times <= until + 1e-9)]
    part = part[np.isfinite(part)]
    if not len(part):
        raise NotThereError(
            tr("{column} of {owner} is not known from {since} s on", column=column, owner=owner, since=f"{since:g}")
        )
    return part


def _marks_between(evidence: Evidence, number: float, kind: str, owner: str, since: float, until: float) -> Value:
    marks = run_at(evidence, number).marks
    return float(
        sum(
            mark.kind == kind
            and (owner in ("*", mark.owner) or mark.owner.partition("/")[0] == owner)
            and since <= mark.time_s <= until
            for mark in marks
        )
    )
