"""Commands that list controllers, schedulers and shipped scenarios, and print the schema of the file format."""

from __future__ import annotations

import math
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from subflow_app.foundation.errors import InputError
from subflow_app.foundation.json_document import fields
from subflow_app.foundation.resources import find_scenario, scenario_names, way_on
from subflow_app.terminal.options import Json
from subflow_app.terminal.terminal import print_json, print_line, print_list, print_rows, print_tables
from subflow_app.vocabulary.number_text import NOTHING
from subflow_app.vocabulary.tables import Column, TextTable
from subflow_sim.units import Dimension

if TYPE_CHECKING:
    from subflow_sim.params import Algorithm, Param
    from subflow_sim.scenario_model import ScriptKind


def scenarios(as_json: Json = False) -> None:
    """List the shipped scenarios; `subflow run NAME` runs one."""
    from subflow_app.features.catalog.core.uses import Use, scenario_at

    found = [(name, find_scenario(name)) for name in scenario_names()]
    documents = [
        {"name": name, "title": scenario_at(Use.TEMPLATE, path).name, "path": str(path)} for name, path in found
    ]
    columns: tuple[Column[dict[str, str]], ...] = (
        Column("Name", itemgetter("name")),
        Column("Title", itemgetter("title")),
    )
    print_list(documents, columns, dict, as_json=as_json)


def schema() -> None:
    """Print the JSON Schema of scenario files."""
    from subflow_sim.scenario import scenario_schema

    print_json(scenario_schema())


def show_algorithms(kind: ScriptKind, name: str | None, *, as_json: bool) -> None:
    """List the controllers or schedulers, including those shipped as scripts, or describe one.

    Raises:
        InputError: if the name is unknown.
    """
    from subflow_sim.catalog import catalog
    from subflow_sim.script_reader import shipped_algorithms

    built_in = catalog().controllers if kind == "controller" else catalog().schedulers
    scripts = shipped_algorithms(kind)
    if name is None and as_json:
        print_json([_algorithm_document(each) for each in (*built_in, *scripts)])
    elif name is None:
        tables = [TextTable.of(built_in, _ALGORITHM_COLUMNS)]
        if scripts:
            title = f'Scripts, for [{kind}s.NAME] with script = "..." in a scenario:'
            tables.append(TextTable.of(scripts, _ALGORITHM_COLUMNS, title))
        print_tables(*tables)
    else:
        chosen = next((each for each in (*built_in, *scripts) if each.name == name), None)
        if chosen is None:
            names = list(dict.fromkeys(each.name for each in (*built_in, *scripts)))
            listed = f"allowed: {', '.join(names)}"
            raise InputError(f'unknown {kind} "{name}"; {way_on(name, names, listed)}')
        if as_json:
            print_json(_algorithm_document(chosen))
        else:
            _print_one(chosen, f"flows.x.{kind}")
            for each in scripts:
                if each.name == name:
                    _print_text(each)


def _print_one(algorithm: Algorithm, key: str) -> None:
    print_line(f"{algorithm.name}: {algorithm.summary}")
    if algorithm.source:
        print_line(f"Source: {algorithm.source}")
    if algorithm.options:
        print_line(f"Options, for `subflow run --set {key}.OPTION=VALUE`:")
        print_line()
        print_rows(algorithm.options, _OPTION_COLUMNS)
    else:
        print_line("It has no options.")
    if algorithm.rules and algorithm.script is None:
        _print_rules(algorithm)


def _print_text(algorithm: Algorithm) -> None:
    assert algorithm.script is not None
    print_line()
    print_line(f'Script, which a scenario uses by script = "{algorithm.name}":')
    print_line()
    print_line(algorithm.script.text.rstrip("\n"))


def _print_rules(algorithm: Algorithm) -> None:
    """Prints a paragraph for each rule, because formulas are too long for a table."""
    print_line()
    print_line("Rules it decides by (`subflow run --decisions` records them, `subflow explain` shows them):")
    for rule in algorithm.rules:
        print_line(f"  {rule.name}: {rule.formula}")
        if rule.source:
            print_line(f"    Source: {rule.source}")
        if rule.numbers:
            print_line(f"    Numbers: {', '.join(rule.numbers)}")


def _default_text(option: Param) -> str:
    """The default value, followed by the default in the textbook profile if the two differ."""
    default, textbook = (option.format(option.default_in(profile)) for profile in ("linux", "textbook"))
    return default if default == textbook else f"{default} (textbook: {textbook})"


def _meaning(option: Param) -> str:
    """Help of an option, preceded by the bases to which the option applies, unless it applies to all."""
    return f"With {' or '.join(option.applies_to)}: {option.help}" if option.applies_to else option.help


def _range_text(option: Param) -> str:
    """Allowed values of an option, e.g. ``0 … 1`` or ``reno, cubic``; empty if any value is allowed."""
    if option.dimension is Dimension.FLAG:
        return "true, false"
    if option.dimension is Dimension.POLICY:
        return "neutral, random, NAME, FILE.safetensors"
    if option.choices:
        return ", ".join(option.choices)
    low = None if option.minimum is None or math.isinf(option.minimum) else option.format(option.minimum)
    high = None if option.maximum is None or math.isinf(option.maximum) else option.format(option.maximum)
    if low is not None and high is not None:
        return f"{low} … {high}"
    if low is not None:
        return f"{'greater than' if option.exclusive_minimum else 'at least'} {low}"
    return f"at most {high}" if high is not None else ""


_ALGORITHM_COLUMNS: tuple[Column[Algorithm], ...] = (
    Column("Name", lambda each: each.name),
    Column("Description", lambda each: each.summary),
    Column("Options", lambda each: ", ".join(option.key for option in each.options) or NOTHING),
)
_OPTION_COLUMNS: tuple[Column[Param], ...] = (
    Column("Option", lambda option: option.key),
    Column("Unit", lambda option: option.unit),
    Column("Range", _range_text),
    Column("Default", _default_text),
    Column("Meaning", _meaning),
)


def _algorithm_document(algorithm: Algorithm) -> dict[str, Any]:
    return {
        **fields(algorithm, "name", "summary", "source", "scheduler"),
        "options": [
            {
                "name": option.key,
                "kind": option.dimension.value,
                **fields(option, "unit", "minimum", "maximum", "choices", "default"),
                "textbook_default": option.default_in("textbook"),
                "bases": list(option.applies_to),
                "help": option.help,
            }
            for option in algorithm.options
        ],
        "script": None if algorithm.script is None else algorithm.script.text,
        "rules": [fields(rule, "name", "formula", "source", "numbers") for rule in algorithm.rules],
    }
