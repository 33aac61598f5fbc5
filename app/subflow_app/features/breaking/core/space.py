"""A space of networks: all networks that a scenario file with `[training]` describes, as points of a unit cube.

Training draws the values in this block at random. A search instead chooses one number in [0, 1) for each value.
The ranges in the block limit the search to plausible networks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.breaking.core.trial import network_of
from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.editor.core.scenario_source import with_contents
from subflow_app.foundation.errors import ArenaError, ClaimFileError, InputError
from subflow_app.foundation.resources import file_or_shipped, find_scenario, resource_path, scenario_names
from subflow_app.foundation.toml_edit import TomlValue, read_toml
from subflow_app.foundation.toml_files import prose
from subflow_sim.arena.networks import Network
from subflow_sim.draws import BdpShare, Draw, Independent, Range, read_draw, uniform
from subflow_sim.episodes import Drawn, build_with_tree, draw_episode_s, draw_events, draw_values
from subflow_sim.errors import ParamError, ScenarioError
from subflow_sim.overrides import override_value
from subflow_sim.scenario import Scenario, read_scenario_text
from subflow_sim.scenario_model import ScriptFile
from subflow_sim.section_reader import Noted, Report
from subflow_sim.training_model import Training

SUFFIX = ".toml"

Points = NDArray[np.float64]
"""Networks, one per row, with a number in [0, 1) for each key."""

_BELOW_ONE = math.nextafter(1.0, 0.0)
_LOG_FROM = 10.0  # a range whose ends have at least this ratio is drawn on a logarithmic scale


@dataclass(frozen=True, slots=True)
class Found:
    """A network of a space.

    Attributes:
        net: network in which claims are tested.
        tree: tables of an equivalent scenario file.
    """

    net: Network
    tree: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Space:
    """The networks of a search.

    Attributes:
        name: name of the file without its suffix, or a name given by the user.
        title: title in one line.
        prose: comment at the start of the file; may be empty.
        text: scenario file with the content of all files that it names.
        training: block `[training]` of the scenario, including `vary`.
        vary: additional draws, as given by the user.
    """

    name: str
    title: str
    prose: str
    text: str = field(repr=False)
    training: Training = field(repr=False)
    vary: tuple[str, ...] = ()

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Keys of the coordinates in order: dotted keys of the scenario file, then keys of random changes."""
        asked: list[str] = []

        def choose(key: str, draw: Independent) -> Any:
            if len(draw.trials()) > 1:
                asked.append(key)
            return draw.value(0.5)

        def chance(key: str) -> float:
            asked.append(key)
            return 0.0

        self._drawn(choose, chance, first_only=True)
        return tuple(dict.fromkeys(asked))

    def found(self, point: Points) -> Found:
        """The network at a point.

        Raises:
            ScenarioError: if the values at the point do not form a valid scenario.
        """
        place = dict(zip(self.keys, np.clip(point, 0.0, _BELOW_ONE).tolist(), strict=True))

        def number(key: str) -> float:
            # Values without a coordinate, such as later repetitions of a random change, come from a fixed seed.
            return place[key] if key in place else uniform(0, 0, 0, key)

        drawn = self._drawn(lambda key, draw: draw.value(number(key)), number)
        scenario, tree = build_with_tree(self.training, drawn)
        self._write_sizes(scenario, tree)
        if drawn.episode_s is not None:
            _cut(tree, scenario)
        return Found(network_of(scenario), tree)

    def values(self, point: Points) -> dict[str, Any]:
        """The values at a point by dotted key, as in a scenario file; for a queue, the multiple of the BDP."""
        place = dict(zip(self.keys, np.clip(point, 0.0, _BELOW_ONE).tolist(), strict=True))
        drawn = self._drawn(lambda key, draw: draw.value(place.get(key, 0.5)), lambda key: place.get(key, 0.5))
        return {key: value for key, value in drawn.values.items() if key in place}

    @property
    def scripts(self) -> tuple[ScriptFile, ...]:
        """Controllers and schedulers defined by scripts in the scenario."""
        return self._scenario.scripts

    def draw(self, key: str) -> Draw | None:
        """The draw for a key; None if the key belongs to a change at a random time."""
        return self.training.draws.get(key)

    def _drawn(self, choose: Any, chance: Any, *, first_only: bool = False) -> Drawn:
        try:
            values = draw_values(self.training, choose)
        except ParamError as error:
            raise ClaimFileError(f"{self.name}: {error.message}; allowed: {error.allowed}") from error
        episode_s = draw_episode_s(self.training, choose)
        end_s = self._scenario.duration_s if episode_s is None else episode_s
        if first_only:
            events = tuple(
                next(draw_events(replace(self.training, events=(row,)), choose, chance, end_s), None)
                for row in self.training.events
            )
            return Drawn(episode_s, values, tuple(each for each in events if each is not None))
        return Drawn(episode_s, values, tuple(draw_events(self.training, choose, chance, end_s)))

    @property
    def scenario(self) -> Scenario:
        """The scenario with the values in the file, without draws."""
        return self._scenario

    @cached_property
    def _scenario(self) -> Scenario:
        return build_with_tree(self.training, Drawn(None, {}))[0]

    def _write_sizes(self, scenario: Scenario, tree: dict[str, Any]) -> None:
        """In the tables, replaces queue limits given as multiples of the BDP by limits in packets."""
        for key, draw in self.training.draws.items():
            if not isinstance(draw, BdpShare):
                continue
            steps = key.split(".")
            link = scenario.links[steps[1]]
            side = link.reverse if steps[2] == "reverse" else link.forward
            table = tree["links"][steps[1]]
            table = table.setdefault("reverse", {}) if steps[2] == "reverse" else table
            size = f"{side.queue.limit_pkts}pkt"
            if isinstance(table.get("queue"), dict):
                table["queue"]["limit"] = size
            else:
                table["queue"] = size


def _cut(tree: dict[str, Any], scenario: Scenario) -> None:
    """Applies the end of a shortened scenario to its tables, and removes flows that start later."""
    tree["duration"] = scenario.duration_s
    tree["warmup"] = scenario.warmup_s
    tree["flows"] = {name: table for name, table in tree["flows"].items() if name in scenario.flows}


def space_names() -> tuple[str, ...]:
    """Names of the shipped spaces, one for each file in the folder."""
    return tuple(sorted(path.stem for path in resource_path("spaces").glob(f"*{SUFFIX}")))


def load_space(name_or_path: str, vary: Sequence[str] = ()) -> Space:
    """Read a shipped space by its name, or a scenario file, which needs a `[training]` block or `vary`.

    Args:
        name_or_path: name or path as the person typed it.
        vary: "KEY=LOW..HIGH" or "KEY=VALUE,VALUE": draws in addition to those of the file.

    Raises:
        InputError: if the name is unknown; `ClaimFileError` with all problems of the file, or if nothing varies or no
            flow is of kind mptcp.
    """
    names = space_names()
    if name_or_path in scenario_names() and name_or_path not in names:
        path = find_scenario(name_or_path)
    else:
        listed = f"allowed: {', '.join(names)}, a shipped scenario, or a scenario file"
        path = file_or_shipped(name_or_path, "spaces", SUFFIX, names, "no such space of networks", listed)
    text = read_scenario_text(path)
    return space_of(text, path.stem, vary, path.parent)


def space_of(text: str, name: str, vary: Sequence[str] = (), folder: Path | None = None) -> Space:
    """The space of networks that a scenario file with ranges describes.

    Args:
        text: scenario file.
        name: displayed name.
        vary: additional draws, see `load_space`.
        folder: folder of the files that the scenario names; None if it names no files.

    Raises:
        InputError: see `load_space`.
    """
    draws = dict(map(_given_draw, vary))
    tree = _with_draws(read_toml(text), draws) if draws else None
    try:
        scenario = read_scenario(Use.BREAK, text, file=name, folder=folder, tree=tree)
    except ScenarioError as error:
        raise ClaimFileError(str(error)) from error
    return _space(name, with_contents(text, scenario), scenario, vary)


def _space(name: str, text: str, scenario: Scenario, vary: Sequence[str]) -> Space:
    if scenario.training is None or not (scenario.training.draws or scenario.training.events):
        raise ClaimFileError(
            f"{name}: nothing in it varies: a space of networks needs a block [training.draws], or "
            "ranges given with --vary links.NAME.rate=2Mbit/s..50Mbit/s"
        )
    try:
        network_of(scenario)
    except ArenaError as error:
        raise ClaimFileError(str(error)) from error
    space = Space(name, scenario.name, prose(text), text, scenario.training, tuple(vary))
    if not space.keys:
        raise ClaimFileError(f"{name}: each of its draws has a single value, so only one network is possible")
    return space


def _with_draws(tree: dict[str, Any], draws: Mapping[str, TomlValue]) -> dict[str, Any]:
    """The tables of a scenario file with the given draws, which replace the file's draws of the same keys."""
    training = tree.setdefault("training", {})
    own: Any = training.setdefault("draws", {}) if isinstance(training, dict) else {}
    for key, draw in draws.items():
        *steps, last = key.split(".")
        table = own
        for step in steps:
            table = table.get(step) if isinstance(table, dict) else None
        if isinstance(table, dict):
            table.pop(last, None)
        if isinstance(own, dict):
            own[key] = draw
    return tree


def _given_draw(vary: str) -> tuple[str, TomlValue]:
    """Key and draw of a `--vary` argument.

    Raises:
        InputError: if the argument is malformed.
    """
    key, sign, value = (part.strip() for part in vary.partition("="))
    low, dots, high = (part.strip() for part in value.partition(".."))
    if not key or not sign or not value or (dots and not (low and high)):
        raise InputError(
            f"--vary {vary}: must be KEY=LOW..HIGH or KEY=VALUE,VALUE, e.g. links.a.rate=2Mbit/s..50Mbit/s"
        )
    if dots and low == "0":
        low += high.lstrip("0123456789.")  # zero gets the unit of the other end: 0..2%
    kind = "choice" if not dots else "log_uniform" if _ratio(low, high) >= _LOG_FROM else "uniform"
    draw: TomlValue = {kind: [_plain(each.strip()) for each in (value.split(",") if kind == "choice" else (low, high))]}
    if key.endswith(".queue") and dots and isinstance(_plain(low), int | float):
        draw = {"bdp": draw}  # a number without a unit is a multiple of the BDP
    return key, draw


def _plain(text: str) -> Any:

    return override_value(text)


def _ratio(low: str, high: str) -> float:
    """Ratio of two quantities, whose units may differ; 0 if one is not positive."""
    report = Report("--vary", dict, {})
    try:
        draw = read_draw(report, ("uniform",), {"uniform": [_plain(low), _plain(high)]})
    except Noted:
        return 0.0
    return draw.high / draw.low if isinstance(draw, Range) and draw.low > 0 else 0.0


__all__ = ["Found", "Points", "Space", "load_space", "space_names", "space_of"]
