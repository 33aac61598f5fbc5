"""Comparisons that simulate their runs: several controllers of a flow in a scenario, each with the same seeds.

A comparison is a sweep over controllers. Runs that are stored already are reused, a cancelled comparison keeps what has
ended, and the rest can be simulated later. In a scenario without anything random, all seeds give the same run, so one
seed is simulated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.features.editor.core.algorithm_choices import value_text
from subflow_app.features.editor.core.scenario_source import with_overrides
from subflow_app.features.sweeps.core.plan_file import read_seeds
from subflow_app.features.sweeps.core.sweep_draft import ALL, SweepDraft, check_draft, estimate_draft, plan_of
from subflow_app.features.sweeps.core.sweep_estimate import SweepEstimate, SweepLimits
from subflow_app.features.sweeps.core.sweep_job import SweepJob
from subflow_app.features.sweeps.core.sweep_plan import PointReader, SweepPlan
from subflow_app.features.traces.core.scenario_hash import run_key, scenario_hash
from subflow_app.foundation.errors import AppError
from subflow_app.foundation.jobs.executors import Threads
from subflow_app.foundation.toml_edit import TomlValue, render
from subflow_app.vocabulary.language import tr, trn
from subflow_app.vocabulary.number_text import duration_text
from subflow_sim.errors import ParamError, SimError
from subflow_sim.limits import bytes_text
from subflow_sim.luck import random_parts
from subflow_sim.units import Dimension, format_quantity

if TYPE_CHECKING:
    from subflow_sim.scenario import Scenario
    from subflow_store import Store

STARTS_APART_S = 0.1
"""Suggested range of the random start times, s: long enough for another phase, short against a run."""

MOST_RUNS = 500
"""Maximum number of runs of a comparison; a page with more dots is unreadable, and sweeps have other views."""

_MOST_NAMED = 4  # maximum number of controllers in a title


@dataclass(frozen=True, slots=True)
class ComparisonDraft:
    """The controllers of a comparison, with seeds and other changes.

    Attributes:
        flow: flow whose controller differs.
        controllers: its controllers in the notation of scenario files; the first is the reference.
        seeds: seeds as typed: "1..5".
        varied: keys of the scenario that vary too, each with its values as typed.
        starts_apart_s: upper bound of a random delay of each flow's start, s; 0: the scenario's own.
    """

    flow: str
    controllers: tuple[TomlValue, ...]
    seeds: str = "1..5"
    varied: tuple[tuple[str, str], ...] = ()
    starts_apart_s: float = 0.0

    @property
    def key(self) -> str:
        """Dotted key of the controller."""
        return f"flows.{self.flow}.controller"

    @property
    def title(self) -> str:
        """Title of the comparison: "lia against olia by loss"."""
        names = [value_text(value) for value in self.controllers]
        joined = ", ".join(names[:_MOST_NAMED]) + (" …" if len(names) > _MOST_NAMED else "")
        if len(names) == 2:
            joined = tr("{first} against {second}", first=names[0], second=names[1])
        keys = ", ".join(key.rpartition(".")[2] for key, _values in self.varied)
        return tr("{title} by {keys}", title=joined, keys=keys) if keys else joined


@dataclass(frozen=True, slots=True)
class ComparisonEstimate:
    """Runs, time and space of a comparison.

    Attributes:
        plan: the runs, without seeds that would only repeat a run; None if a problem prevents them.
        cost: estimated runs, time and space; None if the plan cannot be read.
        problems: problems by field, as in `estimate_draft`.
        seeds: number of seeds in the draft.
        is_one_run: whether all seeds give the same run, as nothing is random with any of the controllers.
        steady: if only some controllers draw random numbers, the names of the others.
        stored: number of runs that the database has already.
    """

    plan: SweepPlan | None
    cost: SweepEstimate | None = None
    problems: Mapping[str, str] = field(default_factory=dict)
    seeds: int = 1
    is_one_run: bool = False
    steady: tuple[str, ...] = ()
    stored: int = 0

    @property
    def runs(self) -> int:
        """Number of runs."""
        return 0 if self.plan is None else self.plan.n_runs

    @property
    def luck_text(self) -> str:
        """Sentence on seeds that only repeat a run; empty if each seed may give another run."""
        if self.is_one_run and self.seeds > 1:
            return tr("Nothing in this scenario is random: {count} seeds are one run.", count=self.seeds)
        if self.steady and self.seeds > 1:
            return tr(
                "Nothing is random with {controllers}: its {count} seeds are one run.",
                controllers=", ".join(self.steady),
                count=self.seeds,
            )
        return ""

    @property
    def left(self) -> int:
        """Number of runs to simulate."""
        return self.runs - self.stored

    @property
    def disk_bytes(self) -> float:
        """Space for these runs in the database, bytes; 0 without an estimate."""
        return 0.0 if self.cost is None or not self.runs else self.cost.disk_bytes * self.left / self.runs

    def wall_s(self, jobs: int) -> float:
        """Time for these runs with `jobs` at once, s; 0 without an estimate."""
        if self.cost is None or not self.left:
            return 0.0
        return self.cost.threads_s(min(jobs, self.left)) * self.left / self.runs

    def cost_text(self, jobs: int) -> str:
        """Sentence on time and space: "1 is stored already, 1 to simulate: about 1 s on 2 cores, 0.3 MB"."""
        if self.cost is None or self.plan is None:
            return ""
        stored = trn("{count} is stored already", "{count} are stored already", self.stored)
        if self.left == 0:
            return stored
        shown = tr(
            "{count} to simulate: about {time} on {cores}, {disk}",
            count=self.left,
            time=duration_text(self.wall_s(jobs)),
            cores=trn("{count} core", "{count} cores", min(jobs, self.left)),
            disk=bytes_text(self.disk_bytes),
        )
        return tr("{stored}, {rest}", stored=stored, rest=shown) if self.stored else shown


def suited_flows(scenario: Scenario) -> list[str]:
    """Flows with a controller: those with several paths first, as they are usually the subject."""
    flows = [flow for flow in scenario.flows.values() if not flow.sends_datagrams]
    return [flow.name for flow in sorted(flows, key=lambda flow: flow.kind != "mptcp")]


def estimate_comparison(
    draft: ComparisonDraft,
    scenario_text: str,
    folder: Path | None,
    *,
    sample_interval_s: float,
    store: Store | None = None,
    limits: SweepLimits | None = None,
) -> ComparisonEstimate:
    """Check a comparison and estimate it; simulates the beginnings of some of its runs.

    Args:
        draft: the comparison.
        scenario_text: TOML of the scenario, with the contents of its files.
        folder: folder of the policies that the scenario names by file; None if it has no file.
        sample_interval_s: simulated time between two samples of the traces, s.
        store: database that may have some of the runs; None: the runs are kept in memory.
        limits: limits of sweeps; None: the limits from the environment.
    """
    if not draft.controllers:
        return ComparisonEstimate(None, problems={ALL: tr("Choose controllers to compare.")})
    sweep = SweepDraft(
        draft.title,
        ((draft.key, ", ".join(map(render, draft.controllers))), *draft.varied),
        draft.seeds,
        sample_interval_s=sample_interval_s,
    )
    if problems := check_draft(sweep).problems:
        return ComparisonEstimate(None, problems=problems)
    text = scenario_text
    if draft.starts_apart_s > 0:
        text = with_overrides(text, [f"start_jitter={format_quantity(draft.starts_apart_s, Dimension.TIME)}"])
    try:
        seeds = read_seeds(draft.seeds)
        random_at = _random_controllers(plan_of(sweep, text, folder), len(draft.controllers))
    except (AppError, SimError, ParamError):
        # The estimate below reads the draft again, and assigns its problems to fields.
        seeds, random_at = range(1), [True]
    is_one_run = not any(random_at)
    if is_one_run and len(seeds) > 1:
        sweep = SweepDraft(sweep.name, sweep.axes, str(seeds[0]), sample_interval_s=sample_interval_s)
    found = estimate_draft(sweep, text, folder, None if store is None else store.path, limits)
    plan, refused = found.plan, dict(found.problems)
    if plan is not None and plan.n_runs > MOST_RUNS:
        refused[ALL] = tr(
            "{count} runs are too many for a comparison; allowed: up to {most}. A sweep can have more.",
            count=plan.n_runs,
            most=MOST_RUNS,
        )
        plan = None
    if plan is not None and plan.n_runs < 2:
        refused[ALL] = tr("A comparison takes two runs or more: choose another controller.")
        plan = None
    names = [value_text(value) for value in draft.controllers]
    steady = () if is_one_run else tuple(name for name, at in zip(names, random_at, strict=False) if not at)
    stored = 0 if plan is None or store is None else _stored(plan, store)
    return ComparisonEstimate(plan, found.cost, refused, len(seeds), is_one_run, steady, stored)


def comparison_job(
    plan: SweepPlan, store: Store, jobs: int, *, limits: SweepLimits | None = None, sweep_id: int | None = None
) -> SweepJob:
    """Create the job that carries out a comparison, in threads, because processes start slower than most of its runs.

    Args:
        plan: plan of an estimate.
        store: store for the runs.
        jobs: number of simultaneous runs.
        limits: limits of sweeps; None: the limits from the environment.
        sweep_id: number of a cancelled comparison to complete; None: a new one.
    """
    return SweepJob(plan, store, jobs=jobs, executor=partial(Threads, jobs), limits=limits, sweep_id=sweep_id)


def points_of(plan: SweepPlan, controller: int) -> range:
    """Numbers of the points with a controller of the draft, by its place in the draft."""
    each = plan.n_points // len(plan.axes[0])
    return range(controller * each, (controller + 1) * each)


def compared_ids(store: Store, sweep_id: int) -> list[int]:
    """Numbers of the finished runs of a comparison, in the order of controllers and seeds.

    Raises:
        StoreError: if the database cannot be read.
    """
    return list(dict.fromkeys(row.run_id for row in store.sweeps.runs(sweep_id) if row.run_id is not None))


def _random_controllers(plan: SweepPlan, controllers: int) -> list[bool]:
    """For each controller, True if anything is random at one of its points."""
    reader = PointReader(plan)
    return [
        any(random_parts(reader.scenario(plan.point(number))) for number in points_of(plan, place))
        for place in range(controllers)
    ]


def _stored(plan: SweepPlan, store: Store) -> int:
    """Number of runs of a plan that the store has."""
    reader = PointReader(plan)
    keys: Sequence[str] = [
        run_key(each, seed, sample_interval_s=plan.sample_interval_s, records_decisions=plan.records_decisions)
        for each in (scenario_hash(reader.scenario(point)) for point in plan.points())
        for seed in plan.seeds
    ]
    known = store.sweeps.known(keys, needs_traces=plan.keeps_traces)
    return sum(key in known for key in keys)
