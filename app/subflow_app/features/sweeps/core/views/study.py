"""The results of a sweep in the form that its views need: parameters with levels, figures with units, and points.

`study_of` converts the table of a sweep to this form.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from subflow_app.features.sweeps.core.axes import SweptValue
from subflow_app.features.sweeps.core.sweep_results import SweepTable
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.means import is_one_run, one_run_notice
from subflow_app.vocabulary.measure import Measure
from subflow_app.vocabulary.measures import owner_of, run_measure
from subflow_app.vocabulary.number_text import NOTHING
from subflow_sim.stats import Estimate

# Units of parameters, grouped by kind. Values are shown in the largest unit in which the largest value is at least 1.
_SHOWN_UNITS: tuple[tuple[tuple[str, float], ...], ...] = (
    (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3), ("bit/s", 1.0)),
    (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)),
    (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)),
    (("pkt", 1.0),),
    (("%", 1e-2),),
)
# Maximum precision of means; more digits are not useful.
_MOST_DIGITS, _MOST_DECIMALS = 5, 6
_SPELLINGS = {"µs": "us", "min": "s"}


class Level(NamedTuple):
    """One value of a parameter: its original text, and its number in SI units (NaN if it is not a number)."""

    text: str
    number: float


@dataclass(frozen=True, slots=True)
class Parameter:
    """A varied key of a sweep.

    Attributes:
        key: dotted key as in the scenario file, e.g. ``links.wifi.loss``.
        levels: all values; numbers in ascending order, names in order of appearance.
        unit: unit of displayed numbers; empty for plain numbers and names.
        scale: factor from SI values to `unit`.
    """

    key: str
    levels: tuple[Level, ...]
    unit: str = ""
    scale: float = 1.0

    @property
    def is_numeric(self) -> bool:
        """True if all values are numbers, so that distances between them are meaningful."""
        return all(math.isfinite(level.number) for level in self.levels)

    @property
    def title(self) -> str:
        """Title of an axis, with the unit."""
        return f"{self.key} ({self.unit})" if self.unit else self.key

    def position(self, level: int) -> float:
        """Position of a level on an axis: its number in the displayed unit, or its index if levels are names."""
        return self.levels[level].number * self.scale if self.is_numeric else float(level)


@dataclass(frozen=True, slots=True)
class StudyFigure(Measure):
    """A measure of runs, for the whole run or for one of its flows or links.

    Attributes:
        owner: the flow, or the direction of a link; empty for the whole run.
    """

    owner: str = ""

    @property
    def name(self) -> str:
        """Title in the language of the window, with the owner, e.g. ``"mptcp: Goodput"``."""
        return f"{self.owner}: {tr(self.title)}" if self.owner else tr(self.title)

    @property
    def axis_title(self) -> str:
        """Title of an axis in the language of the window, with the unit."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def text(self, value: float | None, *, with_unit: bool = True) -> str:
        """Text of a value in SI units, converted to the unit of the figure; `NOTHING` for unknown values."""
        if value is None or not math.isfinite(value):
            return NOTHING
        shown = value * self.scale
        number = f"{shown:.4g}" if self.decimals is None else f"{shown:.{self.decimals}f}"
        return f"{number} {self.unit}" if self.unit and with_unit else number

    def interval_text(self, found: Estimate, *, with_unit: bool = True) -> str:
        """Text of a mean with its interval, e.g. ``"7.81 ± 0.12 Mbit/s"``."""
        if not math.isfinite(found.ci95):
            return self.text(found.mean, with_unit=with_unit)
        half = found.ci95 * self.scale
        if half > 0:
            # The interval is shown with two digits, because further digits of the mean would not be significant. The
            # number of decimals is limited in case all runs are almost equal.
            mean = found.mean * self.scale
            most = min(_MOST_DECIMALS, max(0, _MOST_DIGITS - 1 - _exponent(mean)) if mean else _MOST_DECIMALS)
            decimals = min(max(0, 1 - _exponent(half)), most)
            message = (
                f"± {half:.{decimals}f}" if half >= 0.5 * 10.0**-decimals else f"± <{10.0**-decimals:.{decimals}f}"
            )
            text = f"{mean:.{decimals}f} {message}"
        else:
            text = f"{self.text(found.mean, with_unit=False)} ± 0"
        return f"{text} {self.unit}" if self.unit and with_unit else text

    def mean_text(self, found: Estimate) -> str:
        """Name and mean of the figure, with an interval that is marked as the 95 % interval."""
        value = self.interval_text(found)
        interval = tr("{value} (95 % interval)", value=value) if math.isfinite(found.ci95) else value
        return f"{self.name}: {interval}"


class StudyRun(NamedTuple):
    """One run of a point: its seed, its number in the store (None if not stored), and its figures in SI units.

    Runs with the same signature are identical, bit for bit. An unknown signature is empty.
    """

    seed: int
    run_id: int | None
    figures: Mapping[str, float]
    signature: str = ""


@dataclass(frozen=True, slots=True)
class StudyPoint:
    """One combination of levels: the index of each parameter's level, and the runs, at most one per seed."""

    places: tuple[int, ...]
    runs: tuple[StudyRun, ...]

    @property
    def signatures(self) -> list[str]:
        """Signatures of the runs; an unknown signature is empty."""
        return [run.signature for run in self.runs]

    @property
    def is_one_run(self) -> bool:
        """True if several seeds all resulted in the same run, bit for bit, so that an interval would be meaningless."""
        return is_one_run(self.signatures)

    @property
    def distinct_runs(self) -> int:
        """Number of distinct runs, which is 1 if all seeds resulted in the same run."""
        return 1 if self.is_one_run else len(self.runs)


@dataclass(frozen=True, slots=True, eq=False)
class SweepStudy:
    """A sweep with its results. Points that have no runs may be missing.

    Attributes:
        name: name of the sweep.
        parameters: parameters in the order of the plan.
        figures: figures that at least one run has.
        points: points in the order of the sweep.
    """

    name: str
    parameters: tuple[Parameter, ...]
    figures: tuple[StudyFigure, ...]
    points: tuple[StudyPoint, ...]
    _ranks: dict[str, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Index the parameters by key."""
        self._ranks.update({parameter.key: rank for rank, parameter in enumerate(self.parameters)})

    @property
    def note(self) -> str:
        """Notice about points at which all seeds resulted in the same run; empty if this is the case at no point."""
        return one_run_notice([point.signatures for point in self.points if point.runs])

    def parameter(self, key: str) -> Parameter:
        """The parameter with this key.

        Raises:
            KeyError: if the sweep has no such parameter.
        """
        return self.parameters[self._ranks[key]]

    def figure(self, key: str) -> StudyFigure:
        """The figure with this key.

        Raises:
            KeyError: if no run has this figure.
        """
        found = next((figure for figure in self.figures if figure.key == key), None)
        if found is None:
            raise KeyError(key)
        return found

    def place(self, point: int, key: str) -> int:
        """Index of the level of a parameter at a point."""
        return self.points[point].places[self._ranks[key]]

    def chosen(self, fixed: Mapping[str, int]) -> list[int]:
        """Numbers of the points at which the parameters in `fixed` have the given levels."""
        return [
            number
            for number, point in enumerate(self.points)
            if all(point.places[self._ranks[key]] == level for key, level in fixed.items())
        ]

    def by_levels(self, keys: Sequence[str], fixed: Mapping[str, int] | None) -> dict[tuple[int, ...], list[int]]:
        """Group the points that have the `fixed` levels by their levels of `keys`.

        Returns:
            Numbers of the points, by their level of each key; the level of an empty key is 0.
        """
        held = {key: level for key, level in (fixed or {}).items() if key not in keys}
        found: dict[tuple[int, ...], list[int]] = {}
        for point in self.chosen(held):
            found.setdefault(tuple(self.place(point, key) if key else 0 for key in keys), []).append(point)
        return found

    def values(self, points: Iterable[int], figure: str) -> list[float]:
        """Values of a figure in those runs of these points that have the figure."""
        return [value for _point, _run, value in self.single_runs(points, figure)]

    def single_runs(self, points: Iterable[int], figure: str) -> list[tuple[int, StudyRun, float]]:
        """The point, the run and the value of a figure, for those runs of these points that have the figure."""
        return [
            (point, run, run.figures[figure])
            for point in points
            for run in self.points[point].runs
            if math.isfinite(run.figures.get(figure, math.nan))
        ]

    def mean(self, points: Sequence[int], figure: str) -> Estimate:
        """Mean of a figure over all runs of these points.

        An interval describes repetitions with different seeds. Several points have no interval, because their runs
        differ systematically. If all seeds of a point resulted in the same run, it counts once and has no interval.
        """
        found = Estimate.of(self.values(points, figure))
        if len(points) == 1 and not self.points[points[0]].is_one_run:
            return found
        n = min(found.n, 1) if len(points) == 1 else found.n
        return Estimate(found.mean, n=n, values=found.values)

    def run_ids(self, points: Iterable[int]) -> list[int]:
        """Numbers of the stored runs of these points."""
        return [run.run_id for point in points for run in self.points[point].runs if run.run_id is not None]

    def words(self, point: int, leave_out: Iterable[str] = ()) -> str:
        """Text of a point, e.g. ``"controller lia, loss 1%"``. Keys are shortened to their last part where unique."""
        left_out = set(leave_out)
        return ", ".join(
            f"{short_key(parameter.key, self)} {parameter.levels[place].text}"
            for parameter, place in zip(self.parameters, self.points[point].places, strict=True)
            if parameter.key not in left_out
        )

    def default_series(self) -> str:
        """Key of the parameter that distinguishes curves by default: a controller, or else any parameter with names.

        Empty if all parameters are numeric.
        """
        named = [parameter.key for parameter in self.parameters if not parameter.is_numeric]
        controllers = [key for key in named if key.endswith("controller")]
        return next(iter([*controllers, *named]), "")

    def is_complete(self, figure: str) -> bool:
        """True if this figure is in all runs that have figures."""
        return all(figure in run.figures for point in self.points for run in point.runs if run.figures)

    def default_figure(self, *wanted: str) -> str:
        """The first of the wanted figures that the sweep has, else its first figure; empty if it has no figures."""
        known = [figure.key for figure in self.figures]
        return next((key for key in wanted if key in known), known[0] if known else "")


def short_key(key: str, study: SweepStudy) -> str:
    """The last part of a parameter's key if it is unique, else the whole key."""
    last = key.rpartition(".")[2]
    return last if sum(other.key.rpartition(".")[2] == last for other in study.parameters) == 1 else key


def parameter_of_levels(key: str, levels: Sequence[Level]) -> Parameter:
    """Create a parameter with these levels in this order, in a suitable unit."""
    if all(math.isfinite(level.number) for level in levels):
        unit, scale = _shown_unit(levels)
        return Parameter(key, tuple(levels), unit, scale)
    return Parameter(key, tuple(levels))


def make_figure(key: str) -> StudyFigure:
    """Create the figure with this key, including its unit."""
    return StudyFigure(**run_measure(key).attributes, owner=owner_of(key))


def _exponent(value: float) -> int:
    return math.floor(math.log10(abs(value)))


def _shown_unit(levels: Sequence[Level]) -> tuple[str, float]:
    """The largest unit of the same kind in which the largest value is at least 1, and the factor from SI to it."""
    written = {_unit_of(level.text) for level in levels} - {""}
    greatest = max((abs(level.number) for level in levels), default=0.0)
    for units in _SHOWN_UNITS:
        if written and all(_SPELLINGS.get(unit, unit) in dict(units) for unit in written):
            unit, factor = next((pair for pair in units if greatest >= pair[1]), units[-1])
            return unit, 1.0 / factor
    return "", 1.0


def _unit_of(text: str) -> str:
    return text.strip().lstrip("+-0123456789._eE ").strip()


def study_of(table: SweepTable) -> SweepStudy:
    """Convert the table of a sweep to a study with single runs; seeds without a finished run are omitted."""
    steps = {key: table.steps(key) for key in table.keys}
    parameters = tuple(parameter_of_levels(key, [_level(value) for value in steps[key]]) for key in table.keys)
    points = []
    for row in table.rows:
        places = tuple(steps[key].index(value) for key, value in zip(table.keys, row.values, strict=True))
        runs = []
        for place, seed in enumerate(table.seeds):
            figures = {key: cell.values[place] for key, cell in row.cells.items() if math.isfinite(cell.values[place])}
            run_id = row.run_ids[place] if place < len(row.run_ids) else None
            if figures or run_id is not None:
                signature = row.signatures[place] if place < len(row.signatures) else ""
                runs.append(StudyRun(seed, run_id, figures, signature))
        points.append(StudyPoint(places, tuple(runs)))
    return SweepStudy(table.name, parameters, tuple(map(make_figure, table.figures)), tuple(points))


def _level(value: SweptValue) -> Level:
    return Level(value.text or tr("as in the scenario"), math.nan if value.number is None else value.number)
