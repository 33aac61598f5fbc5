"""Reads one table of a scenario file by the declaration of its keys, and what all sections need for that."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, TypeAlias

from subflow_sim.errors import ParamError
from subflow_sim.parameter import MAX_NAME_LENGTH, NAME_PATTERN, Param, with_article
from subflow_sim.params import AlgorithmCatalog
from subflow_sim.plain_text import did_you_mean, either
from subflow_sim.report import Report
from subflow_sim.scenario_model import Node
from subflow_sim.toml_map import Path
from subflow_sim.units import Dimension, format_quantity

_NAME = re.compile(NAME_PATTERN)

Special: TypeAlias = Callable[[Path, object], Any]
"""Reads a value that is more than its `Param` says. Raises `Noted` once its problems are in the report."""


class Noted(Exception):  # noqa: N818 - not an error by itself: the problem is in the report already
    """A value is unusable, and the report says so."""


@dataclass(frozen=True, slots=True)
class Context:
    """What the sections are checked against.

    Attributes:
        report: gets the problems.
        nodes: by name.
        duration_s: of the run; None if the file does not tell.
        mss_bytes: payload of a full packet; None likewise.
        algorithms: controllers and schedulers that may be named.
        profile: transport profile, which decides some defaults.
        folder: of the scenario file, where the files it names are; None if it is not a file.
        broken: names of scripts that are not usable, by kind; the report says enough of them already.
    """

    report: Report
    nodes: Mapping[str, Node]
    duration_s: float | None
    mss_bytes: int | None
    algorithms: AlgorithmCatalog
    profile: str
    folder: FilePath | None = None
    broken: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def check_time(self, path: Path, time_s: float | None) -> None:
        """Note a time after the end of the run. The end itself is within the run: late, but it comes."""
        if time_s is not None and self.duration_s is not None and time_s > self.duration_s:
            end = format_quantity(self.duration_s, Dimension.TIME)
            self.report.add(path, "after the end of the run, so it would never happen", f'a time up to "{end}"')

    def check_name(self, path: Path, name: str, kind: str, known: Mapping[str, object]) -> bool:
        """Note a name that nothing has; True if something has it."""
        if name in known:
            return True
        names = list(known)
        self.report.add(path, f'unknown {kind} "{name}"{did_you_mean(name, names)}', either(names))
        return False


def named_tables(
    report: Report, tree: Mapping[str, Any], section: str, *, required: bool = True
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The usable tables of `[nodes.NAME]` and the like, one by one."""
    header = f"[{section}.NAME]"
    if section not in tree:
        if required:
            report.add((section,), "missing", f"at least one table {header}")
        return
    tables = report.expect_table((section,), tree[section], f"tables {header}")
    if tables is None:
        return
    if not tables and required:
        report.add((section,), "empty", f"at least one table {header}")
    for name, table in tables.items():
        if not _NAME.fullmatch(name) or len(name) > MAX_NAME_LENGTH:
            allowed = f"letters, digits, - and _, at most {MAX_NAME_LENGTH} characters"
            report.add((section, name), "not a name", allowed)
        checked = report.expect_table((section, name), table, f"a table [{section}.{name}]")
        if checked is not None:
            yield name, checked


def read_section(
    report: Report,
    path: Path,
    table: Mapping[str, Any],
    params: Sequence[Param],
    *,
    kind: str | None = None,
    noun: str = "",
    partial: bool = False,
    specials: Mapping[str, Special] | None = None,
    also_known: Sequence[str] = (),
) -> dict[str, Any]:
    """Read the keys of a table.

    Args:
        report: gets the problems.
        path: of the table.
        table: as parsed.
        params: declaration of its keys.
        kind: which of the keys apply; None: the file does not tell, so none that depends on it is missing.
        noun: what such a table is called where keys of another kind are refused, e.g. "flow".
        partial: the table only overrides another one: nothing is missing from it and no default applies.
        specials: readers for keys whose values are more than their `Param` says.
        also_known: further keys that are read elsewhere.

    Returns:
        SI values by key: those given and valid, and the defaults of those left out. A key whose value is not usable is
        absent.
    """
    values: dict[str, Any] = {}
    for param in params:
        place = (*path, param.key)
        if param.key not in table:
            if partial or (param.applies_to and kind not in param.applies_to):
                continue
            if param.required:
                report.add(place, "missing", param.allowed_text())
            else:
                values[param.key] = param.default
        elif kind is not None and param.applies_to and kind not in param.applies_to:
            report.add(place, f"{with_article(kind)} {noun} has no {param.key}", f"only for {either(param.applies_to)}")
        else:
            try:
                special = (specials or {}).get(param.key)
                value = table[param.key]
                values[param.key] = special(place, value) if special else read_value(report, place, param, value)
            except Noted:
                pass
    known = [*(param.key for param in params), *also_known]
    for key in table:
        if key not in known:
            relevant = [param.key for param in params if not param.applies_to or kind in (None, *param.applies_to)]
            report.unknown_key((*path, key), [*relevant, *also_known])
    return values


def read_value(report: Report, path: Path, param: Param, value: object) -> Any:
    """Read one value.

    Raises:
        Noted: if it is not allowed.
    """
    try:
        return param.read(value)
    except ParamError as error:
        report.add(path, error.message, error.allowed)
        raise Noted from error
