"""The functions that checks of labs may call: over the document and over what was run since the lab was begun.

A run is a number to the language: `last()` gives one, `goodput(last(), 'download')` takes one. A missing run is
no error: the check then reports it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.labs.core.evidence import Evidence
from subflow_app.features.labs.core.figure_functions import TABLE as FIGURE_TABLE
from subflow_app.features.labs.core.function_table import (
    FunctionTable,
    LabFunction,
    NotThereError,
    matching,
    pairs_text,
    run_at,
)
from subflow_app.features.labs.core.scenario_values import differences, subflow_count, value_of
from subflow_app.foundation.expressions import Function, Missing, Resolver, Value
from subflow_app.vocabulary.language import tr

TABLE = FunctionTable()

PARTS = ("nodes", "links", "flows", "events", "notes")
"""What `count` counts."""


def functions() -> Mapping[str, Function]:
    """What a check may call, for `Claim`."""
    return {each.name: each.function for each in described_functions()}


def described_functions() -> Sequence[LabFunction]:
    """All of them, for authors."""
    return (*TABLE.values(), *FIGURE_TABLE.values())


def resolver_of(evidence: Evidence) -> Resolver:
    """Gives the values of the functions for what is there."""
    table = {**TABLE, **FIGURE_TABLE}

    def resolve(name: str, arguments: tuple[Value, ...]) -> Value:
        try:
            return table[name].body(evidence, *arguments)
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
    """Number of finished runs; with keys and values, of those with these values: runs('flows.x.controller', 'lia')."""
    return float(len(matching(evidence.counted, pairs)))


@TABLE.function("any", "any", optional=2, many=True)
def _seeds(evidence: Evidence, *pairs: Value) -> Value:
    """Number of different seeds of the finished runs; with keys and values, of those with these values."""
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


# -------------------------------------------------------------------------------------------------------------- inside


def _doc_and_key(evidence: Evidence, first: Value, second: Value) -> tuple[ScenarioDoc, str]:
    """(document, key) of arguments that begin with a run, or do not."""
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
