"""Builds the library of results from quick runs of experiments, reference runs of labs, and outcomes of the arena.

All results are first collected in a database next to the file, `experiments.building.db`, so that an interrupted build
can resume. The contents of the library are then copied into the file itself, without the name of the machine that
performed the runs, and without time series and events: opening a run simulates it again. Of the values of experiments,
only those that figures and verdicts read are indexed. A check confirms that figures and verdicts remain the same.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from subflow_app.features.arena.core.job import ArenaJob
from subflow_app.features.arena.core.results import entry
from subflow_app.features.gallery.core.figure import experiment_figure
from subflow_app.features.gallery.core.recipe_reader import load_recipe, recipe_names
from subflow_app.features.gallery.core.reproduction import Reproductions
from subflow_app.features.gallery.core.results import Results, Verdict, measured_values, stored_results
from subflow_app.features.gallery.core.runs_kind import MEASURED
from subflow_app.features.labs.core.lab_file import shipped_labs
from subflow_app.features.labs.core.runner import LabRunner
from subflow_app.features.library.core.contents import lab_tag, of_experiment, of_lab, sweeps_of
from subflow_app.features.library.core.copying import as_shipped
from subflow_app.features.library.core.shipped import open_library, write_thumbnails
from subflow_app.features.paper.core.figure_process import FigureProcess
from subflow_app.features.traces.core.scenario_hash import simulator_version
from subflow_app.foundation.errors import AppError, LibraryError
from subflow_app.foundation.jobs.job import Job, Series
from subflow_app.foundation.jobs.progress import JobProgress, JobState
from subflow_app.foundation.run_databases import open_database
from subflow_sim.gate import is_there
from subflow_store import open_store
from subflow_store.copies import Changes
from subflow_store.values import Records

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.recipe import Recipe
    from subflow_app.features.labs.core.lab import Lab
    from subflow_store import RunRow, Store
    from subflow_store.sweeps import SweepStore


# Every flow and subflow has result keys with these suffixes, so the keys contain the names of all flows.
_NAMING_FLOWS = (".goodput_bps", ".throughput_bps")


class ReadLog:
    """Wraps a store, and records which values of runs are read.

    Args:
        store: the wrapped store.

    Attributes:
        read_values: keys of the measured values that were read, by run.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.read_values: dict[int, set[str]] = {}

    @property
    def as_store(self) -> Store:
        """This object, typed as `Store` for functions that expect a store."""
        return cast("Store", self)

    @property
    def sweeps(self) -> SweepReadLog:
        """Like `Store.sweeps`, but reads are recorded."""
        return SweepReadLog(self._store.sweeps, self.read_values)

    def values(self, key: str) -> Any:
        """Like `Store.values`; records the key for each run."""
        found = self._store.values(key)
        for run_id in found:
            self.read_values.setdefault(run_id, set()).add(key)
        return found

    def __getattr__(self, name: str) -> Any:
        """Forward to the store."""
        return getattr(self._store, name)


class SweepReadLog:
    """Wraps the sweeps of a store, and records which values of their runs are read.

    Args:
        sweeps: the sweeps of the store.
        read: keys that were read, by run; the wrapper adds to this dictionary.
    """

    def __init__(self, sweeps: SweepStore, read: dict[int, set[str]]) -> None:
        self._sweeps = sweeps
        self._read = read

    def figures(self, sweep_id: int, is_wanted: Callable[[str], bool]) -> dict[tuple[int, int], tuple[int, Any]]:
        """Like `SweepStore.figures`, but reads of the values are recorded."""
        return {
            place: (run_id, _Figures(figures, self._read.setdefault(run_id, set())))
            for place, (run_id, figures) in self._sweeps.figures(sweep_id, is_wanted).items()
        }

    def __getattr__(self, name: str) -> Any:
        """Forward to the sweeps of the store."""
        return getattr(self._sweeps, name)


class _Figures(Mapping[str, float]):
    """Values of a run that record each key that is read. Iteration records the keys that identify the flows."""

    def __init__(self, figures: Mapping[str, float], read: set[str]) -> None:
        self._figures = figures
        self._read = read

    def __getitem__(self, key: str) -> float:
        value = self._figures[key]
        self._read.add(key)
        return value

    def __iter__(self) -> Iterator[str]:
        self._read.update(key for key in self._figures if key.endswith(_NAMING_FLOWS))
        return iter(self._figures)

    def __len__(self) -> int:
        return len(self._figures)


def read_all(store: Store, recipe: Recipe, *, is_quick: bool) -> tuple[Results, list[object]]:
    """Read the values, the figure and the verdicts that the program shows for an experiment.

    Returns:
        The results, and a list of all shown values that is equal for equal contents.

    Raises:
        RecipeError: if the recipe cannot be carried out.
        StoreError: if the store cannot be read.
    """
    results = stored_results(recipe, store, is_quick=is_quick)
    cells: list[object] = [
        (measure, series, point, repr(results.cell(measure, series, point)))
        for measure in recipe.measures
        for series in results.series
        for point in results.points
    ]
    verdicts = [
        (verdict.check.says, verdict.kind.value, verdict.reason, repr(verdict.settlement), _tried(verdict))
        for verdict in results.verdicts()
    ]
    return results, [*cells, *verdicts, _drawn(experiment_figure(results))]


def _tried(verdict: Verdict) -> list[object]:
    told = verdict.explanation
    return [] if told is None else [(trial.outcome.told, trial.n_met) for trial in told.trials]


def _drawn(figure: object) -> str:
    """The figure as text with all its numbers: long arrays are printed in full."""
    with np.printoptions(threshold=1_000_000_000, precision=17):
        return repr(figure)


MOST_BYTES = 9_000_000
"""Maximum size of the library, bytes; the file ships with the program."""

LAB_S = 4.0
"""Typical time to simulate the reference runs of a lab on two cores, s."""

ARENA_S = 900.0
"""Typical time to simulate the arena on two cores, s."""


class _Labs(Job):
    """Performs the missing reference runs of labs."""

    def __init__(self, labs: Sequence[Lab], work: Store) -> None:
        super().__init__(len(labs))
        self._labs, self._store = labs, work

    def _work(self) -> None:
        for lab in self._labs:
            if self.is_stopped:
                return
            self._tell(doing=f"lab {lab.number}")
            try:
                if not _reference_runs(self._store, lab):
                    self._problems += make_lab(self._store, lab)
            except AppError as error:
                self._problems.append(f"lab {lab.number}: {error}")
            self._tell(finished=self._progress.finished + 1)


class LibraryBuild(Series[Job]):
    """Job that builds the library. Call `run` in a worker thread, because it blocks. Other methods are thread-safe.

    Args:
        out: the file to write.
        recipes: the experiments to include.
        labs: the labs to include.
        has_arena: whether to include the arena.
        keeps_others: whether a library that exists at `out` keeps its other experiments and labs, and its arena.
        jobs: number of parallel runs.
        cluster: address of a Ray cluster that performs the runs instead; None for this machine.

    Attributes:
        runs: number of runs in the file after writing.
        bytes: size of the file after writing.
        wall_s: duration of this build in seconds; an earlier, interrupted build does not count.
    """

    def __init__(
        self,
        out: Path,
        *,
        recipes: Sequence[Recipe],
        labs: Sequence[Lab],
        has_arena: bool = False,
        keeps_others: bool = False,
        jobs: int = 1,
        cluster: str | None = None,
    ) -> None:
        super().__init__(())
        self.out = out
        self.runs = self.bytes = 0
        self.wall_s = 0.0
        self._recipes = tuple(recipes)
        self._labs = tuple(labs)
        self._has_arena = has_arena
        self._keeps_others = keeps_others
        self._jobs, self._cluster = jobs, cluster
        self._doing = ""

    @property
    def work_file(self) -> Path:
        """Database in which the results are collected; it is removed when the build has finished."""
        return self.out.with_name(f"{self.out.stem}.building.db")

    @property
    def progress(self) -> JobProgress:
        """Progress of the build; below 100 % until the file has been written."""
        told = super().progress
        if not self.each:
            return replace(told, doing=self._doing, share=0.0)
        doing = self._doing or ("" if told.part is None else told.part.doing)
        # The build finishes only after the file has been written.
        return replace(told, doing=doing, share=told.share if self.bytes else min(told.share, 0.99), part=None, runs=0)

    def _weight(self, job: Job) -> float:
        if isinstance(job, ArenaJob):
            return ARENA_S
        return job.expected_s if isinstance(job, Reproductions) else LAB_S * len(self._labs)

    def _work(self) -> None:
        """Produce all results and write the library, unless the build is stopped.

        Raises:
            AppError: if a recipe or a lab cannot be used, or the file would be too large.
            StoreError: if a file cannot be written.
        """
        began = time.monotonic()
        with open_store(self.work_file) as work:
            options: dict[str, Any] = {"jobs": self._jobs, "cluster": self._cluster}
            experiments = Reproductions(self._recipes, work, is_quick=True, **options)
            arena = [ArenaJob(entry(), work, **options)] if self._has_arena else []
            self.each = (experiments, _Labs(self._labs, work), *arena)
            super()._work()
            self.wall_s = time.monotonic() - began
            for outcome in self.outcomes:
                outcome.check()
            if self.is_stopped:
                return
            for each, outcome in zip(experiments.each, experiments.outcomes, strict=True):
                if outcome.state != JobState.FINISHED and not outcome.problems:
                    self._problems.append(f"{each.name}: not all of it was made")
            self._doing = "compacting"
            self.runs = self._compact(work)
        for suffix in ("", "-wal", "-shm"):
            self.work_file.with_name(self.work_file.name + suffix).unlink(missing_ok=True)
        self.bytes = self.out.stat().st_size
        self.wall_s = time.monotonic() - began

    # Compacting

    def _compact(self, work: Store) -> int:
        """Copy the contents of the library from `work` to the file, and return the number of runs in the file."""
        log = ReadLog(work)
        told = {recipe.name: read_all(log.as_store, recipe, is_quick=True)[1] for recipe in self._recipes}
        wanted = Records()
        for recipe in self._recipes:
            wanted += of_experiment(work, recipe, is_quick=True)
        values = {number: frozenset(log.read_values.get(number, ())) for number in wanted.runs}
        measured: dict[int, dict[str, float]] = {}
        for recipe in self._recipes:
            for number, found in measured_values(stored_results(recipe, work, is_quick=True)).items():
                measured.setdefault(number, {}).update(found)
        for lab in self._labs:
            runs = tuple(row.id for row in _reference_runs(work, lab))
            wanted += Records(runs, sweeps_of(work, runs))
            values |= dict.fromkeys(runs, frozenset())
        changes = Changes(document=as_shipped, folder=lambda folder: Path(folder).name, values=values, is_light=True)
        changes = replace(changes, measured=measured)
        self.out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="subflow-library-") as folder:
            with open_database(Path(folder) / "whole.db") as whole:
                if self._keeps_others and is_there(self.out):
                    self._keep_others(whole)
                whole.copies.take(work.copies, wanted, changes)
                for recipe in self._recipes:
                    if read_all(whole, recipe, is_quick=True)[1] != told[recipe.name]:
                        raise LibraryError(f"{recipe.name}: compacted, it does not come to the same results")
                if self._has_arena:
                    # An interrupted build by an earlier version of the simulator may have left outcomes.
                    made = work.arena.outcomes().values()
                    whole.arena.add(each for each in made if each.version == simulator_version())
                small = Path(folder) / "small.db"
                whole.save_copy(small)
                n_runs = len(whole.runs())
            size = small.stat().st_size
            if size > MOST_BYTES:
                raise LibraryError(f"the library would have {size} bytes; allowed: {MOST_BYTES}")
            with open_database(small, read_only=True) as library:
                library.save_copy(self.out, overwrite=True)
                self._doing = "pictures"
                with closing(FigureProcess()) as process:
                    write_thumbnails(library, self._recipes, self.out, process.draw)
        return n_runs

    def _keep_others(self, whole: Store) -> None:
        """Copy the parts that are not made anew from the library at `out`, unless a recipe or lab has changed since."""
        old = open_library(self.out)
        assert old is not None
        with old:
            anew = {recipe.name for recipe in self._recipes}
            kept = Records()
            for name in recipe_names():
                if name not in anew:
                    kept += of_experiment(old, load_recipe(name), is_quick=True)
            numbers = {lab.number for lab in self._labs}
            for lab in shipped_labs():
                if lab.number not in numbers:
                    kept += of_lab(old, lab)
            values: dict[int, set[str]] = {number: set() for number in kept.runs}
            measured: dict[int, dict[str, float]] = {number: {} for number in kept.runs}
            for key in old.value_keys():
                found = old.values(key)
                for number in found.keys() & values.keys():
                    values[number].add(key)
                    if key.startswith(MEASURED):
                        measured[number][key] = float(found[number])
            indexed = {number: frozenset(keys) for number, keys in values.items()}
            changes = Changes(document=as_shipped, values=indexed, measured=measured, is_light=True)
            whole.copies.take(old.copies, kept, changes)
            if not self._has_arena:
                whole.arena.add(old.arena.outcomes().values())


def make_lab(work: Store, lab: Lab) -> list[str]:
    """Run a lab with its own solution, and keep the runs in a database, named after the lab.

    Runs of policies that the lab trained are omitted, because these policies are not kept.

    Returns:
        The problems of the lab, in which case no run is kept; empty after success.

    Raises:
        LabError: if the scenario of the lab cannot be used.
        StoreError: if the database cannot be written.
    """
    if lab.missing:
        return [f"lab {lab.number}: {', '.join(lab.missing)} is not installed"]
    with tempfile.TemporaryDirectory(prefix="subflow-lab-") as folder, open_store(":memory:") as store:
        outcome = LabRunner(lab, store, Path(folder)).run()
        if outcome.problems:
            return outcome.problems
        rows = [store.run(row.id) for row in store.runs(status="finished")]
        kept = sorted(row.id for row in rows if folder not in (row.scenario_text or ""))
        changes = Changes(
            names={row.id: f"Lab {lab.number}: {row.name}" for row in rows},
            notes=dict.fromkeys(kept, _note(lab)),
            tags=(lab_tag(lab),),
        )
        work.copies.take(store.copies, Records(tuple(kept), sweeps_of(store, kept)), changes)
    return []


def _reference_runs(work: Store, lab: Lab) -> list[RunRow]:
    """Reference runs of the current version of the lab from this version of the simulator."""
    note = _note(lab)
    return [row for row in work.runs(tag=lab_tag(lab), status="finished") if row.note == note]


def _note(lab: Lab) -> str:
    mark = hashlib.sha256(f"{lab.file_hash}/{simulator_version()}".encode()).hexdigest()[:8]
    return f"Reference run of lab {lab.number}, {lab.title} ({mark})."
