"""A scenario ready to run, together with TOML text that describes the same scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomlkit

from subflow_app.features.catalog.core.uses import Use, policies_of, read_scenario, scenario_at
from subflow_app.features.editor.core.algorithm_choices import KINDS, replaced_text, value_text
from subflow_app.foundation.resources import find_scenario
from subflow_app.foundation.toml_edit import Lines, TomlEditError, TomlValue, plain, read_toml, set_value
from subflow_sim.overrides import apply_overrides as overrides_of_file
from subflow_sim.params import SCRIPT_SECTIONS
from subflow_sim.policy_library import SUFFIX as POLICY_SUFFIX
from subflow_sim.policy_library import shipped_policies
from subflow_sim.scenario import DelayTrace, DeliveryTrace, LinkDirection, LossTrace, Scenario, read_scenario_text
from subflow_sim.scenario_model import ScriptFile
from subflow_sim.section_reader import Report
from subflow_sim.toml_map import Path as Place
from subflow_sim.units import Dimension, format_quantity

if TYPE_CHECKING:
    from subflow_app.features.editor.core.scenario_doc import ScenarioDoc


@dataclass(frozen=True, slots=True)
class ScenarioSource:
    """A scenario and its TOML text.

    Attributes:
        scenario: scenario to simulate.
        text: TOML that parses to exactly this scenario, including overrides; the store keeps it with the run.
        use: purpose of reading the scenario.
        replaced: warnings about controllers and schedulers whose options were lost to an override.
    """

    scenario: Scenario
    text: str
    use: Use
    replaced: tuple[str, ...] = ()


def open_scenario(
    name_or_path: str, *, use: Use = Use.RUN, overrides: Sequence[str] = (), seed: int | None = None
) -> ScenarioSource:
    """Read a scenario file, or a shipped scenario by name.

    Args:
        name_or_path: the user's input.
        use: purpose of reading the scenario.
        overrides: ``KEY=VALUE`` strings with a dotted scenario key, applied in order.
        seed: seed to use instead of the file's; None to keep the file's.

    Raises:
        InputError: if neither a file nor a shipped scenario matches.
        ScenarioError: if the file or the overrides have problems; it lists all of them.
    """
    path = find_scenario(name_or_path)
    changes = [*overrides, *([] if seed is None else [f"seed={seed}"])]
    scenario = scenario_at(use, path, changes)
    text = read_scenario_text(path)
    changed = with_overrides(text, changes)
    replaced = replaced_options(text, changed) if overrides else ()
    return ScenarioSource(scenario, with_contents(changed, scenario), use, tuple(replaced))


def replaced_options(text: str, changed: str) -> Iterator[str]:
    """Yield a warning for each controller or scheduler that loses its options in the changed text."""
    before, after = read_toml(text).get("flows", {}), read_toml(changed).get("flows", {})
    for name, flow in before.items():
        for kind in KINDS:
            own, other = flow.get(kind), after.get(name, {}).get(kind)
            if (
                isinstance(own, Mapping)
                and len(own) > 1
                and not own.keys() <= set(other if isinstance(other, dict) else ())
            ):
                yield replaced_text(f"flows.{name}.{kind}", [value_text(plain(other))], plain(own))


def source_of(
    use: Use, text: str, *, file: str = "<scenario>", overrides: Sequence[str] = (), folder: Path | None = None
) -> ScenarioSource:
    """Read the text of a scenario.

    Args:
        use: purpose of reading the scenario.
        text: TOML.
        file: name of the file in messages.
        overrides: ``KEY=VALUE`` strings.
        folder: folder of the files that the text refers to; None if it refers to no files.

    Raises:
        ScenarioError: if the text or the overrides have problems; it lists all of them.
    """
    scenario = read_scenario(use, text, file=file, overrides=overrides, folder=folder)
    return ScenarioSource(scenario, with_contents(with_overrides(text, overrides), scenario), use)


def source_of_document(use: Use, doc: ScenarioDoc) -> ScenarioSource | None:
    """Return the scenario of an open document, ready to run; None while the document has problems.

    Args:
        use: purpose of reading the scenario.
        doc: the document.
    """
    if doc.scenario is None:
        return None
    return ScenarioSource(doc.scenario, with_contents(doc.text, doc.scenario), use)


def with_contents(text: str, scenario: Scenario, *, has_library: bool = True) -> str:
    """Embed the recordings and scripts of a scenario into its text, and replace names of policies by paths.

    The result has the same meaning in any folder on this computer.

    Args:
        text: TOML that parses to the scenario.
        scenario: the parsed scenario, with the files read.
        has_library: whether readers of the text find the user's own policies by name. If not, the paths of these
            policies are written.
    """
    text = with_policies(text, _policy_paths(scenario, has_library=has_library))
    for path, key, contents in _contents(scenario):
        table: Any = read_toml(text)
        for step in path:
            table = table.get(step, {}) if isinstance(table, Mapping) else {}
        # If the reverse direction sets no rate, it uses the forward direction's rate and lacks this table.
        if isinstance(table, Mapping) and key in table and "content" not in table:
            for name, content in contents().items():
                text = set_value(text, (*path, name), content)
    return text


def with_policies(text: str, names: Mapping[str, str]) -> str:
    """Return the scenario text with policies renamed.

    Args:
        text: TOML.
        names: mapping from current to new names.
    """
    if not any(name != new for name, new in names.items()):
        return text
    for path, value in _policy_keys(read_toml(text)):
        if names.get(value, value) != value:
            text = set_value(text, path, names[value])
    return text


def _policy_paths(scenario: Scenario, *, has_library: bool) -> dict[str, str]:
    """Map the names of a scenario's policies to their paths, except policies that a reader finds by name."""
    found = {}
    for _flow, policy in policies_of(scenario):
        path = policy.path
        if path is None:
            continue
        is_file = policy.name.endswith(POLICY_SUFFIX)
        if is_file or not (has_library or path.parent == shipped_policies()):
            found[policy.name] = str(path)
    return found


def _policy_keys(tree: Any, path: Place = ()) -> Iterator[tuple[Place, str]]:
    """Yield the path and value of each `policy` key in a parsed text."""
    entries: Sequence[tuple[Any, Any]] = ()
    if isinstance(tree, Mapping):
        entries = list(tree.items())
    elif isinstance(tree, list):
        entries = list(enumerate(tree))
    for key, value in entries:
        if key == "policy" and isinstance(value, str):
            yield (*path, key), str(value)
        else:
            yield from _policy_keys(value, (*path, key))


def _contents(scenario: Scenario) -> Iterator[tuple[Place, str, Callable[[], Mapping[str, str]]]]:
    """For each file that the scenario refers to, yield the path of the table, the key of the file name, and a function.

    The function returns the entries to embed. It is called only if the text does not contain the file yet, because
    packing a recording takes time.
    """
    for name, link in scenario.links.items():
        sides: tuple[tuple[LinkDirection, Place], ...] = (
            (link.forward, ("links", name)),
            (link.reverse, ("links", name, "reverse")),
        )
        for side, path in sides:
            if side.trace is not None:
                yield (*path, "rate"), "trace", partial(_rates, side.trace)
            if side.delay_trace is not None:
                yield (*path, "delay"), "trace", partial(_delays, side.delay_trace)
            if side.loss_trace is not None:
                yield (*path, "loss"), "trace", partial(_losses, side.loss_trace)
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


def _losses(trace: LossTrace) -> Mapping[str, str]:
    return {"content": trace.text}


def _script(script: ScriptFile) -> Mapping[str, str]:
    return {"content": Lines(script.text)}


def _recorded(numbers: Any) -> str:
    # Imported here, so that only scenarios with recordings load the module.
    from subflow_sim.recording import packed_text

    return packed_text(numbers)


def with_overrides(text: str, overrides: Sequence[str]) -> str:
    """Write overrides into the scenario text, keeping comments and layout where possible.

    Args:
        text: TOML.
        overrides: ``KEY=VALUE`` strings that the scenario reader has accepted for this text.

    Raises:
        TomlEditError: if the text is not TOML.
    """
    if not overrides:
        return text
    before, wanted = read_toml(text), read_toml(text)
    # The scenario reader applies overrides with the same function, so text and scenario cannot differ.
    overrides_of_file(wanted, overrides, Report("", dict, wanted))
    try:
        for path, value in _differences(before, wanted):
            text = set_value(text, path, value)
    except TomlEditError:
        # If a value cannot be edited in place, write all values anew and lose comments and layout.

        return tomlkit.dumps(wanted)
    return text


def _differences(before: Any, wanted: Any, path: Place = ()) -> Iterator[tuple[Place, TomlValue]]:
    """Yield the smallest differences between two TOML trees: paths with the wanted values.

    A table that loses a key is replaced as a whole.
    """
    if isinstance(before, Mapping) and isinstance(wanted, Mapping) and before.keys() <= wanted.keys():
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
