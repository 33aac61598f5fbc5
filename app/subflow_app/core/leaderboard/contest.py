"""Contests of the leaderboard, as TOML files that people read and write (`assets/leaderboard/*.toml`).

format = 1
paper = "drl-cc"                        # whose experiment it is: drl-cc, mplibra, ddpg-mpcc, dql-mptcp or rl-explore
figure = "8"                            # of the paper
title = "Beside five TCPs with 2 % loss"
scenario = "drlcc-sc7"                  # a shipped one, or a file beside the contest
competes = ["mptcp"]                    # the flows whose controller takes its turn: all mptcp, or all tcp
beside = ["tcp"]                        # NewReno flows that it should leave their fair share; left out: there are none
documents = false                       # true: flows have a size, and goodput is size over time
cost = "20s"                            # CPU time is measured over so much simulated time; left out: it is not
seeds = "1..5"

[set]                                   # changes of the scenario, as with --set
warmup = "20s"

[convergence]                           # after a step of the scenario; left out: there is none. See `measures`
since = "60s"                           # when the step is
until = "100s"                          # left out: the end
window = "5s"                           # of the moving average
tolerance = "15%"                       # how near to its later mean a rate has arrived
steady = "20s"                          # time before `until` that is the later mean
subflow = 1                             # only this one of each flow; left out: all

[quick]                                 # what a quick run takes instead
seeds = "1..2"
[quick.set]
duration = "60s"

A contest says nothing of controllers: who takes part is for `competitors` to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subflow_app.core.catalog import app_catalog
from subflow_app.core.errors import InputError, LeaderboardError
from subflow_app.core.experiments.axis import read_set
from subflow_app.core.experiments.recipe import PAPERS
from subflow_app.core.resources import find_scenario, is_to_read, resource_path, way_on
from subflow_app.core.scenarios.toml_edit import TomlValue, render
from subflow_app.core.sweeps.plan_file import noted_seeds
from subflow_app.core.toml_files import checked, prose, read_text, scenario_beside
from subflow_sim.errors import ScenarioError
from subflow_sim.parameter import Param
from subflow_sim.report import Report
from subflow_sim.scenario import Scenario, load_scenario
from subflow_sim.section_reader import read_section
from subflow_sim.toml_map import Path as Place
from subflow_sim.units import Dimension

CONTEST_SUFFIX = ".toml"

_CONTEST = (
    Param("format", Dimension.COUNT, "Version of the file format.", required=True, minimum=1, maximum=1),
    Param("paper", Dimension.CHOICE, "Whose experiment it is.", required=True, choices=tuple(PAPERS)),
    Param("figure", Dimension.TEXT, "Of the paper.", required=True),
    Param("title", Dimension.TEXT, "What it is about, in a line.", required=True),
    Param("scenario", Dimension.TEXT, "A shipped scenario, or a file beside the contest.", required=True),
    Param("documents", Dimension.FLAG, "Whether goodput is size over time.", default=False),
    Param("cost", Dimension.TIME, "Simulated time for CPU time.", minimum=0, exclusive_minimum=True),
)
_CONVERGENCE = (
    Param("since", Dimension.TIME, "When the step is.", required=True, minimum=0),
    Param("until", Dimension.TIME, "End of the wait; left out: that of the run.", minimum=0, exclusive_minimum=True),
    Param("window", Dimension.TIME, "Of the moving average.", default=5.0, minimum=0, exclusive_minimum=True),
    Param("tolerance", Dimension.RATIO, "How near is there.", default=0.15, minimum=0, exclusive_minimum=True),
    Param("steady", Dimension.TIME, "The later mean.", default=20.0, minimum=0, exclusive_minimum=True),
    Param("subflow", Dimension.COUNT, "Only this one of each flow.", minimum=1, maximum=64),
)
_DEFAULT_SEEDS, _QUICK_SEEDS = "1..5", "1..2"


@dataclass(frozen=True, slots=True)
class Contest:
    """A contest, read and checked.

    Attributes:
        id: name of the file without its ending: "mplibra-10a".
        path: of the file.
        paper: id, of `PAPERS`.
        figure: of the paper.
        title: in a line.
        prose: the comment that the file begins with; may be empty.
        scenario: path of the scenario file.
        competes: flows whose controller takes its turn.
        beside: NewReno flows beside them.
        is_multipath: whether the flows that compete have several paths.
        has_documents: whether goodput is size over time.
        cost_s: simulated time over which CPU time is measured; None: it is not.
        seeds: of the runs.
        values: of dotted scenario keys.
        convergence: options of the measure `convergence_time`; None: there is no step.
        quick_seeds: of a quick run.
        quick_values: of dotted scenario keys, in a quick run.
    """

    id: str
    path: Path
    paper: str
    figure: str
    title: str
    prose: str
    scenario: Path
    competes: tuple[str, ...]
    beside: tuple[str, ...]
    is_multipath: bool
    has_documents: bool
    cost_s: float | None
    seeds: Sequence[int]
    values: Mapping[str, TomlValue]
    convergence: Mapping[str, Any] | None
    quick_seeds: Sequence[int]
    quick_values: Mapping[str, TomlValue] = field(default_factory=dict)

    def changes(self, *, is_quick: bool) -> Mapping[str, TomlValue]:
        """The changes of the scenario for all competitors."""
        return {**self.values, **(self.quick_values if is_quick else {})}

    def seeds_of(self, *, is_quick: bool) -> Sequence[int]:
        """The seeds of a full or a quick run."""
        return self.quick_seeds if is_quick else self.seeds

    def cost_changes(self, *, is_quick: bool) -> Mapping[str, TomlValue]:
        """The same for the measurement of CPU time: shorter, and without a warm-up, which is for figures."""
        assert self.cost_s is not None
        return {**self.changes(is_quick=is_quick), **_cost_values(self.cost_s)}

    def simulated(self, *, is_quick: bool) -> Scenario:
        """The scenario, with the controllers that its file names.

        Raises:
            InputError: if the file has gone.
            ScenarioError: if it is not usable with these changes.
        """
        return _scenario_of(self.scenario, self.changes(is_quick=is_quick))


def contests_folder() -> Path:
    """Where the shipped contests are.

    Raises:
        ResourceError: if it is missing.
    """
    return resource_path("leaderboard")


def contest_ids() -> tuple[str, ...]:
    """Of the shipped contests, by paper; the folder is the list."""
    papers = list(PAPERS)

    def order(name: str) -> tuple[int, str]:
        return next((place for place, paper in enumerate(papers) if name.startswith(paper)), len(papers)), name

    return tuple(sorted((path.stem for path in contests_folder().glob(f"*{CONTEST_SUFFIX}")), key=order))


def load_contest(id_or_path: str) -> Contest:
    """Read a contest file, or a shipped contest by its id.

    Raises:
        InputError: if there is no such file or id; `LeaderboardError` with all that is wrong with it.
    """
    path = Path(id_or_path)
    if not is_to_read(path):
        ids = contest_ids()
        if id_or_path not in ids:
            listed = f"allowed are {', '.join(ids)}"
            raise InputError(f"{id_or_path}: no such contest; {way_on(id_or_path, ids, listed)}")
        path = contests_folder() / f"{id_or_path}{CONTEST_SUFFIX}"
    text = read_text(path, LeaderboardError, "a contest")
    return checked(text, path, LeaderboardError, lambda tree, report: _read(path, text, tree, report))


def load_contests(ids_or_paths: Sequence[str] = ()) -> tuple[Contest, ...]:
    """Several, each once and in the order given; without any, all that ship.

    Raises:
        InputError: as `load_contest`.
    """
    return tuple(map(load_contest, dict.fromkeys(ids_or_paths or contest_ids())))


def _read(path: Path, text: str, tree: Mapping[str, Any], report: Report) -> Contest | None:
    also = ("competes", "beside", "seeds", "set", "convergence", "quick")
    values = read_section(report, (), tree, _CONTEST, also_known=also)
    if not tree.get("competes", True):
        report.add(("competes",), "no flow is named", "at least one")
    elif "competes" not in tree:
        report.add(("competes",), "missing", "a list of flows")
    competes = report.names(("competes",), tree.get("competes", []))
    beside = report.names(("beside",), tree.get("beside", []))
    changes = read_set(report, ("set",), tree.get("set", {}))
    quick = report.expect_table(("quick",), tree["quick"], "[quick]") if "quick" in tree else None
    quick = quick or {}
    for key in quick:
        if key not in ("seeds", "set"):
            report.unknown_key(("quick", key), ("seeds", "set"))
    quick_changes = read_set(report, ("quick", "set"), quick.get("set", {}))
    scenario = scenario_beside(report, ("scenario",), path, values.get("scenario"))
    is_multipath = True
    if scenario is not None:
        is_multipath = _check_flows(report, scenario, changes, competes, beside)
        cost = _cost_values(values["cost"]) if values.get("cost") else {}
        variants: tuple[tuple[Place, Mapping[str, TomlValue]], ...] = (
            (("quick", "set"), quick_changes),
            (("cost",), cost),
            (("cost",), {**quick_changes, **cost}),
        )
        for place, variant in variants:
            if variant and not report.problems:
                _check_usable(report, place, scenario, {**changes, **variant})
    convergence = None
    if "convergence" in tree:
        table = report.expect_table(("convergence",), tree["convergence"], "[convergence]") or {}
        convergence = read_section(report, ("convergence",), table, _CONVERGENCE)
    seeds = noted_seeds(report, ("seeds",), tree.get("seeds", _DEFAULT_SEEDS))
    quick_seeds = noted_seeds(report, ("quick", "seeds"), quick.get("seeds", _QUICK_SEEDS))
    if report.problems or scenario is None:
        return None
    return Contest(
        path.stem,
        path,
        values["paper"],
        values["figure"],
        values["title"],
        prose(text),
        scenario,
        competes,
        beside,
        is_multipath,
        bool(values.get("documents")),
        values.get("cost"),
        seeds,
        changes,
        convergence,
        quick_seeds,
        quick_changes,
    )


def _check_flows(
    report: Report,
    path: Path,
    changes: Mapping[str, TomlValue],
    competes: Sequence[str],
    beside: Sequence[str],
) -> bool:
    """Whether the flows that compete have several paths; what is wrong with flows goes to the report."""
    scenario = _check_usable(report, ("set",), path, changes)
    if scenario is None:
        return True
    flows = scenario.flows
    report.check_names(("competes",), competes, "flow", flows)
    report.check_names(("beside",), beside, "flow", flows)
    for name in beside:
        if name in competes:
            report.add(("beside",), f'"{name}" competes, too', "other flows than those that compete")
        elif name in flows and flows[name].controller.name != "newreno":
            report.add(("beside",), f'"{name}" runs {flows[name].controller.name}', "flows with newreno")
    kinds = {flows[name].kind for name in competes if name in flows}
    if not kinds <= {"mptcp", "tcp"} or len(kinds) > 1:
        report.add(("competes",), f"these are {' and '.join(sorted(kinds))}", "all mptcp, or all tcp")
    return kinds != {"tcp"}


def _check_usable(report: Report, place: Place, path: Path, values: Mapping[str, TomlValue]) -> Scenario | None:
    """The scenario with these values; None if it cannot be used, which goes to the report."""
    try:
        return _scenario_of(path, values)
    except ScenarioError as error:
        report.add(place, f"{path.stem} cannot be used with these values: {error}")
        return None


def _cost_values(cost_s: float) -> dict[str, TomlValue]:
    return {"duration": f"{cost_s!r}s", "warmup": 0}


def _scenario_of(path: Path, values: Mapping[str, TomlValue]) -> Scenario:
    # Not `open_scenario`, which writes the text with these values, too: four times as long, for text that nobody reads.
    overrides = [f"{key}={render(value)}" for key, value in values.items()]
    return load_scenario(find_scenario(str(path)), overrides=overrides, algorithms=app_catalog())
