"""Converts the text of a scenario file to a `Scenario`, including its `[training]` block."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_sim.errors import Problem, ScenarioError
from subflow_sim.gate import toml_tree
from subflow_sim.link_reader import with_trace_contents
from subflow_sim.overrides import apply_overrides
from subflow_sim.params import AlgorithmCatalog
from subflow_sim.scenario_reader import read_tree
from subflow_sim.script_reader import with_script_contents
from subflow_sim.section_reader import Report
from subflow_sim.toml_map import toml_lines
from subflow_sim.whole_scenario import Scenario

if TYPE_CHECKING:
    from subflow_sim.training_model import Training


def read_scenario(
    text: str,
    *,
    file: str,
    overrides: Sequence[str],
    algorithms: AlgorithmCatalog,
    folder: Path | None = None,
    tree: dict[str, Any] | None = None,
) -> Scenario:
    """Implementation of `subflow_sim.scenario.parse_scenario`.

    Raises:
        ScenarioError: if the text has problems; the error contains all of them in the order of the file.
    """
    text = text.removeprefix("\ufeff")  # some editors write a byte order mark, which TOML does not allow
    if tree is None:
        tree = _parse_toml(text, file)
    report = Report(file, partial(toml_lines, text), tree)
    apply_overrides(tree, overrides, report)
    scenario = read_tree(tree, file, report, algorithms, folder)
    if "training" in tree and not report.problems:
        scenario = replace(scenario, training=_read_training(tree, file, report, algorithms, folder))
    if report.problems:
        raise ScenarioError(report.sorted_problems())
    return scenario


def _read_training(
    tree: Mapping[str, Any], file: str, report: Report, algorithms: AlgorithmCatalog, folder: Path | None
) -> Training | None:
    """The `[training]` block of a valid scenario; None after reporting problems."""
    # Imported here, because scenarios without the block do not need these modules.
    from subflow_sim.training_model import Template
    from subflow_sim.training_reader import read_training
    from subflow_sim.training_trials import try_extremes

    others = {key: value for key, value in tree.items() if key != "training"}
    whole = with_script_contents(with_trace_contents(others, folder), folder)
    template = Template(file, whole, algorithms, folder)
    reading = read_training(report, template, tree["training"])
    if reading is None:
        return None
    training, places = reading
    try_extremes(training, places, report)
    return training


def _parse_toml(text: str, file: str) -> dict[str, Any]:
    try:
        return toml_tree(text)
    except ValueError as error:
        message, line = str(error), None
        match = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z", message)
        if match is not None:
            message = message[: match.start()]
            line = int(match[1]) if match[1] else text.rstrip().count("\n") + 1
            message += f" (column {match[2]})" if match[2] else " at the end of the file"
        problem = Problem(file, line, "", "", f"not valid TOML: {message[:1].lower()}{message[1:]}", "")
        raise ScenarioError([problem]) from error
