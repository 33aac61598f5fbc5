"""Watches, which evaluate an expression over the names of a script at each decision of a run."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.explain.core.replay import Replay, never
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.expressions import Expression, Missing, Value
from subflow_sim.plain_text import did_you_mean, either

if TYPE_CHECKING:
    from subflow_sim.decisions import Decisions
    from subflow_sim.script_steps import Program

Series: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float32]]
"""Times in seconds, and values, for each decision that assigns all names. Undefined values are NaN."""

_HAVE_VALUES = ("begin", "read", "set")
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(frozen=True, slots=True)
class ScriptId:
    """Identity of a script, independent of later changes to its text.

    Attributes:
        scope: "subflow" for a controller, "flow" for a scheduler.
        name: name by which flows choose the script.
    """

    scope: str
    name: str


class Watch(Expression):
    """An expression over the names of a script.

    Attributes:
        script: script whose names the expression uses.
        names: names in the expression.
    """

    is_formula = True

    def __init__(self, text: str, script: ScriptId, program: Program) -> None:
        """Parse an expression.

        Raises:
            InputError: if the expression cannot be parsed, or contains names that the script lacks; the message lists
                the allowed names.
        """
        text = text.strip()
        self.script = script
        known = known_names(program)
        if not text:
            raise InputError(f"nothing to watch; allowed: an expression over {either(known)}")
        super().__init__(text, {})
        columns = self.named()
        for name, column in columns.items():
            if name not in known:
                raise self.error(column, f'{program.name} has no "{name}"{did_you_mean(name, known)}', either(known))
        if not columns:
            raise self.error(1, "it names nothing of the script", f"an expression over {either(known)}")
        self.names = tuple(columns)

    def series(self, decisions: Decisions, owner: str) -> Series:
        """Values at the decisions of an owner, in order of time."""
        rows, values = values_of(decisions, owner, self.script, self.names)
        found = np.array([self._value_of(each) for each in values], np.float32)
        return decisions.time_ns[rows] / 1e9, found

    def _value_of(self, values: NDArray[np.float64]) -> float:
        known: Mapping[str, Value] = dict(zip(self.names, values.tolist(), strict=True))
        value = self.value(lambda name, _arguments: known.get(name, Missing("")))
        return value if isinstance(value, float) and math.isfinite(value) else math.nan


def known_names(program: Program) -> list[str]:
    """Names of a script that receive a value, sorted."""
    names = {name for kind, name, _source, _line in program.notes if kind in _HAVE_VALUES}
    return sorted(name for name in names if _NAME.fullmatch(name))


def values_of(
    decisions: Decisions, owner: str, script: ScriptId, names: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find the decisions of an owner that assign all these names of a script, and the final values of the names.

    Returns:
        Rows of the decisions, int64 [n], and the values, float64 [n, names].
    """
    nothing = np.zeros(0, np.int64), np.zeros((0, len(names)))
    steps = decisions.steps
    if steps is None or owner not in decisions.owners:
        return nothing
    rows = decisions.rows(owner)
    found: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
    for program in {id(each): each for each in steps.programs.values() if each.name == script.name}.values():
        rules = [rule for rule, each in steps.programs.items() if each is program]
        own = rows[np.isin(decisions.rule[rows], rules)]
        slots = np.full(len(program.notes) + 1, -1)
        for note, (kind, name, _source, _line) in enumerate(program.notes, start=1):
            if kind in _HAVE_VALUES and name in names:
                slots[note] = names.index(name)
        counts = steps.begin[own + 1] - steps.begin[own]
        # For each step of all these decisions: the index of its decision, and its own index in the table of steps.
        place = np.repeat(np.arange(len(own)), counts)
        at = np.arange(len(place)) + np.repeat(steps.begin[own] - np.cumsum(counts) + counts, counts)
        slot = slots[steps.note[at]]
        values = np.full((len(own), len(names)), np.nan)
        has = np.zeros(values.shape, bool)
        is_named = slot >= 0
        # If a decision assigns a name twice, the later value counts.
        values[place[is_named], slot[is_named]] = steps.value[at[is_named]]
        has[place[is_named], slot[is_named]] = True
        is_whole = has.all(axis=1)
        found.append((own[is_whole], values[is_whole]))
    if not found:
        return nothing
    all_rows, all_values = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(all_rows)
    return all_rows[order], all_values[order]


def watched(
    replay: Replay,
    watches: Sequence[Watch],
    is_cancelled: Callable[[], bool] = never,
    progress: Callable[[float], None] = lambda _fraction: None,
) -> list[dict[str, Series]]:
    """Evaluate watches in a replay of the known part of a run; return each watch's values by subflow or flow.

    Args:
        replay: replay of the run.
        watches: the expressions.
        is_cancelled: returns True to cancel.
        progress: receives the simulated fraction of the run, 0 to 1.

    Raises:
        ReplayCancelledError: if the caller cancels.
    """
    parts: list[dict[str, list[Series]]] = [{} for _watch in watches]

    def take(decisions: Decisions) -> None:
        for watch, own in zip(watches, parts, strict=True):
            for owner, scope in zip(decisions.owners, decisions.scopes, strict=True):
                if scope == watch.script.scope:
                    series = watch.series(decisions, owner)
                    if len(series[0]):
                        own.setdefault(owner, []).append(series)

    replay.decide_again(take, is_cancelled, progress)
    return [
        {
            owner: (np.concatenate([t for t, _v in own]), np.concatenate([v for _t, v in own]))
            for owner, own in each.items()
        }
        for each in parts
    ]
