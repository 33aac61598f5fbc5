"""Entrants and contests of the arena: controllers with their options, blind senders, and files of contests.

Without names, all controllers of the catalogue are entered, so a new controller takes part as soon as it exists. Each
agent is entered a second time with the policy `neutral`, which changes nothing. References follow: the scripts of
`REFERENCE_SCRIPTS`, the blind senders, which ignore all feedback, and the oracle. A single-path controller runs on each
subflow separately.

An entry has the form NAME, NAME:KEY=VALUE,KEY=VALUE, or is the path of a policy file. NAME may be the path of a script
file, which ends in .py.

Contests are experiments of papers, as TOML files (`assets/arena/*.toml`):

format = 1
paper = "drl-cc"                        # source of the experiment, and its family: drl-cc, mplibra, ddpg-mpcc, ...
figure = "8"                            # figure of the paper
title = "Beside five TCPs with 2 % loss"
scenario = "drlcc-sc7"                  # a shipped scenario, or a file in the folder of the contest
competes = ["mptcp"]                    # the mptcp flows whose controller the entrants replace
beside = ["tcp"]                        # competing NewReno flows; default: none
documents = false                       # true: the entrants' flows have a size, and the makespan is scored
step = false                            # true: the capacity changes when measuring starts, to measure convergence

[set]                                   # overrides of the scenario, as with --set
warmup = "20s"

A contest names no controllers; the entrants replace the controllers of its competing flows.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.catalog.core.uses import Use, own_options, read_scenario, scenario_at
from subflow_app.features.editor.core.scenario_parts import named
from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_app.features.editor.core.scripts import add_script, check_script_name, open_script, script_problems
from subflow_app.features.gallery.core.axis import read_set
from subflow_app.features.gallery.core.recipe import PAPERS
from subflow_app.foundation.errors import ArenaError, InputError
from subflow_app.foundation.resources import file_or_shipped, find_scenario, resource_path, way_on
from subflow_app.foundation.toml_edit import TomlValue, overrides_of, read_toml, remove_value, render, set_value
from subflow_app.foundation.toml_files import checked, prose, read_text, scenario_beside
from subflow_sim.arena.blind import BLIND, blind_network
from subflow_sim.arena.networks import Network
from subflow_sim.errors import ParamError, PolicyError, ScenarioError
from subflow_sim.gate import TooLargeFileError, read_file
from subflow_sim.overrides import override_value
from subflow_sim.parameter import Param
from subflow_sim.params import SCRIPT_SECTIONS, Algorithm, AlgorithmCatalog
from subflow_sim.policy import Policy
from subflow_sim.policy_choice import choose_policy
from subflow_sim.policy_library import MAX_POLICY_BYTES, NEUTRAL, SUFFIX
from subflow_sim.scenario import Choice, Scenario
from subflow_sim.scenario_model import ScriptFile
from subflow_sim.script import ScriptError
from subflow_sim.script_reader import SUFFIX as SCRIPT_SUFFIX
from subflow_sim.script_reader import algorithm_of, shipped_scripts
from subflow_sim.section_reader import Report, read_section
from subflow_sim.toml_map import Path as Place
from subflow_sim.units import Dimension

UNCOUPLED = "uncoupled"
_ANY_SCHEDULER = "minrtt"

_SCRIPT_ENTRY = re.compile(rf"(.+{re.escape(SCRIPT_SUFFIX)})(?::(.*))?\Z", re.DOTALL)

BLIND_SUMMARIES: Mapping[str, str] = {
    "idle": "Sends nothing",
    "constant": "1 Mbit/s by each path, whatever happens",
    "constant-10": "10 Mbit/s by each path, whatever happens",
    "random": "Another rate by each path every two seconds, drawn from 0.1 to 100 Mbit/s",
    "oracle": "Knows the network and sends at 98 % of the fair split",
}

REFERENCE_SCRIPTS = ("bdp", "shy")
"""Shipped scripts that take part: a few lines of rules, which whatever has learned should beat."""

_PROBE = """
format = 1
name = "entry"
duration = "1s"
profile = "{profile}"
nodes.a = {{}}
nodes.b = {{}}
links.l = {{ ends = ["a", "b"], rate = "1Mbit/s" }}
links.m = {{ ends = ["a", "b"], rate = "1Mbit/s" }}
[flows.entry]
kind = "mptcp"
from = "a"
to = "b"
paths = [["l"], ["m"]]
controller = {controller}
scheduler = "{scheduler}"
"""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A controller with its options, or a blind sender.

    Attributes:
        name: name of the entrant with its options, as the user wrote it, e.g. `mplibra:policy=neutral`.
        summary: description on one line.
        controller: name in the catalogue; empty for a blind sender, which sends datagrams.
        options: options of the controller.
        scheduler: scheduler that the controller requires; empty to keep the scheduler of the network.
        is_coupled: whether the controller runs over all subflows together.
        learns: whether the controller is an agent, which follows a policy.
        folder: folder of the policy file that the options name; None if they name no file.
        problem: reason for excluding the entrant; empty if it takes part.
        script: source of a scripted controller; None for a built-in controller.
    """

    name: str
    summary: str
    controller: str = ""
    options: Mapping[str, TomlValue] = field(default_factory=dict)
    scheduler: str = ""
    is_coupled: bool = False
    learns: bool = False
    folder: Path | None = None
    problem: str = ""
    script: ScriptFile | None = None
    _read: dict[str, tuple[Choice, Choice]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_blind(self) -> bool:
        """True for senders whose rates are fixed before the run: those that ignore the network, and the oracle."""
        return not self.controller

    def __hash__(self) -> int:
        """Hash of the name alone, because the options are a dictionary, which cannot be hashed."""
        return hash(self.name)

    def scenario(self, net: Network) -> Scenario:
        """The scenario of the network, with this entrant on the competing connections.

        Raises:
            ArenaError: if the controller, its options or its policy are not valid in a scenario.
        """
        if self.is_blind:
            return blind_network(net, BLIND[self.name]).scenario
        controller, scheduler = self._choices(net.scenario.profile)
        flows = {}
        for name in net.competes:
            flow = net.scenario.flows[name]
            flows[name] = replace(
                flow, controller=controller, scheduler=scheduler if self.scheduler else flow.scheduler
            )
        return replace(net.scenario, flows={**net.scenario.flows, **flows})

    def sends(self, profile: str) -> str:
        """Text for a cache key. Together with the network, it determines which packets the entrant sends.

        Args:
            profile: transport profile.

        Raises:
            ArenaError: if the controller, its options or its policy are not valid in a scenario.
        """
        if self.is_blind:
            return self.name
        controller, scheduler = self._choices(profile)
        policy = "" if controller.policy is None else controller.policy.content_hash
        script = () if controller.script is None else (controller.script.text,)
        return repr((controller.name, sorted(controller.options.items()), policy, scheduler.name, *script))

    def single_path_choice(self) -> Choice:
        """The controller for an ordinary TCP flow; only for controllers that are not coupled.

        Raises:
            ArenaError: if the controller, its options or its policy are not valid in a scenario.
        """
        options = dict(self._choices("linux")[0].options)
        options.pop("base", None)
        return Choice(self.controller, options)

    def put_into(self, text: str, flows: Sequence[str]) -> str:
        """The text of a scenario with this entrant on the given flows; unchanged for a blind sender.

        Flows of kind mptcp get the same choice as in `scenario`; flows of kind tcp get the controller itself, without
        the wrapper `uncoupled`.

        Raises:
            InputError: if the scenario contains a different script of the same name.
        """
        if self.is_blind:
            return text
        tables = read_toml(text)["flows"]
        for name in flows:
            is_alone = tables[name].get("kind") != "mptcp"
            text = set_value(text, ("flows", name, "controller"), self._standalone(is_alone=is_alone))
            if not is_alone and self.scheduler:
                text = set_value(text, ("flows", name, "scheduler"), self.scheduler)
            elif is_alone and "scheduler" in tables[name]:
                text = remove_value(text, ("flows", name, "scheduler"))
        script = self.script
        if script is not None:
            brought = named(read_toml(text), SCRIPT_SECTIONS[script.kind]).get(script.name)
            if brought is None or brought.get("content", "").strip() != script.text.strip():
                text = add_script(text, script.kind, script.name, script.file, script.text).text
        return text

    def _standalone(self, *, is_alone: bool) -> TomlValue:
        """Like `_written`, but with the full path of a policy file.

        Relative paths cannot be used, because the text of a network is not in a folder.
        """
        written = self._written(is_alone=is_alone)
        policy = written.get("policy") if isinstance(written, Mapping) else None
        if self.folder is None or not isinstance(written, Mapping) or not str(policy).endswith(SUFFIX):
            return written
        return {**written, "policy": str(self.folder / str(policy))}

    def _written(self, *, is_alone: bool) -> TomlValue:
        """Value of the key `controller` in a scenario file, for an ordinary TCP flow or a multipath connection."""
        if not (is_alone or self.is_coupled or self.script is not None):
            return {"name": UNCOUPLED, "base": self.controller, **self.options}
        return {"name": self.controller, **self.options} if self.options else self.controller

    def entry(self) -> str:
        """Hash of the controller, its options, and the content of its policy or script; 16 hex digits.

        Raises:
            ArenaError: if the controller, its options or its policy are not valid in a scenario.
        """
        parts: list[object] = [self.name if self.is_blind else self.controller, dict(self.options)]
        if not self.is_blind:
            policy = self._choices("linux")[0].policy
            parts.append("" if policy is None else policy.content_hash)
        if self.script is not None:
            parts.append(self.script.text)
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    def _choices(self, profile: str) -> tuple[Choice, Choice]:
        if profile not in self._read:
            # Cached, because an arena has hundreds of networks
            controller = render(self._written(is_alone=False))
            text = _PROBE.format(profile=profile, controller=controller, scheduler=self.scheduler or _ANY_SCHEDULER)
            if self.script is not None:
                name, file = self.script.name, self.script.file
                text = add_script(text, self.script.kind, name, file, self.script.text).text
            self._read[profile] = _read_choices(self.name, text, self.folder)
        return self._read[profile]


def _read_choices(name: str, text: str, folder: Path | None) -> tuple[Choice, Choice]:
    try:
        flow = read_scenario(Use.ARENA, text, file=name, folder=folder).flows["entry"]
    except ScenarioError as error:
        message = "; ".join(
            f"{problem.key.removeprefix('flows.entry.controller').removeprefix('.') or 'entry'}: {problem.message}"
            + (f"; allowed: {problem.allowed}" if problem.allowed else "")
            for problem in error.problems
        )
        raise ArenaError(f"{name}: {message}") from error
    return flow.controller, flow.scheduler


def own_entries(scenario: Scenario) -> list[str]:
    """Entries for the controllers in a scenario that have options or a policy, without duplicates."""
    found: dict[str, None] = {}
    for flow in scenario.flows.values():
        choice = flow.controller
        options = {} if flow.sends_datagrams else own_options(choice, scenario)
        if choice.policy is not None and "policy" in options:
            path = choice.policy.path
            options["policy"] = (
                str(path) if path is not None and choice.policy.name.endswith(SUFFIX) else options["policy"]
            )
        if options and choice.name != UNCOUPLED:
            found[f"{choice.name}:{','.join(f'{key}={value}' for key, value in options.items())}"] = None
    return list(found)


def entrants(catalog: AlgorithmCatalog | None = None) -> tuple[Entrant, ...]:
    """All entrants in the order of the catalogue; those that cannot take part have a `problem`.

    Args:
        catalog: catalogue of controllers, schedulers and policies; None for the catalogue of the app.
    """
    catalog = catalog or app_catalog()
    known = [each for each in catalog.controllers if each.name != UNCOUPLED]
    found = [_entrant(each, {}, catalog) for each in known]
    found += [_entrant(each, {"policy": NEUTRAL}, catalog) for each in known if each.name in catalog.learners]
    scripts = shipped_scripts()
    found += [_entrant(_of_script(scripts[name], catalog), {}, catalog) for name in REFERENCE_SCRIPTS]
    return (*found, *(Entrant(name, BLIND_SUMMARIES[name]) for name in BLIND))


def chosen_entrants(
    names: Sequence[str], catalog: AlgorithmCatalog | None = None, scripts: Sequence[ScriptFile] = ()
) -> tuple[Entrant, ...]:
    """The named entrants without duplicates; all entrants if no name is given.

    Args:
        names: entries as the user wrote them.
        catalog: catalogue of controllers, schedulers and policies; None for the catalogue of the app.
        scripts: additional controllers, e.g. those of a scenario, each entered under its name.

    Raises:
        InputError: if a name is unknown.
        ArenaError: if the options of an entry are not usable.
    """
    catalog = catalog or app_catalog()
    if not names:
        return entrants(catalog)
    found = {each.name: each for each in (_named(name.strip(), catalog, scripts) for name in names)}
    return tuple(found.values())


def _named(text: str, catalog: AlgorithmCatalog, scripts: Sequence[ScriptFile] = ()) -> Entrant:
    name, _, written = text.partition(":")
    if name in BLIND:
        if written:
            raise ArenaError(f"{text}: {name} has no options")
        return Entrant(name, BLIND_SUMMARIES[name])
    known = {each.name: each for each in catalog.controllers if each.name != UNCOUPLED}
    if name not in known and text.endswith(SUFFIX):
        return _of_policy(Path(text), catalog)
    entry = _SCRIPT_ENTRY.match(text)
    algorithm = known.get(name)
    brought = next((each for each in scripts if each.name == name and each.kind == "controller"), None)
    if algorithm is None and brought is not None:
        algorithm = _of_text(brought, brought.file or brought.name)
    elif algorithm is None and name in shipped_scripts():
        algorithm = _of_script(shipped_scripts()[name], catalog)
    elif algorithm is None and entry is not None:
        algorithm, written = _of_script(Path(entry[1]), catalog), entry[2] or ""
    if algorithm is None:
        names = [*known, *REFERENCE_SCRIPTS, *BLIND]
        listed = f"allowed: {', '.join(names)}, or a file with a policy ({SUFFIX}) or a script ({SCRIPT_SUFFIX})"
        raise InputError(f'unknown controller "{name}" in the arena; {way_on(name, names, listed)}')
    options: dict[str, TomlValue] = {}
    folder = None
    for part in filter(None, written.split(",")):
        key, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign or not key:
            raise ArenaError(f'{text}: "{part}" is not of the form KEY=VALUE')
        options[key] = override_value(value)  # type: ignore[assignment] # `override_value` returns only TOML values
        if key == "policy" and value.endswith(SUFFIX):
            folder, options[key] = Path(value).resolve().parent, Path(value).name
    name = text if algorithm.script is None else f"{algorithm.name}:{written}".rstrip(":")
    entrant = replace(_entrant(algorithm, options, catalog), name=name, folder=folder, _read={})
    if not entrant.problem:
        entrant.entry()
    return entrant


def _of_script(path: Path, catalog: AlgorithmCatalog) -> Algorithm:
    script = open_script(path)
    if script.kind != "controller":
        raise ArenaError(f"{path}: this is a {script.kind}; the arena takes controllers only")
    try:
        check_script_name(script.name, script.kind, catalog)
    except InputError as error:
        raise ArenaError(f"{path}: a file is entered under its name: {error}") from error
    return _of_text(script, path)


def _of_text(script: ScriptFile, file: str | Path) -> Algorithm:
    try:
        return algorithm_of(script)
    except ScriptError as error:
        raise ArenaError("\n".join(script_problems(Path(file), error.problems))) from error


def entrant_of(script: ScriptFile) -> Entrant:
    """The entrant for a script that is held in memory, not in a file.

    Raises:
        ScriptError: if the script is invalid; the error lists all problems.
    """
    return _entrant(algorithm_of(script), {}, app_catalog())


def _of_policy(path: Path, catalog: AlgorithmCatalog) -> Entrant:

    try:
        policy = Policy.from_bytes(read_file(path, MAX_POLICY_BYTES))
    except (OSError, TooLargeFileError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: this policy file cannot be read: {reason}") from error
    except PolicyError as error:
        raise ArenaError(f"{path}: {error}") from error
    algorithm = next((each for each in catalog.controllers if each.name == policy.controller), None)
    if algorithm is None:
        raise ArenaError(f"{path}: it is for the controller {policy.controller}, which is unknown here")
    entrant = _entrant(algorithm, {"policy": path.name}, catalog)
    entrant = replace(entrant, name=path.name.removesuffix(SUFFIX), folder=path.resolve().parent, problem="", _read={})
    entrant.entry()
    return entrant


def _entrant(algorithm: Algorithm, options: Mapping[str, TomlValue], catalog: AlgorithmCatalog) -> Entrant:
    learns = algorithm.name in catalog.learners
    written = ",".join(f"{key}={value}" for key, value in options.items())
    return Entrant(
        f"{algorithm.name}:{written}" if written else algorithm.name,
        algorithm.summary,
        algorithm.name,
        options,
        algorithm.scheduler,
        algorithm.is_coupled,
        learns,
        problem=_problem(algorithm, catalog) if learns and not options else "",
        script=algorithm.script,
    )


def _problem(algorithm: Algorithm, catalog: AlgorithmCatalog) -> str:
    """Reason for excluding a learning controller; empty if it has a trained policy."""
    try:
        choice = choose_policy(algorithm, {}, "linux", catalog.policies)
    except ParamError as error:
        return error.message
    if choice.options.get("policy") == NEUTRAL:
        return f"no trained policy for {algorithm.name}: `subflow train {algorithm.name}` makes one"
    return ""


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
        id: name of the file without its suffix: "mplibra-10a".
        path: path of the contest file.
        paper: key of `PAPERS`.
        figure: number of the figure in the paper.
        title: title on one line.
        prose: comment at the start of the file; may be empty.
        scenario: path of the scenario file.
        competes: flows whose controller the entrants replace.
        beside: NewReno flows that share the network.
        has_documents: whether the entrants' flows have a size, so that the makespan is scored.
        has_step: whether the capacity changes at the start of measuring, so that a convergence time is measured.
        values: overrides of the scenario by dotted key.
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
        """The contest as a network of the arena, in the family of its paper.

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
        return _source(self.path, self.scenario, tuple(overrides_of(self.values)))


def contests_folder() -> Path:
    """Folder of the shipped contests.

    Raises:
        ResourceError: if the folder is missing.
    """
    return resource_path("arena")


def contest_ids() -> tuple[str, ...]:
    """Ids of the shipped contests, one for each file in the folder, ordered by paper."""
    papers = list(PAPERS)

    def order(name: str) -> tuple[int, str]:
        return next((place for place, paper in enumerate(papers) if name.startswith(paper)), len(papers)), name

    return tuple(sorted((path.stem for path in contests_folder().glob(f"*{CONTEST_SUFFIX}")), key=order))


def load_contest(id_or_path: str) -> Contest:
    """Read a contest file, or a shipped contest by its id.

    Raises:
        InputError: if no such file or id exists.
        ArenaError: if the file is invalid; the error lists all problems.
    """
    ids = contest_ids()
    listed = f"allowed: {', '.join(ids)}"
    path = file_or_shipped(id_or_path, "arena", CONTEST_SUFFIX, ids, "no such contest", listed)
    text = read_text(path, ArenaError, "a contest")
    return checked(text, path, ArenaError, lambda tree, report: _read(path, text, tree, report))


def load_contests(ids_or_paths: Sequence[str] = ()) -> tuple[Contest, ...]:
    """Several contests without duplicates in the given order; without arguments, all shipped contests.

    Raises:
        InputError: if a file or id does not exist.
        ArenaError: if a file is invalid; the error lists all problems.
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
    """Reports flows that are missing or not usable in a contest."""
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
    """The scenario with these values. If it is not usable, reports the problem and returns None."""
    try:
        return _scenario_of(path, values)
    except ScenarioError as error:
        report.add(place, f"{path.stem} cannot be used with these values: {error}")
        return None


def _scenario_of(path: Path, values: Mapping[str, TomlValue]) -> Scenario:
    # `open_scenario` also rewrites the text with these values, which takes four times as long and is not needed here.
    return scenario_at(Use.ARENA, find_scenario(str(path)), overrides_of(values))


@lru_cache(maxsize=128)
def _source(_contest: Path, path: Path, overrides: tuple[str, ...]) -> tuple[Scenario, str]:
    """The scenario of a contest, and its text with these overrides."""
    source = open_scenario(str(path), use=Use.ARENA, overrides=overrides)
    return source.scenario, source.text
