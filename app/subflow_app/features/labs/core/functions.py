"""Functions that checks of labs may call on the document, and on the runs made since the lab was begun.

A check refers to a run by its number: `last()` returns a number, which is an argument of `goodput(last(), 'download')`.
A missing run is not an error: the check fails with a reason. Functions of measured values read summary values of a run,
or curves over time.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.labs.core.evidence import Evidence, LabRun
from subflow_app.features.labs.core.scenario_values import differences, subflow_count, value_of
from subflow_app.foundation.expressions import ArgumentKind, Function, Kind, Missing, Resolver, Value
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.measure import Measure, NotMeasuredError
from subflow_app.vocabulary.measures import NAMED


class NotThereError(Exception):
    """Raised if a function refers to a run or value that does not exist (yet); the message names the run or value."""


Body: TypeAlias = Callable[..., Value]
"""Implementation of a function: called with the evidence and the arguments of the check."""


@dataclass(frozen=True, slots=True)
class LabFunction:
    """A function of the language of checks.

    Attributes:
        name: name in checks.
        function: types of the arguments and of the result.
        about: description for authors of labs.
        body: Python function that computes the value.
    """

    name: str
    function: Function
    about: str
    body: Body


class FunctionTable(dict[str, LabFunction]):
    """Functions of the language of checks, by name."""

    def function(
        self, *arguments: ArgumentKind, optional: int = 0, gives: Kind = "number", unit: str = "", many: bool = False
    ) -> Callable[[Body], Body]:
        """Decorator that registers a function by its name without leading underscore, with its docstring as help."""

        def take(body: Body) -> Body:
            name = body.__name__.removeprefix("_")
            function = Function(arguments, optional, gives, unit, many)
            self[name] = LabFunction(name, function, (body.__doc__ or "").strip(), body)
            return body

        return take


def run_at(evidence: Evidence, number: Value) -> LabRun:
    """The run of the lab with this number.

    Raises:
        NotThereError: if the number is not a run of the lab.
    """
    if not isinstance(number, int | float) or isinstance(number, bool):
        raise NotThereError(tr("{value} is not a run: begin with last(), run(1) or run_of('STEP')", value=number))
    found = evidence.run(int(number))
    if found is None:
        raise NotThereError(tr("run {number} is not a run of this lab", number=int(number)))
    return found


def matching(runs: Sequence[LabRun], pairs: Sequence[Value]) -> list[LabRun]:
    """Runs whose scenarios have all these values, given as alternating keys and values."""
    wanted = list(_paired(pairs))
    return [run for run in runs if all(_says(run, key, value) for key, value in wanted)]


def _paired(pairs: Sequence[Value]) -> Iterator[tuple[str, Value]]:
    return ((str(pairs[place]), pairs[place + 1]) for place in range(0, len(pairs) - 1, 2))


def _says(run: LabRun, key: str, wanted: Value) -> bool:
    found = float(run.seed) if key == "seed" else value_of(run.doc, key)
    if isinstance(found, float) and isinstance(wanted, int | float):
        return math.isclose(found, wanted, rel_tol=1e-9)
    return found == wanted


def pairs_text(pairs: Sequence[Value]) -> str:
    """Format alternating keys and values as "key = value, …"."""
    return ", ".join(f"{key} = {_shown(value)}" for key, value in _paired(pairs))


def _shown(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    lines = str(value).splitlines()
    return f"{lines[0]} …" if len(lines) > 1 else str(value)  # first line of a script


def known(value: Any, what: str) -> Value:
    """Return a value as a float.

    Raises:
        NotThereError: if the value is not a finite number; the message contains `what`.
    """
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    raise NotThereError(tr("{what} is not known", what=what))


TABLE = FunctionTable()

PARTS = ("nodes", "links", "flows", "events", "notes")
"""Parts of a scenario that `count` counts."""


def functions() -> Mapping[str, Function]:
    """Signatures of all functions by name, for `Claim`."""
    return {each.name: each.function for each in described_functions()}


def described_functions() -> Sequence[LabFunction]:
    """All functions with their descriptions."""
    return tuple(TABLE.values())


def resolver_of(evidence: Evidence) -> Resolver:
    """A resolver that evaluates the functions on this evidence."""

    def resolve(name: str, arguments: tuple[Value, ...]) -> Value:
        try:
            return TABLE[name].body(evidence, *arguments)
        except NotThereError as error:
            return Missing(str(error))

    return resolve


# ---------------------------------------------------------------------------------------------------------------- runs


@TABLE.function("any", "any", optional=2, many=True)
def _last(evidence: Evidence, *pairs: Value) -> Value:
    """The last finished run; with keys and values, the last one with these values: last('seed', 3)."""
    found = matching(evidence.counted, pairs)
    if found:
        return float(found[-1].id)
    if not evidence.counted:
        if evidence.since:
            raise NotThereError(tr("no run has finished since your prediction"))
        raise NotThereError(tr("no run has finished yet"))
    raise NotThereError(tr("no run with {what} has finished yet", what=pairs_text(pairs)))


@TABLE.function("number")
def _run(evidence: Evidence, number: float) -> Value:
    """A finished run of the lab by its number, counted from 1: run(1)."""
    runs = evidence.counted
    if number != int(number) or number < 1:
        raise NotThereError(tr("runs are counted from 1"))
    if number > len(runs):
        raise NotThereError(tr("{there} of {wanted} runs have finished", there=len(runs), wanted=int(number)))
    return float(runs[int(number) - 1].id)


@TABLE.function("text")
def _run_of(evidence: Evidence, step: str) -> Value:
    """The last run when a step was passed: run_of('first')."""
    run_id = evidence.step_runs.get(step)
    if run_id is None or evidence.run(run_id) is None:
        raise NotThereError(tr('the step "{step}" has no run yet', step=step))
    return float(run_id)


@TABLE.function("any", "any", optional=2, many=True)
def _runs(evidence: Evidence, *pairs: Value) -> Value:
    """Number of finished runs; with keys and values, only runs with these values: runs('flows.x.controller', 'lia')."""
    return float(len(matching(evidence.counted, pairs)))


@TABLE.function("any", "any", optional=2, many=True)
def _seeds(evidence: Evidence, *pairs: Value) -> Value:
    """Number of different seeds of the finished runs; with keys and values, only of runs with these values."""
    return float(len({run.seed for run in matching(evidence.counted, pairs)}))


@TABLE.function("number", gives="truth")
def _finished(evidence: Evidence, run: float) -> Value:
    """True if a run has ended: finished(last())."""
    return run_at(evidence, run) is not None


@TABLE.function("number", gives="truth")
def _forked(evidence: Evidence, run: float) -> Value:
    """True if a run is a fork of another run."""
    return run_at(evidence, run).fork is not None


@TABLE.function("number")
def _origin(evidence: Evidence, run: float) -> Value:
    """The run from which a fork was made."""
    fork = run_at(evidence, run).fork
    if fork is None or fork.parent_id is None or evidence.run(fork.parent_id) is None:
        raise NotThereError(tr("run {number} is not a fork of a run of this lab", number=int(run)))
    return float(fork.parent_id)


@TABLE.function("number", unit="s")
def _fork_time(evidence: Evidence, run: float) -> Value:
    """The time at which a fork begins, s."""
    fork = run_at(evidence, run).fork
    if fork is None:
        raise NotThereError(tr("run {number} is not a fork", number=int(run)))
    return fork.forked_at_s


# -------------------------------------------------------------------------------------------------------------- values


@TABLE.function("any", "text", optional=1)
def _value(evidence: Evidence, first: Value, second: Value = "") -> Value:
    """A quantity of the document, SI, or of a run's scenario: value('links.x.queue'), value(last(), 'duration')."""
    doc, key = _doc_and_key(evidence, first, second)
    found = value_of(doc, key)
    if isinstance(found, Missing):
        return found
    if isinstance(found, str | bool):
        raise NotThereError(tr("{key} is {value}, not a number", key=key, value=found))
    return found


@TABLE.function("any", "text", optional=1, gives="text")
def _text(evidence: Evidence, first: Value, second: Value = "") -> Value:
    """A text of the document, or of a run's scenario: text('profile')."""
    doc, key = _doc_and_key(evidence, first, second)
    found = value_of(doc, key)
    return found if isinstance(found, Missing | str) else f"{found:g}" if isinstance(found, float) else str(found)


@TABLE.function("any", "text", optional=1, gives="truth")
def _is_on(evidence: Evidence, first: Value, second: Value = "") -> Value:
    """True if a switch of the document, or of a run's scenario, is on: is_on('transport.dsack')."""
    doc, key = _doc_and_key(evidence, first, second)
    found = value_of(doc, key)
    if isinstance(found, Missing | bool):
        return found
    raise NotThereError(tr("{key} is {value}, neither true nor false", key=key, value=found))


@TABLE.function("any", "text", optional=1, gives="text")
def _controller(evidence: Evidence, first: Value, second: Value = "") -> Value:
    """The congestion controller of a flow of the document, or of a run: controller(last(), 'download')."""
    doc, flow = _doc_and_key(evidence, first, second)
    return _text_at(doc, f"flows.{flow}.controller")


@TABLE.function("any", "text", optional=1, gives="text")
def _scheduler(evidence: Evidence, first: Value, second: Value = "") -> Value:
    """The packet scheduler of a flow of the document, or of a run."""
    doc, flow = _doc_and_key(evidence, first, second)
    return _text_at(doc, f"flows.{flow}.scheduler")


@TABLE.function("any", "text", optional=1, gives="truth")
def _has(evidence: Evidence, first: Value, second: Value = "") -> Value:
    """True if the document, or a run's scenario, contains a key: has('links.wifi'), has('flows.x.size')."""
    doc, key = _doc_and_key(evidence, first, second)
    return doc.value(key) is not None


@TABLE.function("any", "text", optional=1)
def _count(evidence: Evidence, first: Value, second: Value = "") -> Value:
    """Number of nodes, links, flows, events or notes: count('links')."""
    doc, section = _doc_and_key(evidence, first, second)
    parts = doc.data.get(section)
    return float(len(parts)) if section in PARTS and isinstance(parts, dict | list) else 0.0


@TABLE.function("any", "text", optional=1)
def _subflows(evidence: Evidence, first: Value, second: Value = "") -> Value:
    """Number of paths of a flow, each a subflow: subflows('download')."""
    doc, flow = _doc_and_key(evidence, first, second)
    found = subflow_count(doc, flow)
    if found is None:
        raise NotThereError(tr("the scenario has no flow {flow}, or has problems", flow=flow))
    return float(found)


@TABLE.function(gives="truth")
def _valid(evidence: Evidence) -> Value:
    """True if the document has no problems."""
    return evidence.doc.is_valid


@TABLE.function("number", "number", "text", gives="truth", optional=1, many=True)
def _same_but(evidence: Evidence, first: float, second: float, *keys: str) -> Value:
    """True if two runs differ in exactly these keys; seed, name, notes and places on the canvas do not count."""
    return set(differences(run_at(evidence, first).doc, run_at(evidence, second).doc)) == set(keys)


@TABLE.function("number", "number", "text", gives="truth")
def _changed(evidence: Evidence, first: float, second: float, key: str) -> Value:
    """True if a value differs between two runs."""
    before, after = (value_of(run_at(evidence, run).doc, key) for run in (first, second))
    return before != after


# ------------------------------------------------------------------------------------------------ sweeps and trainings


@TABLE.function()
def _sweep_runs(evidence: Evidence) -> Value:
    """Number of runs of the last finished sweep."""
    if evidence.sweep is None:
        raise NotThereError(tr("no sweep has finished yet"))
    return float(len(evidence.sweep))


@TABLE.function()
def _sweep_points(evidence: Evidence) -> Value:
    """Number of points of the last finished sweep."""
    if evidence.sweep is None:
        raise NotThereError(tr("no sweep has finished yet"))
    return float(evidence.sweep_points)


@TABLE.function("text")
def _trained(evidence: Evidence, agent: str) -> Value:
    """Number of finished trainings of an agent: trained('rl-explore')."""
    return float(sum(training.agent == agent for training in evidence.trainings))


@TABLE.function("text")
def _training_steps(evidence: Evidence, agent: str) -> Value:
    """Number of transitions in the last finished training of an agent."""
    return float(_training(evidence, agent).steps)


@TABLE.function("text", "text")
def _training_return(evidence: Evidence, agent: str, which: str) -> Value:
    """Mean return of the last finished training of an agent: 'first' or 'last' tenth of its reports, or the 'best'."""
    training = _training(evidence, agent)
    assert evidence.store is not None
    names = evidence.store.trainings.metrics(training.id)
    metric = next((name for name in ("return", "episode_return") if name in names), None)
    values = np.array([]) if metric is None else evidence.store.trainings.curve(training.id, metric).values
    values = values[np.isfinite(values)]
    if not len(values):
        raise NotThereError(tr("the training of {agent} has reported no return", agent=agent))
    part = max(1, len(values) // 10)
    if which == "best":
        return float(np.max(values))
    return float(np.mean(values[:part] if which == "first" else values[-part:]))


FIGURES = tuple(NAMED)
"""Names of the measures that `over` accepts."""

_WITH_SUBFLOW = (
    *("throughput", "rtt", "loss_ratio", "mean_cwnd"),
    *("one_way_delay", "max_one_way_delay", "jitter", "reordered_ratio", "ack_delay"),
)


# ------------------------------------------------------------------------------------------------------------- figures


def _add(measure: Measure) -> None:
    """Register a measure as a function of a run. Measures of flows and links also take an owner, and some a subflow."""

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
    """Mean of a measure over all finished runs of the lab with certain values, for example over seeds.

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


def _add_of_curve(name: str, figure: Callable[[NDArray[np.float32]], Any], about: str) -> None:
    """Register a function that computes a number from the samples of a curve between two times."""

    def body(
        evidence: Evidence, run: float, column: str, owner: str, since: float = 0.0, until: float = math.inf
    ) -> Value:
        return float(figure(_part(evidence, run, column, owner, since, until)))

    function = Function(("number", "text", "text", "number", "number"), 2, "number", "", False)
    TABLE[name] = LabFunction(name, function, about, body)


_MEAN = "Mean of a curve between two times: mean_of(last(), 'queue_pkts', 'wifi/forward', 20 s, 60 s)."
_add_of_curve("mean_of", np.mean, _MEAN)
_add_of_curve("max_of", np.max, "Greatest value of a curve between two times.")
_add_of_curve("min_of", np.min, "Smallest value of a curve between two times.")
_add_of_curve("spread_of", np.ptp, "Greatest value of a curve between two times, less the smallest.")


@TABLE.function("number", "text", "text", "number")
def _value_at(evidence: Evidence, run: float, column: str, owner: str, time_s: float) -> Value:
    """Value of a curve at a time: the last sample up to this time."""
    times, values = _curve(evidence, run, column, owner)
    index = int(np.searchsorted(times, time_s + 1e-9, side="right")) - 1
    if index < 0 or math.isnan(values[index]):
        raise NotThereError(tr("{column} of {owner} is not known at {time} s", column=column, owner=owner, time=time_s))
    return float(values[index])


@TABLE.function("number", "text", "number", "number", optional=2)
def _losses(evidence: Evidence, run: float, owner: str, since: float = 0.0, until: float = math.inf) -> Value:
    """Number of congestion losses of a subflow ("download/1"), or of a whole flow, between two times."""
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


# ------------------------------------------------------------------------------------------------------------ helpers


def _flows(summary: Mapping[str, Any], number: float, flow: str) -> list[Mapping[str, Any]]:
    # `download` also selects its copies `download.1`, `download.2`.
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


def _doc_and_key(evidence: Evidence, first: Value, second: Value) -> tuple[ScenarioDoc, str]:
    """The scenario and the key. A run number as first argument selects its scenario, not the open document."""
    if isinstance(first, str):
        return evidence.doc, first
    return run_at(evidence, first).doc, str(second)


def _text_at(doc: ScenarioDoc, key: str) -> Value:
    found = value_of(doc, key)
    return found if isinstance(found, Missing) else str(found)


def _training(evidence: Evidence, agent: str) -> Any:
    found = [training for training in evidence.trainings if training.agent == agent]
    if not found:
        raise NotThereError(tr("no training of {agent} has finished yet", agent=agent))
    return found[-1]
