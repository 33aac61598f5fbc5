"""Hashes of what decides a run: of what a run heeds in its scenario, and of all that makes two runs the same.

Runs of scenarios with the same `scenario_hash` differ by their luck alone. Runs with the same `run_key` have the same
results, and one of them need not be run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache

import subflow_app
from subflow_sim.build import core_fingerprint
from subflow_sim.scenario_model import DelayTrace, DeliveryTrace, Node, PolicyFile, ScriptFile
from subflow_sim.whole_scenario import Scenario

# What there was not always: where it is left out, a scenario has the hash that it had before.
_LATER = (
    *("script", "delay_trace", "jitter", "bucket", "retransmission", "outages", "handover", "grants", "access"),
    "group",
)
# Titles and drawings say nothing about a run; the seed has a place of its own, and the scripts that run are with their
# flows.
_UNHEEDED = ("name", "seed", "notes", "training", "format", "scripts")


def scenario_hash(scenario: Scenario) -> str:
    """Hash of all that a run takes notice of, but for its seed; however the file is written and wherever it lies."""
    digest = hashlib.sha256()
    for field in fields(scenario):
        if field.name not in _UNHEEDED:
            digest.update(f"{field.name}:".encode())
            for part in _canonical(getattr(scenario, field.name)):
                digest.update(part.encode())
    return digest.hexdigest()


def _canonical(value: object) -> Iterator[str]:
    """The value as text in pieces, each of which ends where the next begins."""
    if isinstance(value, Node):
        value = (value.name, value.kind)  # not where it is drawn
    elif isinstance(value, DeliveryTrace):
        yield _numbers(value.times_ms.tolist())  # not what its file is called
        return
    elif isinstance(value, DelayTrace):
        yield _numbers(value.delays_us.tolist())
        value = value.interval_s
    elif isinstance(value, PolicyFile):
        value = value.content_hash
    elif isinstance(value, ScriptFile):
        value = value.text  # not what its file is called
    if is_dataclass(value) and not isinstance(value, type):
        yield type(value).__name__ + "{"
        for field in fields(value):
            entry = getattr(value, field.name)
            if field.name in _LATER and entry is None:
                continue
            yield field.name + "="
            yield from _canonical(entry)
        yield "}"
    elif isinstance(value, Mapping):
        # In the order of the file: that of links and flows decides which of them comes first within an instant.
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
    """The version of Subflow together with that of its compiled core."""
    return f"{subflow_app.__version__}+{core_fingerprint()}"


def run_key(
    scenario: str, seed: int, *, sample_interval_s: float, records_decisions: bool, version: str | None = None
) -> str:
    """What a run is found by.

    Args:
        scenario: its `scenario_hash`.
        seed: in use.
        sample_interval_s: of its traces.
        records_decisions: whether decisions are kept with it.
        version: of the simulator; None: of this one.
    """
    parts = (scenario, seed, sample_interval_s, records_decisions, version or simulator_version())
    return hashlib.sha256("/".join(map(repr, parts)).encode()).hexdigest()
