"""Reads the tables of a TOML file by the declarations of their keys, and collects all problems."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, Final, TypeAlias

from subflow_sim.errors import ParamError, Problem
from subflow_sim.parameter import MAX_NAME_LENGTH, NAME_PATTERN, Param, kind_name, with_article
from subflow_sim.params import AlgorithmCatalog
from subflow_sim.plain_text import did_you_mean, either, on_one_line
from subflow_sim.scenario_model import Node
from subflow_sim.toml_map import Path, dotted
from subflow_sim.units import Dimension, format_quantity

OVERRIDES_FILE: Final = "--set"
"""File name in problems of values from the command line."""

_VALUE_CHARACTERS = 60
_ITEMS_SHOWN = 12


class Report:
    """The problems found so far, with their positions in the file.

    Args:
        file: file name in problems.
        lines: returns the lines of all values; called only at the first problem, because most files have no problems.
        tree: the parsed file.

    Attributes:
        problems: problems in the order of their discovery.
    """

    def __init__(self, file: str, lines: Callable[[], Mapping[Path, int]], tree: Mapping[str, Any]) -> None:
        self.problems: list[Problem] = []
        self._file = file
        self._find_lines = lines
        self._tree = tree
        self._overridden: set[Path] = set()

    def mark_overridden(self, path: Path) -> None:
        """Attributes problems at or below this path to the command line instead of the file."""
        self._overridden.add(path)

    def is_overridden(self, path: Path) -> bool:
        """True if the value at this path came from the command line."""
        return any(path[:length] in self._overridden for length in range(1, len(path) + 1))

    def add(self, path: Path, message: str, allowed: str = "") -> None:
        """Reports a problem, with the file's value at `path` if present."""
        value = _look_up(self._tree, path)
        shown = "" if value is None else toml_text(value)
        if self.is_overridden(path):
            self.problems.append(Problem(OVERRIDES_FILE, None, dotted(path), shown, message, allowed))
        else:
            self.problems.append(Problem(self._file, self._line(path), dotted(path), shown, message, allowed))

    def add_override(self, key: str, value: str, message: str, allowed: str) -> None:
        """Reports a problem of an override that cannot be applied."""
        self.problems.append(Problem(OVERRIDES_FILE, None, key, value, message, allowed))

    def sorted_problems(self) -> list[Problem]:
        """All problems in the order of the file; problems of the command line come last."""
        return sorted(self.problems, key=lambda problem: (problem.file == OVERRIDES_FILE, problem.line or 0))

    def expect_table(self, path: Path, value: object, header: str) -> dict[str, Any] | None:
        """The value if it is a table, otherwise None after reporting a problem."""
        if isinstance(value, dict):
            return value
        self.add(path, f"this is {kind_name(value)}, not a table", header)
        return None

    def tables(self, name: str) -> Iterator[tuple[Path, dict[str, Any]]]:
        """The tables `[[name]]` of the file with their paths; other values are reported and omitted."""
        written = self._tree.get(name, [])
        if not isinstance(written, list):
            self.add((name,), f"this is {kind_name(written)}, not an array of tables", f"[[{name}]]")
            return
        for number, table in enumerate(written):
            found = self.expect_table((name, number), table, f"[[{name}]]")
            if found is not None:
                yield (name, number), found

    def names(self, path: Path, value: object) -> tuple[str, ...]:
        """The value if it is a list of strings, otherwise an empty tuple after reporting a problem."""
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        self.add(path, f"this is {kind_name(value)}", "a list of texts in quotes")
        return ()

    def check_names(self, path: Path, names: Iterable[str], what: str, known: Iterable[str]) -> None:
        """Reports each unknown name."""
        listed = list(known)
        for name in names:
            if name not in listed:
                self.add(path, f'unknown {what} "{name}"{did_you_mean(name, listed)}', either(listed))

    def unknown_key(self, path: Path, known: Iterable[str]) -> None:
        """Reports an unknown key, with a suggestion from the known keys."""
        names = list(known)
        self.add(path, f"unknown key{did_you_mean(str(path[-1]), names)}", either(names))

    @cached_property
    def _lines(self) -> Mapping[Path, int]:
        return self._find_lines()

    def _line(self, path: Path) -> int | None:
        """The line of the value, or of the innermost enclosing table with a known line."""
        for length in range(len(path), 0, -1):
            line = self._lines.get(path[:length])
            if line is not None:
                return line
        return None


def toml_text(value: object) -> str:
    """A value on one line in approximate TOML notation, shortened, with control characters escaped."""
    text = _toml_text(value)
    return text if len(text) <= _VALUE_CHARACTERS else text[: _VALUE_CHARACTERS - 1] + "…"


def _toml_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        is_long = len(value) > _VALUE_CHARACTERS
        # Long strings, for example scripts, are identified by their first line.
        begun = value[: _VALUE_CHARACTERS + 1].partition("\n")[0] + "…" if is_long and "\n" in value else value
        shown = on_one_line(begun[: _VALUE_CHARACTERS + 1].replace("\\", "\\\\").replace('"', '\\"'))
        return f'"{shown}' if is_long else f'"{shown}"'
    if isinstance(value, list):
        return f"[{', '.join(_toml_text(item) for item in value[:_ITEMS_SHOWN])}{_more(value)}]"
    if isinstance(value, dict):
        items = list(value.items())[:_ITEMS_SHOWN]
        return f"{{{', '.join(f'{dotted((key,))} = {_toml_text(item)}' for key, item in items)}{_more(value)}}}"
    if isinstance(value, int) and abs(value) > 10**_VALUE_CHARACTERS:
        return ("-" if value < 0 else "") + "9999…"  # so large that printing it would take long
    return str(value)


def _more(items: list[Any] | dict[str, Any]) -> str:
    return ", …" if len(items) > _ITEMS_SHOWN else ""


def _look_up(tree: Mapping[str, Any], path: Path) -> object:
    here: Any = tree
    for step in path:
        try:
            here = here[step]
        except (LookupError, TypeError):
            return None
    return here


_NAME = re.compile(NAME_PATTERN)

Special: TypeAlias = Callable[[Path, object], Any]
"""Reader of a value that its `Param` cannot describe. Raises `Noted` after reporting problems."""


class Noted(Exception):  # noqa: N818 - not an error itself: the problem is already reported
    """A value is unusable, and its problem is already reported."""


@dataclass(frozen=True, slots=True)
class Context:
    """Inputs for the checks of the sections.

    Attributes:
        report: receives the problems.
        nodes: nodes by name.
        duration_s: duration of the run, s; None if unknown.
        mss_bytes: payload of a full packet; None if unknown.
        algorithms: available controllers and schedulers.
        profile: transport profile, which determines some defaults.
        folder: folder of the scenario file and of referenced files; None without a file.
        broken: names of unusable scripts, by kind, whose problems are already reported.
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
        """Reports a time after the end of the run; the end itself is allowed."""
        if time_s is not None and self.duration_s is not None and time_s > self.duration_s:
            end = format_quantity(self.duration_s, Dimension.TIME)
            self.report.add(path, "after the end of the run, so it would never happen", f'a time up to "{end}"')

    def check_name(self, path: Path, name: str, kind: str, known: Mapping[str, object]) -> bool:
        """True if the name is known; reports an unknown name."""
        if name in known:
            return True
        names = list(known)
        self.report.add(path, f'unknown {kind} "{name}"{did_you_mean(name, names)}', either(names))
        return False


def named_tables(
    report: Report, tree: Mapping[str, Any], section: str, *, required: bool = True
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tables of a section such as `[nodes.NAME]`, one by one.

    Reports invalid names, values that are not tables, and a required section that is missing or empty.
    """
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
    """Reads the keys of a table.

    Args:
        report: receives the problems.
        path: path of the table.
        table: parsed table.
        params: declarations of the keys.
        kind: kind of the table, which determines the applicable keys; None if unknown, which makes keys of certain
            kinds optional.
        noun: name of the table in messages about keys of another kind, e.g. "flow".
        partial: whether the table only overrides another table: no key is missing, and no default applies.
        specials: readers for keys whose values their `Param` cannot describe.
        also_known: further keys that are read elsewhere.

    Returns:
        SI values by key: the valid given values, and the defaults of omitted keys. Keys with unusable values are
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


def model_values(params: Iterable[Param], values: Mapping[str, Any]) -> dict[str, Any]:
    """Usable values of a table, by their names in the model; infinity becomes None, which means unlimited."""
    return {
        param.attribute: None if values[param.key] == math.inf else values[param.key]
        for param in params
        if param.key in values
    }


def read_value(report: Report, path: Path, param: Param, value: object) -> Any:
    """Reads one value.

    Raises:
        Noted: if the value is not allowed; the report then contains the problem.
    """
    try:
        return param.read(value)
    except ParamError as error:
        report.add(path, error.message, error.allowed)
        raise Noted from error
