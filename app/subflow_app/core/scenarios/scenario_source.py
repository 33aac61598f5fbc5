"""A scenario ready to run, together with the text that describes exactly it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import tomlkit

from subflow_app.core.catalog import app_catalog
from subflow_app.core.resources import find_scenario
from subflow_app.core.scenarios.toml_edit import Lines, TomlEditError, TomlValue, read_toml, set_value
from subflow_sim.overrides import apply_overrides as overrides_of_file
from subflow_sim.params import SCRIPT_SECTIONS
from subflow_sim.report import Report
from subflow_sim.scenario import DelayTrace, DeliveryTrace, LinkDirection, Scenario, load_scenario, read_scenario_text
from subflow_sim.scenario_model import ScriptFile
from subflow_sim.toml_map import Path
from subflow_sim.units import Dimension, format_quantity


@dataclass(frozen=True, slots=True)
class ScenarioSource:
    """A scenario and its TOML text.

    Attributes:
        scenario: what to simulate.
        text: TOML that parses to this very scenario, overrides included; it is stored with the run.
    """

    scenario: Scenario
    text: str


def open_scenario(name_or_path: str, *, overrides: Sequence[str] = (), seed: int | None = None) -> ScenarioSource:
    """Read a scenario file, or a shipped scenario by name.

    Args:
        name_or_path: what the user typed.
        overrides: ``KEY=VALUE`` texts with a dotted scenario key, applied in order.
        seed: replaces the seed of the file.

    Raises:
        InputError: if there is no such file or shipped scenario.
        ScenarioError: with all problems of the file and the overrides.
    """
    path = find_scenario(name_or_path)
    changes = [*overrides, *([] if seed is None else [f"seed={seed}"])]
    scenario = load_scenario(path, overrides=changes, algorithms=app_catalog())
    text = read_scenario_text(path)
    return ScenarioSource(scenario, with_contents(with_overrides(text, changes), scenario))


def with_contents(text: str, scenario: Scenario) -> str:
    """The scenario text with the content of the delivery traces and scripts it names: it means the same without files.

    Args:
        text: TOML that parses to the scenario.
        scenario: what it means, with the files that were read.
    """
    for path, key, contents in _contents(scenario):
        table: Any = read_toml(text)
        for step in path:
            table = table.get(step, {}) if isinstance(table, Mapping) else {}
        # Without a rate of its own, the reverse direction has the forward one's.
        if isinstance(table, Mapping) and key in table and "content" not in table:
            for name, content in contents().items():
                text = set_value(text, (*path, name), content)
    return text


def _contents(scenario: Scenario) -> Iterator[tuple[Path, str, Callable[[], Mapping[str, str]]]]:
    """What files hold, as keys of the table that names one, with that table and the key by which it does.

    A recording is packed where somebody asks for it: a text that has the content already needs none.
    """
    for name, link in scenario.links.items():
        sides: tuple[tuple[LinkDirection, Path], ...] = (
            (link.forward, ("links", name)),
            (link.reverse, ("links", name, "reverse")),
        )
        for side, path in sides:
            if side.trace is not None:
                yield (*path, "rate"), "trace", partial(_rates, side.trace)
            if side.delay_trace is not None:
                yield (*path, "delay"), "trace", partial(_delays, side.delay_trace)
    for script in scenario.scripts:
        yield (SCRIPT_SECTIONS[script.kind], script.name), "script", partial(_script, script)


def _rates(trace: DeliveryTrace) -> Mapping[str, str]:
    return {"content": _recorded(trace.times_ms)}


def _delays(trace: DelayTrace) -> Mapping[str, str]:
    return {
        "interval": format_quantity(trace.interval_s, Dimension.TIME),
        "unit": "us",
        "content": _recorded(trace.delays_us),
    }


def _script(script: ScriptFile) -> Mapping[str, str]:
    return {"content": Lines(script.text)}


def _recorded(numbers: Any) -> str:
    # Only scenarios with recordings load what it takes.
    from subflow_sim.recording import packed_text

    return packed_text(numbers)


def with_overrides(text: str, overrides: Sequence[str]) -> str:
    """The scenario text with overrides written into it; comments and layout stay wherever that is possible.

    Args:
        text: TOML.
        overrides: ``KEY=VALUE`` texts that the scenario reader has accepted for this text.

    Raises:
        TomlEditError: if the text is not TOML.
    """
    if not overrides:
        return text
    before, wanted = read_toml(text), read_toml(text)
    # The reader's own function decides what an override means, so that text and scenario cannot differ.
    overrides_of_file(wanted, overrides, Report("", dict, wanted))
    try:
        for path, value in _differences(before, wanted):
            text = set_value(text, path, value)
    except TomlEditError:
        # A place that cannot be edited alone: then the layout has to go, the values are what counts.

        return tomlkit.dumps(wanted)
    return text


def _differences(before: Any, wanted: Any, path: Path = ()) -> Iterator[tuple[Path, TomlValue]]:
    """The smallest places where two TOML trees differ, with the value wanted there; overrides never remove a key."""
    if isinstance(before, Mapping) and isinstance(wanted, Mapping):
        for key, value in wanted.items():
            if key not in before:
                yield (*path, key), value
            else:
                yield from _differences(before[key], value, (*path, key))
    elif isinstance(before, list) and isinstance(wanted, list) and len(before) == len(wanted):
        for index, (old, new) in enumerate(zip(before, wanted, strict=True)):
            yield from _differences(old, new, (*path, index))
    elif type(before) is not type(wanted) or before != wanted:
        yield path, wanted
