"""A table of functions that checks of labs may call, and what their bodies share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from subflow_app.features.labs.core.evidence import Evidence, LabRun
from subflow_app.features.labs.core.scenario_values import value_of
from subflow_app.foundation.expressions import ArgumentKind, Function, Kind, Value
from subflow_app.vocabulary.language import tr


class NotThereError(Exception):
    """What a function is asked about is not there (yet); the text says what."""


Body: TypeAlias = Callable[..., Value]
"""Gets the evidence and the arguments."""


@dataclass(frozen=True, slots=True)
class LabFunction:
    """A function of the language.

    Attributes:
        name: as it is called.
        function: its arguments and what it gives.
        about: for authors.
        body: works it out.
    """

    name: str
    function: Function
    about: str
    body: Body


class FunctionTable(dict[str, LabFunction]):
    """Functions by their names."""

    def function(
        self, *arguments: ArgumentKind, optional: int = 0, gives: Kind = "number", unit: str = "", many: bool = False
    ) -> Callable[[Body], Body]:
        """Takes a function under its own name, without the underscore in front; its docstring is for authors."""

        def take(body: Body) -> Body:
            name = body.__name__.removeprefix("_")
            function = Function(arguments, optional, gives, unit, many)
            self[name] = LabFunction(name, function, (body.__doc__ or "").strip(), body)
            return body

        return take


def run_at(evidence: Evidence, number: Value) -> LabRun:
    """The run of that number.

    Raises:
        NotThereError: if it is none of the lab's.
    """
    if not isinstance(number, int | float) or isinstance(number, bool):
        raise NotThereError(tr("{value} is not a run: begin with last(), run(1) or run_of('STEP')", value=number))
    found = evidence.run(int(number))
    if found is None:
        raise NotThereError(tr("run {number} is not a run of this lab", number=int(number)))
    return found


def matching(runs: Sequence[LabRun], pairs: Sequence[Value]) -> list[LabRun]:
    """The runs whose scenarios have all these values: key and value by turns."""
    wanted = list(_paired(pairs))
    return [run for run in runs if all(_says(run, key, value) for key, value in wanted)]


def _paired(pairs: Sequence[Value]) -> Iterator[tuple[str, Value]]:
    return ((str(pairs[place]), pairs[place + 1]) for place in range(0, len(pairs) - 1, 2))


def _says(run: LabRun, key: str, wanted: Value) -> bool:
    found = float(run.seed) if key == "seed" else value_of(run.doc, key)
    if isinstance(found, float) and isinstance(wanted, int | float):
        return math.isclose(found, wanted, rel_tol=1e-9)
    return found == wanted


def pairs_text(pairs: Sequence[Value]) -> str:
    """Keys and values for people."""
    return ", ".join(f"{key} = {_shown(value)}" for key, value in _paired(pairs))


def _shown(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    lines = str(value).splitlines()
    return f"{lines[0]} …" if len(lines) > 1 else str(value)  # of a script its first line


def known(value: Any, what: str) -> Value:
    """A figure as a number.

    Raises:
        NotThereError: if there is none.
    """
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    raise NotThereError(tr("{what} is not known", what=what))
