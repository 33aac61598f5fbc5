"""The lines of a script that were executed in a decision, with the values they used."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

_NAME = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*(?![\w.]*\()")
_STATEMENT = re.compile(r"(.+?)\s*(//|\*\*|[-+*/%])?=(?!=)\s*(.+)")


@dataclass(frozen=True, slots=True)
class Step:
    """A recorded value of a script: a read value or the result of an executed line.

    Attributes:
        kind: "begin" (an initial value of the function), "read", "set", "if" (condition, 1: true), "call" or "return".
        line: line of the script, from 1.
        name: expression with this value: "w.cwnd", "ack.acked", "w.cwnd < w.ssthresh".
        source: text in the script; for an assignment the whole statement.
        value: the value; may be meaningless for `return`.
    """

    kind: str
    line: int
    name: str
    source: str
    value: float


@dataclass(frozen=True, slots=True)
class ExecutedLine:
    """An executed line of a script as displayed text.

    Attributes:
        line: line number, from 1.
        source: text of the line in the script.
        filled: the computed expression with values in place of names; the source if it contains no names.
        result: result of the expression: "= 12.5", "yes", "no"; empty for a return.
        position: position of the line's last step in the record, from 0.
    """

    line: int
    source: str
    filled: str
    result: str
    position: int

    @property
    def text(self) -> str:
        """The line as one text: "w.cwnd += left / w.cwnd: 12.5 + (1 / 12.5) = 12.58"."""
        if self.source.endswith(f" {self.result}"):  # a literal in the script already shows the value
            return self.source
        says_more = self.filled not in (self.source, self.result.removeprefix("= "))
        parts = [self.source, self.filled] if says_more else [self.source]
        return f"{': '.join(parts)}{' ' if self.result else ''}{self.result}"


@dataclass(frozen=True, slots=True)
class Program:
    """A script in the version that a run executed.

    Attributes:
        name: name in the scenario.
        text: source text.
        notes: descriptions of steps, by number from 1: kind, name, source and line.
    """

    name: str
    text: str
    notes: tuple[tuple[str, str, str, int], ...]

    def step(self, note: int, value: float) -> Step:
        """The recorded step with this note and value."""
        kind, name, source, line = self.notes[note - 1]
        return Step(kind, line, name, source, value)

    def parameters(self, hook: str) -> Mapping[str, str]:
        """The parameter names of a function of the script, by their names in steps: "w", "ack"."""
        return _parameters(self.text, hook)


@cache
def _parameters(text: str, hook: str) -> Mapping[str, str]:
    from subflow_sim.script.vocabulary import HOOKS  # imported here, because only runs with scripts need the compiler

    kinds = [kind for each in HOOKS if each.name == hook for _name, kind in each.parameters]
    functions = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == hook)
    return {kind: given.arg for node in functions for kind, given in zip(kinds, node.args.args, strict=False)}


def executed_lines(steps: Iterable[Step], parameters: Mapping[str, str]) -> tuple[ExecutedLine, ...]:
    """The lines of a decision in the order of execution, with their values.

    Args:
        steps: steps of the decision.
        parameters: parameter names of the function, from `Program.parameters`.
    """
    known: dict[str, float] = {}
    lines: list[ExecutedLine] = []
    for position, step in enumerate(steps):
        match step.kind:
            case "set":
                right = _right_side(step.source)
                filled = _filled(right, known)
                filled = step.source if filled == right else filled
                lines.append(ExecutedLine(step.line, step.source, filled, f"= {number_text(step.value)}", position))
            case "if":
                answer = "yes" if step.value else "no"
                lines.append(ExecutedLine(step.line, step.source, _filled(step.source, known), answer, position))
            case "return":
                filled = f"return {_filled(step.source, known)}"
                lines.append(ExecutedLine(step.line, f"return {step.source}", filled, "", position))
        if step.kind in ("begin", "read", "set", "call"):
            known[step.name] = step.value
            thing, dot, field = step.name.partition(".")
            if dot and thing in parameters:
                known[f"{parameters[thing]}.{field}"] = step.value
    return tuple(lines)


def last_values(steps: Iterable[Step]) -> dict[str, float]:
    """Last value of each name in the steps of a decision."""
    return {step.name: step.value for step in steps if step.kind not in ("if", "return")}


def number_text(value: float) -> str:
    """A number with at most six significant digits; "not known" for NaN."""
    if math.isnan(value):
        return "not known"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return f"{value:.6g}"


def _right_side(statement: str) -> str:
    """The assigned expression of a statement; for `x += y` the sum."""
    match = _STATEMENT.match(statement)
    if match is None:
        return statement
    target, operator, value = match.groups()
    return f"{target} {operator} ({value})" if operator else str(value)


def _filled(source: str, known: dict[str, float]) -> str:
    """A part of a script with known values in place of names; known calls are replaced first."""
    for name in sorted((each for each in known if "(" in each), key=len, reverse=True):
        source = source.replace(name, number_text(known[name]))
    return _NAME.sub(lambda found: number_text(known[found[0]]) if found[0] in known else found[0], source)
