"""Problems of a script, with positions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from subflow_sim.errors import ParamError


@dataclass(frozen=True, slots=True)
class ScriptProblem:
    """An error in a script.

    Attributes:
        line: line number, from 1.
        column: column of the first character, from 1.
        end_column: column after the last character in that line.
        message: description of the error.
        allowed: acceptable alternatives, or a remedy; may be empty.
    """

    line: int
    column: int
    end_column: int
    message: str
    allowed: str

    def __str__(self) -> str:
        allowed = f"; allowed: {self.allowed}" if self.allowed else ""
        return f"line {self.line}, column {self.column}: {self.message}{allowed}"


class ScriptError(ParamError):
    """A script cannot be used.

    Attributes:
        problems: all errors, in the order of the text.
    """

    def __init__(self, problems: Sequence[ScriptProblem]) -> None:
        first = problems[0]
        super().__init__(f"line {first.line}, column {first.column}: {first.message}", first.allowed)
        self.problems: tuple[ScriptProblem, ...] = tuple(problems)


class Problems:
    """Collects the problems of a script."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self.found: list[ScriptProblem] = []

    def add(self, node: ast.AST, message: str, allowed: str = "") -> None:
        """Reports a problem at a node of the syntax tree; marks only the first line of a longer node."""
        line = getattr(node, "lineno", 1)
        start = self._column(line, getattr(node, "col_offset", 0))
        is_on_one_line = getattr(node, "end_lineno", line) == line
        end = self._column(line, getattr(node, "end_col_offset", 0)) if is_on_one_line else self._width(line) + 1
        self.add_at(line, start, max(end, start + 1), message, allowed)

    def add_at(self, line: int, column: int, end_column: int, message: str, allowed: str = "") -> None:
        """Reports a problem at a position, unless the position already has one."""
        if any((each.line, each.column) == (line, column) for each in self.found):
            return
        self.found.append(ScriptProblem(line, column, end_column, message, allowed))

    def raise_if_any(self) -> None:
        """Ends the compilation if any problem was reported.

        Raises:
            ScriptError: if any problem was reported; the error contains all of them in the order of the text.
        """
        if self.found:
            raise ScriptError(sorted(self.found, key=lambda each: (each.line, each.column)))

    def _column(self, line: int, byte: int) -> int:
        """A column counted in characters from 1; `ast` counts UTF-8 bytes from 0."""
        text = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
        return len(text.encode()[:byte].decode(errors="ignore")) + 1

    def _width(self, line: int) -> int:
        return len(self._lines[line - 1]) if 0 < line <= len(self._lines) else 0
