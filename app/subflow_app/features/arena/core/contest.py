"""Contests of the arena that are experiments of papers, as TOML files (`assets/arena/*.toml`).

format = 1
paper = "drl-cc"                        # whose experiment it is, and of which family: drl-cc, mplibra, ddpg-mpcc, ...
figure = "8"                            # of the paper
title = "Beside five TCPs with 2 % loss"
scenario = "drlcc-sc7"                  # a shipped one, or a file beside the contest
competes = ["mptcp"]                    # the mptcp flows whose controller takes its turn
beside = ["tcp"]                        # NewReno flows that should not suffer; left out: there are none
documents = false                       # true: the flows that compete have a size, and the makespan is what counts
step = false                            # true: the capacity changes as measuring begins: convergence is measured

[set]                                   # changes of the scenario, as with --set
warmup = "20s"

A contest says nothing of controllers: `entrants` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from subflow_app.features.catalog.core.uses import Use, scenario_at
from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_app.features.gallery.core.axis import read_set
from subflow_app.features.gallery.core.recipe import PAPERS
from subflow_app.foundation.errors import ArenaError
from subflow_app.foundation.resources import file_or_shipped, find_scenario, resource_path
from subflow_app.foundation.toml_edit import TomlValue, render
from subflow_app.foundation.toml_files import checked, prose, read_text, scenario_beside
from subflow_sim.arena.networks import Network
from subflow_sim.errors import ScenarioError
from subflow_sim.parameter import Param
from subflow_sim.report import Report
from subflow_sim.scenario import Scenario
from subflow_sim.section_reader import read_section
from subflow_sim.toml_map import Path as Place
from subflow_sim.units import Dimension

CONTEST_SUFFIX = ".toml"

_CONTEST = (
    Param("format", Dimension.COUNT, "Version of the file format.", required=True, minimum=1, maximum=1),
    Param("paper", Dimension.CHOICE, "Paper of the experiment.", required=True, choices=tuple(PAPERS)),
    Param("figure", Dimension.TEXT, "Figure of the paper.", required=True),
    Param("title", Dimension.TEXT, "Title, in a line.", required=True),
    Param("scenario", Dimension.TEXT, "A shipped scenario, or a file beside the contest.", required=True),
    Param("documents", Dimension.FLAG, "true if the makespan counts.", default=False),
    Param("step", Dimension.FLAG, "true if the capacity changes when measuring begins.", default=False),
)


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
        has_documents: whether the makespan counts.
        has_step: whether the capacity changes as measuring begins.
        values: of dotted scenario keys.
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
    has_documents: bool
    has_step: bool
    values: Mapping[str, TomlValue]

    def network(self, seed: int) -> Network:
        """It as a network of the arena, of the family of its paper.

        Raises:
            ArenaError: if the scenario is not usable.
        """
        try:
            scenario, text = self._read
        except ScenarioError as error:
            raise ArenaError(f"{self.path}: {error}") from error
        name = f"{self.paper}/{self.id}/{seed}"
        seeded = replace(scenario, seed=seed)
        return Network(self.paper, name, seeded, self.competes, self.beside, self.has_documents, text, self.has_step)

    @property
    def _read(self) -> tuple[Scenario, str]:
        return _source(self.path, self.scenario, tuple(_overrides(self.values)))


def contests_folder() -> Path:
    """Where the shipped contests are.

    Raises:
        ResourceError: if it is missing.
    """
    return resource_path("arena")


def contest_ids() -> tuple[str, ...]:
    """Of the shipped contests, by paper; the folder is the list."""
    papers = list(PAPERS)

    def order(name: str) -> tuple[int, str]:
        return next((place for place, paper in enumerate(papers) if name.startswith(paper)), len(papers)), name

    return tuple(sorted((path.stem for path in contests_folder().glob(f"*{CONTEST_SUFFIX}")), key=order))


def load_contest(id_or_path: str) -> Contest:
    """Read a contest file, or a shipped contest by its id.

    Raises:
        InputError: if there is no such file or id; `ArenaError` with all that is wrong with it.
    """
    ids = contest_ids()
    listed = f"allowed: {', '.join(ids)}"
    path = file_or_shipped(id_or_path, "arena", CONTEST_SUFFIX, ids, "no such contest", listed)
    text = read_text(path, ArenaError, "a contest")
    return checked(text, path, ArenaError, lambda tree, report: _read(path, text, tree, report))


def load_contests(ids_or_paths: Sequence[str] = ()) -> tuple[Contest, ...]:
    """Several, each once and in the order given; without any, all that ship.

    Raises:
        InputError: as `load_contest`.
    """
    return tuple(map(load_contest, dict.fromkeys(ids_or_paths or contest_ids())))


def _read(path: Path, text: str, tree: Mapping[str, Any], report: Report) -> Contest | None:
    also = ("competes", "beside", "set")
    values = read_section(report, (), tree, _CONTEST, also_known=also)
    if not tree.get("competes", True):
        report.add(("competes",), "no flow is named", "at least one")
    elif "competes" not in tree:
        report.add(("competes",), "missing", "a list of flows")
    competes = report.names(("competes",), tree.get("competes", []))
    beside = report.names(("beside",), tree.get("beside", []))
    changes = read_set(report, ("set",), tree.get("set", {}))
    scenario = scenario_beside(report, ("scenario",), path, values.get("scenario"))
    if scenario is not None:
        _check_flows(report, scenario, changes, competes, beside, has_documents=bool(values.get("documents")))
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
        bool(values.get("documents")),
        bool(values.get("step")),
        changes,
    )


def _check_flows(
    report: Report,
    path: Path,
    changes: Mapping[str, TomlValue],
    competes: Sequence[str],
    beside: Sequence[str],
    *,
    has_documents: bool,
) -> None:
    """What is wrong with flows goes to the report."""
    scenario = _check_usable(report, ("set",), path, changes)
    if scenario is None:
        return
    flows = scenario.flows
    report.check_names(("competes",), competes, "flow", flows)
    report.check_names(("beside",), beside, "flow", flows)
    for name in beside:
        if name in competes:
            report.add(("beside",), f'"{name}" competes, too', "other flows than those that compete")
        elif name in flows and flows[name].controller.name != "newreno":
            report.add(("beside",), f'"{name}" runs {flows[name].controller.name}', "flows with newreno")
    for name in competes:
        flow = flows.get(name)
        if flow is None:
            continue
        if flow.kind != "mptcp":
            report.add(("competes",), f'"{name}" is of kind {flow.kind}', "mptcp flows; one path is enough")
        if flow.arrivals is not None:
            report.add(("competes",), f'"{name}" arrives at random times', "flows that the scenario counts")
        if has_documents and flow.size_bytes is None:
            report.add(("documents",), f'"{name}" has no size', "flows with a size")


def _check_usable(report: Report, place: Place, path: Path, values: Mapping[str, TomlValue]) -> Scenario | None:
    """The scenario with these values; None if it cannot be used, which goes to the report."""
    try:
        return _scenario_of(path, values)
    except ScenarioError as error:
        report.add(place, f"{path.stem} cannot be used with these values: {error}")
        return None


def _overrides(values: Mapping[str, TomlValue]) -> list[str]:
    return [f"{key}={render(value)}" for key, value in values.items()]


def _scenario_of(path: Path, values: Mapping[str, TomlValue]) -> Scenario:
    # Not `open_scenario`, which writes the text with these values, too: four times as long, for text that nobody reads.
    return scenario_at(Use.ARENA, find_scenario(str(path)), _overrides(values))


@lru_cache(maxsize=128)
def _source(_contest: Path, path: Path, overrides: tuple[str, ...]) -> tuple[Scenario, str]:
    """The scenario of a contest, and its text with these changes."""
    source = open_scenario(str(path), use=Use.ARENA, overrides=overrides)
    return source.scenario, source.text
