"""Hashes that identify runs: one of the relevant parts of a scenario, and one of all inputs that determine a result.

Runs of scenarios with the same `scenario_hash` differ only by their seed. Runs with the same `run_key` have the same
results, so only one of them needs to be run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache

import subflow_app
from subflow_sim.build import core_fingerprint
from subflow_sim.scenario_model import DelayTrace, DeliveryTrace, LossTrace, Node, PolicyFile, ScriptFile
from subflow_sim.whole_scenario import Scenario

# Fields of newer versions: a scenario without these fields keeps its old hash.
_LATER = (
    *("script", "delay_trace", "jitter", "bucket", "retransmission", "outages", "handover", "grants", "access"),
    *("group", "one_way_delay", "loss_trace"),
)
# Titles and drawings do not influence a run. The seed is hashed separately, and used scripts are hashed with their
# flows.
_UNHEEDED = ("name", "seed", "notes", "training", "format", "scripts")


def scenario_hash(scenario: Scenario) -> str:
    """Hash of all parts of a scenario that influence a run, except the seed; independent of the layout of the file."""
    digest = hashlib.sha256()
    for field in fields(scenario):
        if field.name not in _UNHEEDED:
            digest.update(f"{field.name}:".encode())
            for part in _canonical(getattr(scenario, field.name)):
                digest.update(part.encode())
    return digest.hexdigest()


def _canonical(value: object) -> Iterator[str]:
    """The value as text, in pieces that are unambiguous when concatenated."""
    if isinstance(value, Node):
        value = (value.name, value.kind)  # without its position in drawings
    elif isinstance(value, DeliveryTrace):
        yield _numbers(value.times_ms.tolist())  # without the name of its file
        return
    elif isinstance(value, DelayTrace):
        yield _numbers(value.delays_us.tolist())
        value = value.interval_s
    elif isinstance(value, LossTrace):
        value = value.text
    elif isinstance(value, PolicyFile):
        value = value.content_hash
    elif isinstance(value, ScriptFile):
        value = value.text  # without the name of its file
    if is_dataclass(value) and not isinstance(value, type):
        yield type(value).__name__ + "{"
        for field in fields(value):
            entry = getattr(value, field.name)
            if field.name in _LATER and (entry is None or entry is False):
                continue
            yield field.name + "="
            yield from _canonical(entry)
        yield "}"
    elif isinstance(value, Mapping):
        # Keep the order of the file, because the order of links and flows determines that of simultaneous events.
        yield "{"
        for key, entry in value.items():
            yield f"{key!r}:"
            yield from _canonical(entry)
        yield "}"
    elif isinstance(value, tuple | list):
        yield "("
        for entry in value:
            yield from _canonical(entry)
        yield ")"
    else:
        yield f"{value!r},"


def _numbers(numbers: list[int]) -> str:
    return f"({','.join(map(str, numbers))},)"


@cache
def simulator_version() -> str:
    """The version of Subflow, followed by the fingerprint of its compiled core."""
    return f"{subflow_app.__version__}+{core_fingerprint()}"


def run_key(
    scenario: str, seed: int, *, sample_interval_s: float, records_decisions: bool, version: str | None = None
) -> str:
    """Key for finding the result of a run.

    Args:
        scenario: `scenario_hash` of the run.
        seed: seed in use.
        sample_interval_s: simulated time between two samples of the traces, s.
        records_decisions: whether decisions are stored.
        version: version of the simulator; None for this version.
    """
    parts = (scenario, seed, sample_interval_s, records_decisions, version or simulator_version())
    return hashlib.sha256("/".join(map(repr, parts)).encode()).hexdigest()
