"""Experiments of the kind `cost`: CPU time and memory of controllers, compared on one machine.

kind = "cost"

[cost]
over = "NewReno"                 # baseline series of the ratios

The seeds number the repetitions. Each repetition measures every series once, so that a slow period of the machine
affects all series alike. Ratios compare measurements of the same repetition.

Costs are the CPU time and the memory of whole simulations in this process. The store keeps each measurement as a run
with the tag `cost` and a description of the machine. The recorded values of the run include the costs: `cost.cpu_s`,
`cost.packets`, `cost.memory_bytes` and `cost.decisions`.

Costs depend on the machine and on the version of Subflow. If either differs from that of a stored measurement, the
measurement is repeated.
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
"""Minimum total CPU time of the repetitions of a run, s. It lets the clock frequency and the caches settle."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of one simulation.

    Attributes:
        cpu_s: CPU time of the fastest run of a measurement, without set-up, s.
        simulated_s: simulated time, s.
        packets: data packets delivered.
        memory_bytes: growth of the heap until the end of the run; NaN if the C library does not report it.
        decisions: number of decisions of learning controllers; NaN if the measurement did not count them.
        network_bytes: size of all parameters of policy networks; NaN if the measurement did not count them.
    """

    cpu_s: float
    simulated_s: float
    packets: int
    memory_bytes: float
    decisions: float = math.nan
    network_bytes: float = math.nan

    @property
    def cpu_per_second(self) -> float:
        """CPU time over simulated time: the fraction of a processor that a simulation in real time would need."""
        return self.cpu_s / self.simulated_s

    @property
    def cpu_per_packet_s(self) -> float:
        """CPU time over data packets delivered, s; NaN without delivered packets."""
        return self.cpu_s / self.packets if self.packets else math.nan


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run whose cost was measured.

    Attributes:
        cost: cost of the run.
        summary: summary document of the run.
        signature: signature of the run.
    """

    cost: Cost
    summary: Mapping[str, Any]
    signature: str


def measure_cost(scenario: Scenario, seed: int, is_stopped: Callable[[], bool] = lambda: False) -> MeasuredRun:
    """Simulate repeatedly until the CPU time reaches `LEAST_CPU_S`, and keep the fastest run.

    Other load can only slow a run down, so the fastest run estimates the cost best.

    Args:
        scenario: the scenario.
        seed: seed of all repetitions.
        is_stopped: called between two repetitions; True ends the measurement.

    Raises:
        SimError: if the scenario cannot be simulated.
    """
    from subflow_sim import Simulation

    best_s, spent_s, memory = math.inf, 0.0, math.nan
    while True:
        gc.collect()
        before = heap_bytes()
        # Take no samples during the run: recording would add the same cost to all series and blur their differences.
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
    """Number of decisions that learning controllers take in a run, summed over subflows.

    For a subflow with an agent, the steps of the agent are counted. For other subflows, the monitor intervals are
    counted, because controllers that learn online evaluate every interval.

    Raises:
        SimError: if the scenario cannot be simulated.
    """
    from subflow_sim import Simulation

    simulation = Simulation(scenario, seed=seed, sample_interval_s=max(1.0, scenario.duration_s))
    steps: Counter[int] = Counter()
    intervals: Counter[int] = Counter()
    time_s = 0.0
    while time_s < scenario.duration_s:
        # Fetch intervals and steps every simulated second, before the core overwrites them.
        time_s = min(time_s + 1.0, scenario.duration_s)
        simulation.run_until(time_s)
        intervals.update(simulation.take_intervals().owner.tolist())
        taken = simulation.take_agent_steps()
        if taken is not None:
            steps.update(taken.subflow[taken.is_acting].tolist())
    return sum(steps[owner] or intervals[owner] for owner in steps.keys() | intervals.keys())


def network_bytes(scenario: Scenario) -> int:
    """Size of the parameters of all policy networks of a run, bytes. A policy shared by several flows counts once."""
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
    """Heap memory in use by this process, bytes, as reported by glibc; NaN for any other C library."""
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
"""The function that computes each measure from a cost, by the name of the measure."""


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

# Keys under which the store records each measurement: first its identity, then its results.
_EXPERIMENT, _SESSION, _SERIES, _KEY = (f"cost.{name}" for name in ("experiment", "session", "series", "key"))
_REPETITION, _MACHINE, _SIMULATOR = (f"cost.{name}" for name in ("repetition", "machine", "simulator"))
_CPU_S, _PACKETS, _MEMORY, _SIMULATED_S, _DECISIONS, _NETWORK = (
    f"cost.{name}" for name in ("cpu_s", "packets", "memory_bytes", "simulated_s", "decisions", "network_bytes")
)


@dataclass(frozen=True, slots=True)
class _Case:
    """A series prepared for measurement."""

    name: str
    scenario: Scenario
    text: str
    key: str


@dataclass(slots=True)
class _Session:
    """Measurements taken by one execution of a job."""

    begun: str
    machine: str
    simulator: str
    costs: dict[tuple[str, int], Cost] = field(default_factory=dict)
    runs: list[int] = field(default_factory=list)


class CostKind:
    """Implements `Kind` for cost measurements."""

    name = NAME
    measures = MEASURES
    tables: Sequence[str] = (NAME,)
    series_keys: Sequence[str] = ()
    quick_keys: Sequence[str] = ()
    needs_scenario = True

    def read(self, report: Report, tree: Mapping[str, Any]) -> Mapping[str, Any]:
        """Check the table [cost], and add any problems to the report."""
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
        """A job that measures in this process, one run at a time, because parallel runs would disturb each other."""
        return CostJob(recipe, store, is_quick=is_quick, seeds=seeds)

    def stored(self, recipe: Recipe, store: Store, *, is_quick: bool, seeds: Sequence[int]) -> CostValues | None:
        """Values of the latest complete session in the store, or else of the latest incomplete session.

        Measurements from any machine are considered. None if the store contains no measurements.
        """
        kept = _kept(store)
        if not kept:
            return None  # skips the preparation of the cases, which takes about a second
        cases = _cases(recipe, is_quick=is_quick)
        sessions = _sessions(store, recipe, cases, kept)
        complete = [each for each in sessions if _is_complete(each, cases, seeds)]
        if not sessions:
            return None
        return CostValues(recipe, (complete or sessions)[-1], tuple(seeds))


class CostJob(Batch[tuple[_Case, int]]):
    """Measures in this process, because its CPU clock does not count the time of other processes."""

    def __init__(self, recipe: Recipe, store: Store, *, is_quick: bool, seeds: Sequence[int]) -> None:
        super().__init__(Threads, len(recipe.series_of(is_quick=is_quick)) * len(seeds), recipe.name)
        self._recipe = recipe
        self._store = store
        self._is_quick = is_quick
        self._seeds = tuple(seeds)

    def _work(self) -> None:
        """Measure all cases, unless the store has complete measurements of this machine and version.

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
            "experiment": self._recipe.label,
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
        name = f"{self._recipe.label}: {case.name}, repetition {seed}"
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
        """The runs from which the values were read."""
        return Records(tuple(sorted(self._session.runs)))

    def values(self, measure: str, series: str, point: str) -> Sequence[float]:
        """The value of the measure for each repetition; NaN if a measurement is missing."""
        figure = self._recipe.measures[measure].kind.name
        over = str(self._recipe.extra.get(_OVER, ""))
        costs = self._session.costs
        return [
            math.nan if mine is None or other is None else _figure(figure, mine, other)
            for seed in self._seeds
            for mine, other in ((costs.get((series, seed)), costs.get((over, seed))),)
        ]

    def trace(self, measure: str, series: str, point: str, seed: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """Always None, because costs have no time series."""
        return None

    def problem(self, series: str, point: str) -> str:
        """Message with the missing repetitions; empty if all exist."""
        missing = [seed for seed in self._seeds if (series, seed) not in self._session.costs]
        return f"not measured: repetition {', '.join(map(str, missing))}" if missing else ""


_RATIOS = {"cpu_ratio": "cpu_per_packet", "cpu_second_ratio": "cpu_per_second", "memory_ratio": "memory"}


def _figure(name: str, mine: Cost, other: Cost) -> float:
    figure = FIGURES[_RATIOS.get(name, name)]
    return figure(mine) / figure(other) if name in _RATIOS else figure(mine)


def machine_text() -> str:
    """Machine and version on one line, as a label for measurements."""
    machine = describe_machine()
    version = simulator_version().partition("+")[0]
    return f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, Subflow {version}"


def cost_scenarios(recipe: Recipe, *, is_quick: bool) -> list[tuple[str, Scenario]]:
    """The scenario of each series, with the name of the series.

    Raises:
        RecipeError: if a scenario cannot be used.
    """
    return [(case.name, case.scenario) for case in _cases(recipe, is_quick=is_quick)]


def _cases(recipe: Recipe, *, is_quick: bool) -> list[_Case]:
    """The cases of a recipe, one per series.

    Raises:
        RecipeError: if a scenario cannot be used.
    """
    texts: dict[Path, str] = {}
    return [_case(recipe, series, texts, is_quick=is_quick) for series in recipe.series_of(is_quick=is_quick)]


def _case(recipe: Recipe, series: Series, texts: dict[Path, str], *, is_quick: bool) -> _Case:
    """The case of a series. ``texts`` caches, by path, scenario texts with the values that all series share."""
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
    """Run numbers of all measurements in the store."""
    return {row.id for row in store.runs(status="finished", tag=TAG)}


def _sessions(store: Store, recipe: Recipe, cases: Sequence[_Case], kept: Collection[int]) -> list[_Session]:
    """Measurements of these cases, grouped by session from the oldest to the latest; only runs in ``kept`` count."""
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
        if name != recipe.label or series is None or run_id not in kept:
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
