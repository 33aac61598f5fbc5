"""Job of the window that compares a simulation with a kernel run, and functions that store or export both runs.

Both sides are stored as ordinary runs, so that users can overlay them like any two runs.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from subflow_app.features.editor.core.scenario_source import ScenarioSource
from subflow_app.features.exporting.core.exports import ExportPlan, export_run
from subflow_app.features.kernel.core import compare, probe
from subflow_app.features.kernel.core.compare import Comparison
from subflow_app.features.running.core.run_recorder import RunnableSimulation
from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.traces.core.measured import KERNEL_TAG
from subflow_app.foundation.errors import KernelError
from subflow_app.foundation.jobs.job import Job
from subflow_sim.scenario import Scenario
from subflow_sim.simulation import Simulation

if TYPE_CHECKING:
    from subflow_store import Store


_SOCKET_BUFFER_BYTES = 32_000_000


class _StoppedError(KernelError):
    """Raised by the progress callback to stop the comparison, so that `ask_worker` kills the worker."""


@dataclass(frozen=True, slots=True)
class Sample:
    """State of the first flow.

    Attributes:
        at_s: time, s.
        goodput_bps: goodput since the sample before, bit/s.
        cwnd_pkts: sum of the windows of its subflows, packets.
    """

    at_s: float
    goodput_bps: float
    cwnd_pkts: float


@dataclass(frozen=True, slots=True)
class Curves:
    """Samples of both sides, in time order."""

    simulated: tuple[Sample, ...]
    kernel: tuple[Sample, ...]


def _simulated(case: compare.Case) -> tuple[Sample, ...]:
    """Samples of the first flow in a simulation with the plan's seed and sampling interval."""
    interval_s = case.plan.sample_interval_s
    simulation = Simulation(case.scenario, seed=case.plan.seed, sample_interval_s=interval_s)
    simulation.run_until(case.scenario.duration_s)
    flow = case.plan.flows[0].name
    goodput = np.zeros(simulation.sample_count)
    cwnd = np.zeros(simulation.sample_count)
    for index, column in enumerate(simulation.columns):
        if (column.owner, column.name) == (flow, "goodput_bps"):
            goodput = np.nan_to_num(simulation.values(index))
        elif column.scope == "subflow" and column.owner.startswith(f"{flow}/") and column.name == "cwnd_pkts":
            cwnd = cwnd + np.nan_to_num(simulation.values(index))
    return tuple(
        Sample((number + 1) * interval_s, float(bps), float(pkts))
        for number, (bps, pkts) in enumerate(zip(goodput, cwnd, strict=True))
    )


class KernelStudy(Job):
    """Performs a simulation and a kernel run of the same scenario, and stores both, or neither if the job is stopped.

    The kernel run takes real time in a separate process. Until it begins, the remaining time of the job is unknown.

    Args:
        source: the scenario.
        store: the store for both runs.

    Attributes:
        run_ids: numbers of the simulated run and of the kernel run, after both are stored.
        curves: samples of both sides so far; replaced as a whole while the job runs.
        comparison: the result, once both sides ran.
    """

    def __init__(self, source: ScenarioSource, store: Store) -> None:
        super().__init__(name=source.scenario.name)
        self.run_ids: tuple[int, int] | None = None
        self.curves = Curves((), ())
        self.comparison: Comparison | None = None
        self._source = source
        self._store = store
        self._tell(share=0.0)

    def _work(self) -> None:
        """Run both sides.

        Raises:
            KernelError: with all reasons, if this machine cannot run the scenario; or if the run fails.
            InputError: if the kernel has no counterpart of an element of the scenario.
            StoreError: if the store cannot hold the runs.
        """
        scenario = self._source.scenario
        case = compare.Case.of(scenario, seed=scenario.seed, socket_buffer_bytes=_SOCKET_BUFFER_BYTES)
        machine = probe.probe_machine()
        self.curves = Curves(_simulated(case), ())
        with tempfile.TemporaryDirectory(prefix="subflow-") as folder:
            self._live = Path(folder) / "samples"
            try:
                self._check()
                (comparison,) = compare.run_comparisons(
                    [case], machine, seeds=1, repetitions=1, progress=self._on_progress, live=self._live
                )
                self._check()
            except _StoppedError:
                return
            self._read_live()
        self.comparison = comparison
        kept = keep_both(comparison, self._source.text, machine.release, self._store, None)
        assert kept.run_ids is not None
        self.run_ids = kept.run_ids["simulated"], kept.run_ids["kernel"]
        self._tell(share=1.0)

    def _check(self) -> None:
        if self.is_stopped:
            raise _StoppedError

    def _on_progress(self, elapsed_s: float, total_s: float) -> None:
        self._check()
        self._read_live()
        self._tell(share=min(elapsed_s / total_s, 0.99), eta_s=max(0.0, total_s - elapsed_s))

    def _read_live(self) -> None:
        """Take over the kernel's samples so far."""
        try:
            text = self._live.read_text(encoding="ascii")
        except OSError:
            return  # the first attempt has not begun
        lines = text[: text.rfind("\n") + 1].splitlines()  # the last line may be incomplete
        rows = [json.loads(line) for line in lines]
        kernel = tuple(Sample(row[0], row[1][0], sum(row[1][1])) for row in rows)
        self.curves = Curves(self.curves.simulated, kernel)


_DATA_ONLY = ExportPlan(run_data=True, figures=(), figure_formats=())


@dataclass(frozen=True, slots=True)
class Kept:
    """Result of storing a comparison: the run numbers by side, or None if no store was given, and the written files."""

    run_ids: dict[str, int] | None
    files: tuple[Path, ...]


def keep_both(
    comparison: Comparison, scenario_text: str, release: str, store: Store | None, directory: Path | None
) -> Kept:
    """Store the first run of each side, tag the kernel's run, and write the traces to files with `write_traces`.

    Args:
        comparison: a complete comparison.
        scenario_text: TOML of the scenario.
        release: release of the kernel, for the run's name.
        store: an open store; None to store nothing.
        directory: folder for the files; None to write no files.

    Raises:
        StoreError: if the store cannot hold the runs.
        ExportError: if a file cannot be written.
    """
    run_ids = None
    if store is not None:
        scenario = comparison.case.scenario
        simulated = RunJob(scenario, scenario_text, seed=comparison.case.plan.seed, store=store)
        measured = recorded_job(
            comparison.kernel[0].recording,
            scenario_text,
            store=store,
            sample_interval_s=comparison.case.plan.sample_interval_s,
            name=f"{scenario.name} · Linux {release}",
        )
        run_ids = {"simulated": run_and_keep(simulated), "kernel": run_and_keep(measured, KERNEL_TAG)}
    files = () if directory is None else write_traces(comparison, directory, scenario_text)
    return Kept(run_ids, tuple(files))


def write_traces(comparison: Comparison, directory: Path, scenario_text: str | None = None) -> tuple[Path, ...]:
    """Write ``simulated/`` (the first seed) and ``kernel-1/``, ``kernel-2/`` ... in the format of `subflow export`.

    Returns:
        The paths of all files.

    Raises:
        ExportError: if a file cannot be written.
    """
    scenario, plan = comparison.case.scenario, comparison.case.plan
    jobs = {"simulated": RunJob(scenario, scenario_text or "", seed=plan.seed)}
    for number, run in enumerate(comparison.kernel, start=1):
        jobs[f"kernel-{number}"] = recorded_job(
            run.recording, scenario_text or "", sample_interval_s=plan.sample_interval_s
        )
    return write_data(jobs, directory, scenario_text)


class Recording(RunnableSimulation, Protocol):
    """An ended run with the interface of a simulation."""

    @property
    def scenario(self) -> Scenario:
        """Scenario of the run."""


def recorded_job(
    recording: Recording,
    scenario_text: str,
    *,
    sample_interval_s: float,
    name: str | None = None,
    store: Store | None = None,
) -> RunJob:
    """A job that takes a recording in place of a simulation."""
    return RunJob(
        recording.scenario,
        scenario_text,
        store=store,
        sample_interval_s=sample_interval_s,
        name=name,
        simulation_maker=lambda *_: recording,
    )


def run_and_keep(job: RunJob, *tags: str) -> int:
    """Carry out a job with a store, add tags to its run, and return the number of the run.

    Raises:
        StoreError: if the store cannot hold the run.
    """
    result = job.run()
    if result.store_error is not None:
        raise result.store_error
    if result.error is not None:
        raise result.error
    assert result.run_id is not None
    assert job.store is not None
    for tag in tags:
        job.store.add_tag(result.run_id, tag)
    return result.run_id


def write_data(jobs: Mapping[str, RunJob], directory: Path, scenario_text: str | None) -> tuple[Path, ...]:
    """Carry out jobs, and write the traces of each to a folder in the format of `subflow export`.

    Args:
        jobs: jobs by name of the folder in `directory`.
        directory: folder, which is made if missing.
        scenario_text: TOML of the scenario; None to leave it out.

    Raises:
        ExportError: if a file cannot be written.
    """
    written: list[Path] = []
    for name, job in jobs.items():
        result = job.run()
        written += export_run(
            job.traces, directory / name, _DATA_ONLY, summary=result.summary, scenario_text=scenario_text
        )
    return tuple(written)
