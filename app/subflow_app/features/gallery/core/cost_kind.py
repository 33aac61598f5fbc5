"""Experiments of the kind `cost`: CPU time and memory of controllers, side by side on one machine.

kind = "cost"

[cost]
over = "NewReno"                 # the series that ratios are to

The seeds are the repetitions. Each repetition goes once through all series, so that a machine that is slow for a while
is slow for all of them. Ratios therefore compare the same minute of the same machine.

Costs are CPU time and memory of whole simulations in this process. Every measurement is a run of the store, tagged
`cost`, with a description of its machine. Its figures hold the costs: `cost.cpu_s`, `cost.packets`, `cost.memory_bytes`
and `cost.decisions`.

A cost belongs to the machine that it was measured on, so that another machine or version measures anew. Costs are never
part of results that have to repeat.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.editor.core.scenario_source import with_contents, with_overrides
from subflow_app.features.gallery.core.recipe import MeasureKind, Recipe, Series
from subflow_app.features.running.core.run_recorder import run_start
from subflow_app.features.traces.core.scenario_hash import scenario_hash, simulator_version
from subflow_app.foundation.errors import RecipeError
from subflow_app.foundation.jobs.executors import ExecutorMaker, Threads
from subflow_app.foundation.jobs.job import Batch
from subflow_app.foundation.jobs.tasks import OnStart
from subflow_app.foundation.toml_edit import overrides_of
from subflow_sim.errors import SimError
from subflow_sim.parameter import Param
from subflow_sim.plain_text import either
from subflow_sim.policy import actor_bytes
from subflow_sim.scenario import Scenario, read_scenario_text
from subflow_sim.section_reader import Report, read_section
from subflow_sim.units import Dimension
from subflow_store.run_values import describe_machine
from subflow_store.values import Records

if TYPE_CHECKING:
    from subflow_store import Store


LEAST_CPU_S = 0.05
"""A run is repeated until this much CPU time has gone into it: clocks and caches are warm then."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one simulation took.

    Attributes:
        cpu_s: CPU time of the fastest of the runs of a measurement, set-up left out, s.
        simulated_s: simulated time, s.
        packets: data packets delivered.
        memory_bytes: on the heap at its end that were not there before it began; NaN where that cannot be told.
        decisions: of what learns; NaN: of a measurement that did not count them.
        network_bytes: what the numbers of the policies' networks take; NaN likewise.
    """

    cpu_s: float
    simulated_s: float
    packets: int
    memory_bytes: float
    decisions: float = math.nan
    network_bytes: float = math.nan

    @property
    def cpu_per_second(self) -> float:
        """CPU time over simulated time: the share of a processor that it would take in real time."""
        return self.cpu_s / self.simulated_s

    @property
    def cpu_per_packet_s(self) -> float:
        """CPU time over data packets delivered, s; NaN if none was."""
        return self.cpu_s / self.packets if self.packets else math.nan


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run whose cost was measured.

    Attributes:
        cost: what it took.
        summary: document of the run.
        signature: of the run.
    """

    cost: Cost
    summary: Mapping[str, Any]
    signature: str


def measure_cost(scenario: Scenario, seed: int, is_stopped: Callable[[], bool] = lambda: False) -> MeasuredRun:
    """Simulate to the end, as often as it takes for the clock to tell something, and keep the fastest.

    Other load only ever slows a run down, so the fastest says most of what the run itself takes.

    Args:
        scenario: what to simulate.
        seed: of all its runs.
        is_stopped: asked between two runs.

    Raises:
        SimError: if it cannot be simulated.
    """
    from subflow_sim import Simulation

    best_s, spent_s, memory = math.inf, 0.0, math.nan
    while True:
        gc.collect()
        before = heap_bytes()
        # Nothing is sampled: what traces take is the same for all.
        simulation = Simulation(scenario, seed=seed, sample_interval_s=max(1.0, scenario.duration_s))
        started = time.process_time()
        simulation.run_until(scenario.duration_s)
        cpu_s = time.process_time() - started
        if math.isnan(memory):
            memory = heap_bytes() - before
        best_s = min(best_s, cpu_s)
        spent_s += cpu_s
        if spent_s >= LEAST_CPU_S or is_stopped():
            learning = decisions(scenario, seed), network_bytes(scenario)
            cost = Cost(best_s, scenario.duration_s, simulation.packets, memory, *learning)
            return MeasuredRun(cost, simulation.summary(), simulation.signature())


def decisions(scenario: Scenario, seed: int) -> int:
    """How often what learns decides in a run, for each subflow: steps of agents, else monitor intervals.

    Controllers that learn online judge every interval; what has an agent counts by the agent alone.

    Raises:
        SimError: if it cannot be simulated.
    """
    from subflow_sim import Simulation

    simulation = Simulation(scenario, seed=seed, sample_interval_s=max(1.0, scenario.duration_s))
    steps: Counter[int] = Counter()
    intervals: Counter[int] = Counter()
    time_s = 0.0
    while time_s < scenario.duration_s:
        # What is not taken for long is overwritten.
        time_s = min(time_s + 1.0, scenario.duration_s)
        simulation.run_until(time_s)
        intervals.update(simulation.take_intervals().owner.tolist())
        taken = simulation.take_agent_steps()
        if taken is not None:
            steps.update(taken.subflow[taken.is_acting].tolist())
    return sum(steps[owner] or intervals[owner] for owner in steps.keys() | intervals.keys())


def network_bytes(scenario: Scenario) -> int:
    """What the numbers of the networks take that decide in a run; subflows share those of the same policy."""
    files = [flow.controller.policy for flow in scenario.flows.values()]
    contents = {file.content_hash: file.content for file in files if file is not None}
    return sum(map(actor_bytes, contents.values()))


class _HeapUse(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


def heap_bytes() -> float:
    """Bytes that this process has in use on the heap, as glibc counts them; NaN with another C library."""
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError, TypeError):
        return math.nan
    mallinfo2.restype = _HeapUse
    use = mallinfo2()
    return float(use.uordblks + use.hblkhd)


FIGURES: Mapping[str, Callable[[Cost], float]] = {
    "cpu_per_second": lambda cost: cost.cpu_per_second,
    "cpu_per_packet": lambda cost: cost.cpu_per_packet_s,
    "memory": lambda cost: cost.memory_bytes,
    "decisions_per_second": lambda cost: cost.decisions / cost.simulated_s,
    "network_memory": lambda cost: cost.network_bytes,
}
"""What is measured of a cost, by name."""


NAME = "cost"
TAG = "cost"

_OVER = "over"
_KEYS = (Param(_OVER, Dimension.TEXT, "The series that ratios are to.", required=True),)

MEASURES: Mapping[str, MeasureKind] = {
    kind.name: kind
    for kind in (
        MeasureKind(
            "cpu_per_second",
            "CPU time over simulated time: the share of a processor that the whole simulation would take if it ran in "
            "real time. Network and transport are in it, which are the same for all series of a scenario.",
            Dimension.RATIO,
        ),
        MeasureKind("cpu_per_packet", "CPU time over data packets delivered.", Dimension.TIME),
        MeasureKind(
            "memory",
            "Heap memory that a run adds until its end, network and policies included.",
            Dimension.SIZE,
        ),
        MeasureKind(
            "cpu_ratio",
            "CPU time per packet over that of the series [cost] over in the same repetition.",
            Dimension.NUMBER,
        ),
        MeasureKind(
            "cpu_second_ratio",
            "CPU time per simulated second over that of the series [cost] over in the same repetition.",
            Dimension.NUMBER,
        ),
        MeasureKind(
            "decisions_per_second",
            "Decisions of what learns per simulated second, for each subflow: steps of agents; of controllers that "
            "learn online and have no agent, monitor intervals. None of one that learns nothing.",
            Dimension.NUMBER,
        ),
        MeasureKind(
            "network_memory",
            "Bytes that the numbers of the policies' networks take, each policy once. None of one that has no network.",
            Dimension.SIZE,
        ),
        MeasureKind(
            "memory_ratio", "Memory over that of the series [cost] over in the same repetition.", Dimension.NUMBER
        ),
    )
}

# Recorded values of a run, by which measurements are found again.
_EXPERIMENT, _SESSION, _SERIES, _KEY = (f"cost.{name}" for name in ("experiment", "session", "series", "key"))
_REPETITION, _MACHINE, _SIMULATOR = (f"cost.{name}" for name in ("repetition", "machine", "simulator"))
_CPU_S, _PACKETS, _MEMORY, _SIMULATED_S, _DECISIONS, _NETWORK = (
    f"cost.{name}" for name in ("cpu_s", "packets", "memory_bytes", "simulated_s", "decisions", "network_bytes")
)


@dataclass(frozen=True, slots=True)
class _Case:
    """A series as it is measured."""

    name: str
    scenario: Scenario
    text: str
    key: str


@dataclass(slots=True)
class _Session:
    """Measurements that were made in one go."""

    begun: str
    machine: str
    simulator: str
    costs: dict[tuple[str, int], Cost] = field(default_factory=dict)
    runs: list[int] = field(default_factory=list)


class CostKind:
    """Implements `Kind`."""

    name = NAME
    measures = MEASURES
    tables: Sequence[str] = (NAME,)
    series_keys: Sequence[str] = ()
    quick_keys: Sequence[str] = ()
    needs_scenario = True

    def read(self, report: Report, tree: Mapping[str, Any]) -> Mapping[str, Any]:
        """The table [cost]."""
        if "axis" in tree:
            report.add(("axis",), "an experiment of the kind cost has no axis", "left out")
        if NAME not in tree:
            report.add((NAME,), "missing", '[cost] with over = "SERIES"')
            return {}
        table = report.expect_table((NAME,), tree[NAME], "[cost]") or {}
        values = read_section(report, (NAME,), table, _KEYS)
        series = tree.get("series", {})
        over = values.get(_OVER)
        if over is not None and isinstance(series, Mapping) and over not in series:
            report.add((NAME, _OVER), f'unknown series "{over}"', either(list(series)))
        return {_OVER: over or ""}

    def job(
        self, recipe: Recipe, store: Store, *, is_quick: bool, seeds: Sequence[int], executor: ExecutorMaker
    ) -> CostJob:
        """What measures: in this process and one run at a time, or they would disturb each other."""
        return CostJob(recipe, store, is_quick=is_quick, seeds=seeds)

    def stored(self, recipe: Recipe, store: Store, *, is_quick: bool, seeds: Sequence[int]) -> CostValues | None:
        """The newest measurements of the store, of whatever machine and version; those that are complete come first."""
        kept = _kept(store)
        if not kept:
            return None  # before the cases are made, which takes a second for a dozen
        cases = _cases(recipe, is_quick=is_quick)
        sessions = _sessions(store, recipe, cases, kept)
        complete = [each for each in sessions if _is_complete(each, cases, seeds)]
        if not sessions:
            return None
        return CostValues(recipe, (complete or sessions)[-1], tuple(seeds))


class CostJob(Batch[tuple[_Case, int]]):
    """Measures in this process: what the clock tells of others would be of no use here."""

    def __init__(self, recipe: Recipe, store: Store, *, is_quick: bool, seeds: Sequence[int]) -> None:
        super().__init__(Threads, len(recipe.series_of(is_quick=is_quick)) * len(seeds), recipe.name)
        self._recipe = recipe
        self._store = store
        self._is_quick = is_quick
        self._seeds = tuple(seeds)

    def _work(self) -> None:
        """Measure, unless this machine has done so with this version.

        Raises:
            RecipeError: if a scenario cannot be used.
            StoreError: if a measurement cannot be stored.
        """
        cases = _cases(self._recipe, is_quick=self._is_quick)
        here = (machine_text(), simulator_version())
        for known in _sessions(self._store, self._recipe, cases, _kept(self._store)):
            if (known.machine, known.simulator) == here and _is_complete(known, cases, self._seeds):
                self._tell(finished=self._progress.runs, reused=self._progress.runs)
                return
        self._session = _Session(datetime.now(UTC).isoformat(), *here)
        self._make((case, seed) for seed in self._seeds for case in cases)

    def _task(self, item: tuple[_Case, int]) -> Callable[[OnStart], MeasuredRun | SimError]:
        case, seed = item
        return lambda _on_start: _measured(case, seed, self._stop.is_set)

    def _keep(self, item: tuple[_Case, int], outcome: MeasuredRun | SimError) -> None:
        case, seed = item
        if isinstance(outcome, SimError):
            raise RecipeError(f"{self._recipe.name}, {case.name}, repetition {seed}: {outcome}") from outcome
        cost, session = outcome.cost, self._session
        document = {
            "experiment": self._recipe.name,
            "session": session.begun,
            "series": case.name,
            "key": case.key,
            "repetition": seed,
            "machine": session.machine,
            "simulator": session.simulator,
            "cpu_s": cost.cpu_s,
            "simulated_s": cost.simulated_s,
            "packets": cost.packets,
            "memory_bytes": None if math.isnan(cost.memory_bytes) else cost.memory_bytes,
            "decisions": cost.decisions,
            "network_bytes": cost.network_bytes,
        }
        self._store_run(case, seed, outcome, document)
        self._tell(finished=self._progress.finished + 1, doing=case.name)

    def _store_run(self, case: _Case, seed: int, measured: MeasuredRun, document: Mapping[str, Any]) -> None:

        sample_interval_s = max(1.0, case.scenario.duration_s)
        name = f"{self._recipe.name}: {case.name}, repetition {seed}"
        start = run_start(case.scenario, case.text, name=name, seed=seed, sample_interval_s=sample_interval_s)
        with self._store.start_run(start, ()) as writer:
            writer.append(0, np.empty((1, 0), np.float32))
            summary = {**measured.summary, NAME: dict(document), "run_id": writer.run_id}
            writer.finish("finished", summary, measured.signature, wall_s=measured.cost.cpu_s)
            run_id = writer.run_id
        self._store.add_tag(run_id, TAG)


def _measured(case: _Case, seed: int, is_stopped: Callable[[], bool]) -> MeasuredRun | SimError:
    try:
        return measure_cost(case.scenario, seed, is_stopped)
    except SimError as error:
        return error


class CostValues:
    """Implements `Values` from measurements of one session."""

    def __init__(self, recipe: Recipe, session: _Session, seeds: tuple[int, ...]) -> None:
        self._recipe = recipe
        self._session = session
        self._seeds = seeds
        self.note = f"Measured on {session.machine}, {session.begun[:10]}; another machine gives other numbers."

    def records(self) -> Records:
        """Whence all of this is read."""
        return Records(tuple(sorted(self._session.runs)))

    def values(self, measure: str, series: str, point: str) -> Sequence[float]:
        """A figure of each repetition; NaN where there is none."""
        figure = self._recipe.measures[measure].kind.name
        over = str(self._recipe.extra.get(_OVER, ""))
        costs = self._session.costs
        return [
            math.nan if mine is None or other is None else _figure(figure, mine, other)
            for seed in self._seeds
            for mine, other in ((costs.get((series, seed)), costs.get((over, seed))),)
        ]

    def trace(self, measure: str, series: str, point: str, seed: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """Costs have no course."""
        return None

    def problem(self, series: str, point: str) -> str:
        """Which repetitions are missing."""
        missing = [seed for seed in self._seeds if (series, seed) not in self._session.costs]
        return f"not measured: repetition {', '.join(map(str, missing))}" if missing else ""


_RATIOS = {"cpu_ratio": "cpu_per_packet", "cpu_second_ratio": "cpu_per_second", "memory_ratio": "memory"}


def _figure(name: str, mine: Cost, other: Cost) -> float:
    figure = FIGURES[_RATIOS.get(name, name)]
    return figure(mine) / figure(other) if name in _RATIOS else figure(mine)


def machine_text() -> str:
    """This machine and version in a line, as measurements are labelled."""
    machine = describe_machine()
    version = simulator_version().partition("+")[0]
    return f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, Subflow {version}"


def cost_scenarios(recipe: Recipe, *, is_quick: bool) -> list[tuple[str, Scenario]]:
    """What is simulated for each series, with its name.

    Raises:
        RecipeError: if a scenario cannot be used.
    """
    return [(case.name, case.scenario) for case in _cases(recipe, is_quick=is_quick)]


def _cases(recipe: Recipe, *, is_quick: bool) -> list[_Case]:
    """What is measured.

    Raises:
        RecipeError: if a scenario cannot be used.
    """
    texts: dict[Path, str] = {}
    return [_case(recipe, series, texts, is_quick=is_quick) for series in recipe.series_of(is_quick=is_quick)]


def _case(recipe: Recipe, series: Series, texts: dict[Path, str], *, is_quick: bool) -> _Case:
    """What is measured of a series; ``texts`` keeps scenarios with the values that all series have."""
    path = series.scenario
    if path is None:
        raise RecipeError(f"{recipe.name}: {series.name} has no scenario")
    common = {**recipe.values, **(recipe.quick.values if is_quick else {})}

    def overridden(text: str, values: Mapping[str, Any]) -> str:
        return with_overrides(text, overrides_of(values))

    try:
        if path not in texts:
            texts[path] = overridden(read_scenario_text(path), common)
        text = overridden(texts[path], series.values)
        scenario = read_scenario(Use.REPRODUCE, text, file=str(path), folder=Path(path).parent)
    except SimError as error:
        raise RecipeError(f"{recipe.name}, {series.name}: {error}") from error
    key = hashlib.sha256(f"{series.name}/{scenario_hash(scenario)}".encode()).hexdigest()[:16]
    return _Case(series.name, scenario, with_contents(text, scenario), key)


def _kept(store: Store) -> set[int]:
    """Numbers of all measurements that the store has."""
    return {row.id for row in store.runs(status="finished", tag=TAG)}


def _sessions(store: Store, recipe: Recipe, cases: Sequence[_Case], kept: Collection[int]) -> list[_Session]:
    """Those of the measurements ``kept`` that are of these cases; of one go together, in the order of time."""
    keys = {case.key: case.name for case in cases}
    columns = {
        key: store.values(key)
        for key in (
            *(_SESSION, _KEY, _REPETITION, _MACHINE, _SIMULATOR, _CPU_S, _PACKETS, _MEMORY, _SIMULATED_S),
            *(_DECISIONS, _NETWORK),
        )
    }
    sessions: dict[str, _Session] = {}
    for run_id, name in store.values(_EXPERIMENT).items():
        series = keys.get(str(columns[_KEY].get(run_id)))
        if name != recipe.name or series is None or run_id not in kept:
            continue
        begun = str(columns[_SESSION][run_id])
        machine, simulator = (str(columns[part].get(run_id, "")) for part in (_MACHINE, _SIMULATOR))
        session = sessions.setdefault(begun, _Session(begun, machine, simulator))
        cost = Cost(
            float(columns[_CPU_S][run_id]),
            float(columns[_SIMULATED_S][run_id]),
            int(columns[_PACKETS][run_id]),
            *(float(columns[part].get(run_id, math.nan)) for part in (_MEMORY, _DECISIONS, _NETWORK)),
        )
        session.costs[series, int(columns[_REPETITION][run_id])] = cost
        session.runs.append(run_id)
    return [sessions[begun] for begun in sorted(sessions)]


def _is_complete(session: _Session, cases: Sequence[_Case], seeds: Sequence[int]) -> bool:
    return all((case.name, seed) in session.costs for case in cases for seed in seeds)
