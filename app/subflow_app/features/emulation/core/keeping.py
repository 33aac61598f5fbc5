"""Stores and exports runs of programs, alone or with the simulation of the same scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_app.features.editor.core.scenario_source import ScenarioSource, source_of
from subflow_app.features.emulation.core.emulation import SAMPLE_INTERVAL_S
from subflow_app.features.kernel.core.study import recorded_job, run_and_keep, write_data
from subflow_app.features.running.core.live_changes import with_change
from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.traces.core.measured import emulated_tags
from subflow_app.foundation.toml_edit import TomlEditError, TomlValue, read_toml, remove_table, set_value
from subflow_sim.errors import ScenarioError
from subflow_sim.units import Dimension, parse_quantity

if TYPE_CHECKING:
    from subflow_app.features.emulation.core.recording import EndedEmulation
    from subflow_store import Store

_LEAST_S = 0.05


@dataclass(frozen=True, slots=True)
class KeptRuns:
    """Result of storing a run of programs.

    Attributes:
        run_ids: number of the run ("emulated") and of its simulation ("simulated"), if it was wanted; None without a
            store.
        files: written files.
    """

    run_ids: Mapping[str, int] | None
    files: tuple[Path, ...]


def keep_emulation(
    recording: EndedEmulation,
    source: ScenarioSource,
    store: Store | None,
    directory: Path | None,
    *,
    with_simulation: bool = False,
) -> KeptRuns:
    """Store an ended run with the tag "emulated", also "unreliable" if it was late, and write its traces to files.

    Args:
        recording: the run.
        source: the scenario from which it was planned.
        store: an open store; None to store nothing.
        directory: folder for the files; None to write no files.
        with_simulation: whether the same scenario is also simulated, for the same time and with the same changes.

    Raises:
        StoreError: if the store cannot hold the runs.
        ExportError: if a file cannot be written.
    """
    about = recording.summary()["emulation"]
    known = scenario_of_run(source, recording.duration_s, about["changes"])
    recording.scenario = known.scenario
    name = f"{known.scenario.name} · {_programs_text(about)}"
    run_ids: dict[str, int] | None = None
    if store is not None:
        run_ids = {}
        if with_simulation:
            run_ids["simulated"] = run_and_keep(_simulation(known, store))
        job = recorded_job(recording, known.text, sample_interval_s=SAMPLE_INTERVAL_S, name=name, store=store)
        run_ids["emulated"] = run_and_keep(job, *emulated_tags(recording.summary()))
    files: tuple[Path, ...] = ()
    if directory is not None:
        jobs = {"emulated": recorded_job(recording, known.text, sample_interval_s=SAMPLE_INTERVAL_S, name=name)}
        if with_simulation:
            jobs["simulated"] = _simulation(known, None)
        files = write_data(jobs, directory, known.text)
    return KeptRuns(run_ids, files)


def _simulation(source: ScenarioSource, store: Store | None) -> RunJob:
    return RunJob(source.scenario, source.text, store=store)


def _programs_text(about: Mapping[str, Any]) -> str:
    names = dict.fromkeys(Path(program["words"][0]).name for program in about["programs"])
    return ", ".join(names) or "programs"


def scenario_of_run(
    source: ScenarioSource, duration_s: float, changes: list[Mapping[str, Any]] | tuple[()] = ()
) -> ScenarioSource:
    """The scenario as it was during a run: as long as the run, and with the changes made while programs ran.

    Args:
        source: the planned scenario.
        duration_s: length of the run, s.
        changes: messages `changed` of the worker.

    Returns:
        The scenario; `source` itself if its text does not allow the changes, e.g. because a flow starts later.
    """
    text = source.text
    try:
        events = read_toml(text).get("events", [])
        for number in reversed(range(len(events))):
            at = events[number]["at"]
            if (parse_quantity(at, Dimension.TIME) if isinstance(at, str) else at) > duration_s:
                text = remove_table(text, "events", number)
        text = set_value(text, ("duration",), _seconds(max(duration_s, _LEAST_S)))
        if source.scenario.warmup_s >= duration_s:
            text = set_value(text, ("warmup",), "0s")
        for change in changes:
            text = with_change(text, _event_of(change), min(change["t_s"], duration_s))
        return source_of(source.use, text)
    except (ScenarioError, TomlEditError):
        return source


def _seconds(value: float) -> str:
    return f"{value:.9g}s"


def _event_of(change: Mapping[str, Any]) -> dict[str, TomlValue]:
    """The keys of an ``[[events]]`` entry, without `at`."""
    values: dict[str, TomlValue] = {"link": change["link"]}
    if change["direction"] != "both":
        values["direction"] = change["direction"]
    for key, name in (("rate_bps", "rate"), ("delay_s", "delay"), ("loss", "loss"), ("up", "up")):
        if key in change:
            values[name] = change[key]
    if "queue_pkts" in change:
        values["queue"] = f"{change['queue_pkts']}pkt"
    return values
