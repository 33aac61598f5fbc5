"""Collects what is wrong with a scenario while it is read, so that all of it is told at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from subflow_sim.errors import ParamError, Problem
from subflow_sim.parameter import Param, kind_name
from subflow_sim.plain_text import did_you_mean, either, on_one_line
from subflow_sim.toml_map import Path, dotted

OVERRIDES_FILE: Final = "--set"
"""What problems call the place of a value that came from the command line."""

_VALUE_CHARACTERS = 60
_ITEMS_SHOWN = 12


class Report:
    """The problems found so far, and what it takes to say where each one stands.

    Args:
        file: what problems call it.
        lines: finds the lines of all values; asked at the first problem, since most files have none.
        tree: what the file says.

    Attributes:
        problems: in the order in which they were found.
    """

    def __init__(self, file: str, lines: Callable[[], Mapping[Path, int]], tree: Mapping[str, Any]) -> None:
        self.problems: list[Problem] = []
        self._file = file
        self._find_lines = lines
        self._tree = tree
        self._overridden: set[Path] = set()

    def mark_overridden(self, path: Path) -> None:
        """Problems at or below this path are the command line's from now on, not the file's."""
        self._overridden.add(path)

    def is_overridden(self, path: Path) -> bool:
        """Whether the value at this path is the command line's."""
        return any(path[:length] in self._overridden for length in range(1, len(path) + 1))

    def add(self, path: Path, message: str, allowed: str = "") -> None:
        """Note a problem; the value shown is what the file has at `path`, if anything."""
        value = _look_up(self._tree, path)
        shown = "" if value is None else toml_text(value)
        if self.is_overridden(path):
            self.problems.append(Problem(OVERRIDES_FILE, None, dotted(path), shown, message, allowed))
        else:
            self.problems.append(Problem(self._file, self._line(path), dotted(path), shown, message, allowed))

    def add_override(self, key: str, value: str, message: str, allowed: str) -> None:
        """Note a problem of an override that could not be applied."""
        self.problems.append(Problem(OVERRIDES_FILE, None, key, value, message, allowed))

    def sorted_problems(self) -> list[Problem]:
        """All problems in the order of the file; those of the command line come last."""
        return sorted(self.problems, key=lambda problem: (problem.file == OVERRIDES_FILE, problem.line or 0))

    def read_value(self, path: Path, param: Param, value: object) -> tuple[bool, Any]:
        """Read one value: (True, SI value), or (False, None) after noting what is wrong with it."""
        try:
            return True, param.read(value)
        except ParamError as error:
            self.add(path, error.message, error.allowed)
            return False, None

    def expect_table(self, path: Path, value: object, header: str) -> dict[str, Any] | None:
        """The value if it is a table, else None after noting that it is not."""
        if isinstance(value, dict):
            return value
        self.add(path, f"this is {kind_name(value)}, not a table", header)
        return None

    def tables(self, name: str) -> Iterator[tuple[Path, dict[str, Any]]]:
        """The tables `[[name]]` of the file with their places; what is none is noted and left out."""
        written = self._tree.get(name, [])
        if not isinstance(written, list):
            self.add((name,), f"this is {kind_name(written)}, not an array of tables", f"[[{name}]]")
            return
        for number, table in enumerate(written):
            found = self.expect_table((name, number), table, f"[[{name}]]")
            if found is not None:
                yield (name, number), found

    def names(self, path: Path, value: object) -> tuple[str, ...]:
        """The value if it is a list of texts, else nothing after noting that it is not."""
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        self.add(path, f"this is {kind_name(value)}", "a list of texts in quotes")
        return ()

    def check_names(self, path: Path, names: Iterable[str], what: str, known: Iterable[str]) -> None:
        """Note each name that nothing has."""
        listed = list(known)
        for name in names:
            if name not in listed:
                self.add(path, f'unknown {what} "{name}"{did_you_mean(name, listed)}', either(listed))

    def unknown_key(self, path: Path, known: Iterable[str]) -> None:
        """Note a key that means nothing."""
        names = list(known)
        self.add(path, f"unknown key{did_you_mean(str(path[-1]), names)}", either(names))

    @cached_property
    def _lines(self) -> Mapping[Path, int]:
        return self._find_lines()

    def _line(self, path: Path) -> int | None:
        """The line of the value, or of the innermost table around it that has one."""
        for length in range(len(path), 0, -1):
            line = self._lines.get(path[:length])
            if line is not None:
                return line
        return None


def toml_text(value: object) -> str:
    """A value about as it stands in a file, on one line, shortened, with control characters made harmless."""
    text = _toml_text(value)
    return text if len(text) <= _VALUE_CHARACTERS else text[: _VALUE_CHARACTERS - 1] + "…"


def _toml_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        is_long = len(value) > _VALUE_CHARACTERS
        # Of a script or the like, the first line tells which it is.
        begun = value[: _VALUE_CHARACTERS + 1].partition("\n")[0] + "…" if is_long and "\n" in value else value
        shown = on_one_line(begun[: _VALUE_CHARACTERS + 1].replace("\\", "\\\\").replace('"', '\\"'))
        return f'"{shown}' if is_long else f'"{shown}"'
    if isinstance(value, list):
        return f"[{', '.join(_toml_text(item) for item in value[:_ITEMS_SHOWN])}{_more(value)}]"
    if isinstance(value, dict):
        items = list(value.items())[:_ITEMS_SHOWN]
        return f"{{{', '.join(f'{dotted((key,))} = {_toml_text(item)}' for key, item in items)}{_more(value)}}}"
    if isinstance(value, int) and abs(value) > 10**_VALUE_CHARACTERS:
        return ("-" if value < 0 else "") + "9999…"  # so large that printing it would cost time
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
