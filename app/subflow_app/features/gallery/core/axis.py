"""Axis of an experiment: values of one or several keys, listed points, or random draws.

Random draws are the same for all series. Each draw depends only on its number, so a quick run with five draws uses the
first five draws of a full run. A drawn rate, delay or loss of a link may also take new random values at fixed intervals
during the run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from subflow_app.features.sweeps.core.axes import check_value
from subflow_app.features.sweeps.core.plan_file import flat_pairs
from subflow_app.foundation.toml_edit import TomlValue, render
from subflow_sim.draws import Independent, read_independent, uniform
from subflow_sim.errors import ParamError
from subflow_sim.parameter import Param, kind_name
from subflow_sim.section_reader import Noted, Report, read_section, read_value
from subflow_sim.toml_map import Path
from subflow_sim.units import UNITS, Dimension
from subflow_store.run_values import UNITS as WORTH
from subflow_store.run_values import quantity

MOST_POINTS = 1000
MOST_STEPS = 1000
_UNITS = tuple(dict.fromkeys(unit for units in UNITS.values() for unit in units))
_COURSE_KEY = re.compile(r"links\.(?P<link>[^.]+)\.(?P<what>rate|delay|loss)\Z")
_EVERY = Param("every", Dimension.TIME, "Time between two values.", minimum=0, exclusive_minimum=True)

_AXIS = (
    Param("label", Dimension.TEXT, "Name of the axis.", required=True),
    Param("unit", Dimension.CHOICE, "Unit of its numbers; left out: its points are names.", choices=_UNITS),
    Param("log", Dimension.FLAG, "true for a logarithmic axis.", default=False),
)
_DRAWS = (
    Param("count", Dimension.COUNT, "Number of draws.", required=True, minimum=1, maximum=MOST_POINTS),
    Param("quick", Dimension.COUNT, "Number of them in a quick run; left out: all.", minimum=1),
    Param("seed", Dimension.COUNT, "Seed of the draws.", default=1, minimum=0),
)
_POINT_KEYS = ("label", "at", "set")


@dataclass(frozen=True, slots=True)
class Course:
    """A scenario key that takes new random values during a run.

    Attributes:
        key: dotted key of a link's rate, delay or loss.
        every_s: interval between two changes, s.
        draw: distribution of the values.
        name: name of the draw, which seeds the random numbers together with `number` and `seed`.
        number: number of the draw, from 0.
        seed: seed of the axis.
    """

    key: str
    every_s: float
    draw: Independent
    name: str
    number: int
    seed: int

    def steps(self, duration_s: float) -> list[tuple[float, TomlValue]]:
        """Pairs of time (s) and value from time 0 to the end of a run; at most `MOST_STEPS` pairs."""
        count = min(max(math.ceil(duration_s / self.every_s - 1e-9), 1), MOST_STEPS)
        return [
            (step * self.every_s, self.draw.value(uniform(self.seed, step, self.number, self.name)))
            for step in range(count)
        ]


@dataclass(frozen=True, slots=True)
class AxisPoint:
    """A point of the axis.

    Attributes:
        label: name in checks and figures.
        number: position in the unit of the axis; None if the point is only a name.
        values: scenario values by dotted key; None if the point sets no values.
        courses: keys that change during the run.
    """

    label: str
    number: float | None = None
    values: Mapping[str, TomlValue] | None = None
    courses: tuple[Course, ...] = ()

    def changes(self, tree: Mapping[str, Any], duration_s: float) -> dict[str, TomlValue]:
        """Changes to a scenario at this point, by dotted key. Values that change during the run become events.

        Args:
            tree: the parsed scenario file, whose own events precede the added ones in `events`.
            duration_s: duration of the run.
        """
        changed = dict(self.values or {})
        if not self.courses:
            return changed
        events: dict[tuple[float, str, str], dict[str, TomlValue]] = {}
        for course in self.courses:
            match = _COURSE_KEY.match(course.key)
            assert match is not None
            table = tree.get("links", {}).get(match["link"], {})
            reverse = table.get("reverse", {}) if isinstance(table, Mapping) else {}
            # A reverse direction with its own value keeps that value.
            direction = "forward" if isinstance(reverse, Mapping) and match["what"] in reverse else "both"
            (_, first), *later = course.steps(duration_s)
            changed[course.key] = first
            for time_s, value in later:
                event = events.setdefault(
                    (time_s, match["link"], direction), {"at": time_s, "link": match["link"], "direction": direction}
                )
                event[match["what"]] = value
        if events:
            given = tree.get("events", [])
            changed["events"] = [*(given if isinstance(given, list) else []), *(events[key] for key in sorted(events))]
        return changed


@dataclass(frozen=True, slots=True)
class ExperimentAxis:
    """The x axis of a figure.

    Attributes:
        label: label of the axis; empty for an experiment with a single point.
        unit: unit of the points; empty for plain numbers or names.
        points: points of the axis, in order.
        is_drawn: whether the points are random draws.
        is_log: whether the axis is logarithmic.
        n_quick: number of points in a quick run, counted from the first; None for all.
    """

    label: str = ""
    unit: str = ""
    points: tuple[AxisPoint, ...] = (AxisPoint(""),)
    is_drawn: bool = False
    is_log: bool = False
    n_quick: int | None = None

    @property
    def is_single(self) -> bool:
        """True for an experiment without an axis."""
        return not self.label

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of all points, in order; a single empty label for an experiment without an axis."""
        return tuple(point.label for point in self.points)


def read_axis(report: Report, table: Mapping[str, Any]) -> ExperimentAxis:
    """Read `[axis]`; problems go to the report."""
    path: Path = ("axis",)
    values = read_section(report, path, table, _AXIS, also_known=("keys", "values", "points", "draws"))
    unit = values.get("unit") or ""
    forms = [form for form in ("values", "points", "draws") if form in table]
    points: list[AxisPoint] = []
    n_quick = None
    if len(forms) != 1:
        text = "has no points" if not forms else f"has both {forms[0]} and {forms[1]}"
        report.add(path, text, "one of keys and values, [[axis.points]], [axis.draws]")
    elif forms == ["values"]:
        points = list(_valued(report, table, unit))
    elif forms == ["points"]:
        points = list(_listed(report, table["points"], unit))
    else:
        points, n_quick = _drawn(report, table["draws"])
    if "keys" in table and forms != ["values"]:
        report.add((*path, "keys"), "keys without values", "values = [...]")
    labels = [point.label for point in points]
    for label in dict.fromkeys(label for label in labels if labels.count(label) > 1):
        report.add(path, f'two points are called "{label}"', "a label for each")
    return ExperimentAxis(
        values.get("label") or "",
        unit,
        tuple(points) or (AxisPoint(""),),
        forms == ["draws"],
        bool(values.get("log")),
        n_quick,
    )


def _valued(report: Report, table: Mapping[str, Any], unit: str) -> Iterator[AxisPoint]:
    keys, values = table.get("keys"), table["values"]
    if not isinstance(keys, list) or not keys or not all(isinstance(key, str) for key in keys):
        report.add(("axis", "keys"), "these are not keys", 'dotted keys of the scenario, e.g. ["links.path1.loss"]')
        return
    if not isinstance(values, list) or not 1 <= len(values) <= MOST_POINTS:
        report.add(("axis", "values"), "this is not a list of values", f"1 to {MOST_POINTS} values")
        return
    for number, value in enumerate(values):
        if _is_usable(report, ("axis", "values", number), value):
            label = value if isinstance(value, str) else render(value)
            at = quantity(label)
            yield AxisPoint(label, _in_unit(at, unit), dict.fromkeys(keys, value))


def _listed(report: Report, tables: object, unit: str) -> Iterator[AxisPoint]:
    if not isinstance(tables, list) or not 1 <= len(tables) <= MOST_POINTS:
        report.add(("axis", "points"), f"this is {kind_name(tables)}", f"1 to {MOST_POINTS} tables [[axis.points]]")
        return
    for number, table in enumerate(tables):
        place: Path = ("axis", "points", number)
        if report.expect_table(place, table, "[[axis.points]]") is None:
            continue
        for key in table:
            if key not in _POINT_KEYS:
                report.unknown_key((*place, key), _POINT_KEYS)
        label = table.get("label")
        if not isinstance(label, str) or not label:
            report.add((*place, "label"), "missing" if label is None else "not a text", "how checks name the point")
            continue
        at = table.get("at", label)
        found = quantity(at) if isinstance(at, str) else at
        if "at" in table and not isinstance(found, int | float):
            report.add((*place, "at"), "not a number", "where it lies on the axis, with its unit")
        number_at = float(found) if isinstance(found, int | float) else None
        yield AxisPoint(label, _in_unit(number_at, unit), read_set(report, (*place, "set"), table.get("set", {})))


def _drawn(report: Report, table: object) -> tuple[list[AxisPoint], int | None]:
    path: Path = ("axis", "draws")
    found = report.expect_table(path, table, "[axis.draws]")
    if found is None:
        return [], None
    values = read_section(report, path, found, _DRAWS, also_known=("keys",))
    keys = found.get("keys")
    if not isinstance(keys, dict) or not keys:
        report.add(
            (*path, "keys"), "nothing is drawn", '[axis.draws.keys] with "links.top.queue" = { integer = [10, 100] }'
        )
        return [], None
    draws: dict[str, tuple[Independent, float | None]] = {}
    for name, written in flat_pairs(keys):
        try:
            draws[name] = _draw(report, (*path, "keys", name), name, written)
        except Noted:
            continue
    seed = values.get("seed", 1)
    points = []
    for number in range(values.get("count") or 0):
        plain: dict[str, TomlValue] = {}
        courses = []
        for name, (draw, every_s) in draws.items():
            for key in _split(name):
                if every_s is None:
                    plain[key] = draw.value(uniform(seed, 0, number, name))
                else:
                    courses.append(Course(key, every_s, draw, name, number, seed))
        points.append(AxisPoint(str(number + 1), float(number + 1), plain, tuple(courses)))
    return points, values.get("quick")


def _draw(report: Report, place: Path, name: str, written: object) -> tuple[Independent, float | None]:
    """The distribution of a draw, and the interval between new values, s, or None for a value that never changes.

    Raises:
        Noted: if the draw is invalid.
    """
    if not isinstance(written, dict) or "every" not in written:
        return read_independent(report, place, written), None
    rest = {key: value for key, value in written.items() if key != "every"}
    every_s: float = read_value(report, (*place, "every"), _EVERY, written["every"])
    bad = [key for key in _split(name) if not _COURSE_KEY.match(key)]
    if bad:
        report.add(
            place, f"{bad[0]} cannot change during a run here", "links.NAME.rate, links.NAME.delay, links.NAME.loss"
        )
        raise Noted
    return read_independent(report, place, rest), every_s


def read_set(report: Report, place: Path, table: object) -> dict[str, TomlValue]:
    """Scenario values by dotted key, read from a table; invalid values are omitted and go to the report."""
    if not isinstance(table, dict):
        report.add(place, f"this is {kind_name(table)}, not a table", '{ "links.path1.loss" = "2%" }')
        return {}
    return {key: value for key, value in flat_pairs(table) if _is_usable(report, (*place, key), value)}


def _is_usable(report: Report, place: Path, value: object) -> bool:
    try:
        check_value(value)
    except ParamError as error:
        report.add(place, error.message, error.allowed)
        return False
    return True


def _split(name: str) -> Sequence[str]:
    return [key.strip() for key in name.split("&")]


def _in_unit(number: float | None, unit: str) -> float | None:
    return None if number is None else number / WORTH.get(unit, 1.0)
