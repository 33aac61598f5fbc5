"""Both sides of a comparison in the database and as files, so that they are overlaid like any two runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.features.exporting.core.exports import ExportPlan, export_run
from subflow_app.features.kernel.core.compare import Comparison
from subflow_app.features.running.core.runs import RunJob, RunResult

if TYPE_CHECKING:
    from subflow_store import Store

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
