"""Comparison with the kernel that the window starts, follows and can stop, and the storage of its two sides.

Both sides are kept in the database and as files, so that they are overlaid like any two runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.features.editor.core.scenario_source import ScenarioSource
from subflow_app.features.exporting.core.exports import ExportPlan, export_run
from subflow_app.features.kernel.core import compare, probe
from subflow_app.features.kernel.core.compare import Comparison
from subflow_app.features.running.core.runs import RunJob, RunResult
from subflow_app.foundation.errors import KernelError
from subflow_app.foundation.jobs.job import Job

if TYPE_CHECKING:
    from subflow_store import Store


_SOCKET_BUFFER_BYTES = 32_000_000


class _StoppedError(KernelError):
    """Raised through the wait for the worker, which ends it on the way."""


class KernelStudy(Job):
    """One simulation and one run of the same scenario on this machine's kernel, both kept; nothing is if it is stopped.

    The kernel's side is a process of its own and runs in real time; while the time to go is unknown it has not begun.

    Args:
        source: the scenario.
        store: where both runs go.

    Attributes:
        run_ids: of the simulated run and of that of the kernel, once they are there.
    """

    def __init__(self, source: ScenarioSource, store: Store) -> None:
        super().__init__(name=source.scenario.name)
        self.run_ids: tuple[int, int] | None = None
        self._source = source
        self._store = store
        self._tell(share=0.0)

    def _work(self) -> None:
        """Run both sides.

        Raises:
            KernelError: if this machine cannot run it, with every reason, or the run fails.
            InputError: if the kernel has no counterpart of something in the scenario.
            StoreError: if the store cannot hold the runs.
        """
        scenario = self._source.scenario
        case = compare.Case.of(scenario, seed=scenario.seed, socket_buffer_bytes=_SOCKET_BUFFER_BYTES)
        machine = probe.probe_machine()
        try:
            self._check()
            runs = compare.run_comparisons([case], machine, seeds=1, repetitions=1, progress=self._on_progress)
            (comparison,) = runs
            self._check()
        except _StoppedError:
            return
        kept = keep_both(comparison, self._source.text, machine.release, self._store, None)
        assert kept.run_ids is not None
        self.run_ids = kept.run_ids["simulated"], kept.run_ids["kernel"]
        self._tell(share=1.0)

    def _check(self) -> None:
        if self.is_stopped:
            raise _StoppedError

    def _on_progress(self, elapsed_s: float, total_s: float) -> None:
        self._check()
        self._tell(share=min(elapsed_s / total_s, 0.99), eta_s=max(0.0, total_s - elapsed_s))


KERNEL_TAG = "kernel"

_DATA_ONLY = ExportPlan(run_data=True, figures=(), figure_formats=())


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a comparison went: numbers in the store by side, None without one, and files."""

    run_ids: dict[str, int] | None
    files: tuple[Path, ...]


def keep_both(
    comparison: Comparison, scenario_text: str, release: str, store: Store | None, directory: Path | None
) -> Kept:
    """Keep the first run of each side in the store, the kernel's with a tag, and write the traces of all.

    Args:
        comparison: complete.
        scenario_text: TOML of the scenario.
        release: of the kernel, for the run's name.
        store: an open store; None: nothing is stored.
        directory: where the files go; None: none are written.

    Raises:
        StoreError: if the store cannot hold them.
        ExportError: if a file cannot be written.
    """
    run_ids = None
    if store is not None:
        recording = comparison.kernel[0].recording
        scenario = comparison.case.scenario
        simulated = RunJob(scenario, scenario_text, seed=comparison.case.plan.seed, store=store)
        measured = RunJob(
            scenario,
            scenario_text,
            store=store,
            sample_interval_s=comparison.case.plan.sample_interval_s,
            name=f"{scenario.name} · Linux {release}",
            simulation_maker=lambda *_: recording,
        )
        run_ids = {"simulated": _number(simulated.run()), "kernel": _number(measured.run())}
        store.add_tag(run_ids["kernel"], KERNEL_TAG)
    files = () if directory is None else write_traces(comparison, directory, scenario_text)
    return Kept(run_ids, tuple(files))


def write_traces(comparison: Comparison, directory: Path, scenario_text: str | None = None) -> tuple[Path, ...]:
    """Write ``simulated/`` (the first seed) and ``kernel-1/``, ``kernel-2/`` ...: each as `subflow export` does.

    Raises:
        ExportError: if a file cannot be written.
    """
    scenario, plan = comparison.case.scenario, comparison.case.plan
    jobs = {"simulated": RunJob(scenario, scenario_text or "", seed=plan.seed)}
    for number, run in enumerate(comparison.kernel, start=1):
        jobs[f"kernel-{number}"] = RunJob(
            scenario,
            scenario_text or "",
            sample_interval_s=plan.sample_interval_s,
            simulation_maker=lambda *_, recording=run.recording: recording,
        )
    written: list[Path] = []
    for name, job in jobs.items():
        result = job.run()
        written += export_run(
            job.traces, directory / name, _DATA_ONLY, summary=result.summary, scenario_text=scenario_text
        )
    return tuple(written)


def _number(result: RunResult) -> int:
    if result.store_error is not None:
        raise result.store_error
    if result.error is not None:
        raise result.error
    assert result.run_id is not None
    return result.run_id
