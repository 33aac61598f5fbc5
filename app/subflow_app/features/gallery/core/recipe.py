"""Recipes of experiments as TOML files that people read and write, and the register of rulings on open points.

The shipped recipes are `assets/experiments/*.toml`:

format = 1
paper = "drl-cc"                        # drl-cc, mplibra, ddpg-mpcc, dql-mptcp or rl-explore; rfc9743 for its criteria
figure = "3a, 3b"                       # figure or table of the paper
title = "Goodput against the size of the document"
claim = "What the paper reports, with its numbers."
rulings = ["A1", "A3"]                  # readings of points that the paper leaves open; ids of rulings.toml
disagrees = "Where our results differ from the paper, and why, as far as known."
kind = "runs"                           # runs (default), training or cost; see `kinds`
scenario = "drlcc-sc1"                  # a shipped scenario, or a file next to the recipe
seeds = "1..5"
expected = "3min"                       # duration of a full run on two cores
traces = false                          # true: keep time series, for panels of form trace and measures over time
sample_interval = "100ms"               # interval of the time series

[set]                                   # changes of the scenario for all runs, as with --set
"links.path1.loss" = "2%"

[quick]                                 # changes of a quick run
seeds = "1..2"
points = ["8MB"]                        # labels of points; default: all
series = ["DRL-CC", "LIA"]              # default: all
expected = "20s"
[quick.set]
duration = "60s"

[axis]                                  # x axis of the figure; default: a single point. See `axis` for all forms
label = "Document size"
unit = "MB"                             # unit of the numbers; default: points are names
keys = ["flows.download.size"]          # or [[axis.points]] with label and set, or [axis.draws]
values = ["2MB", "4MB", "8MB"]

[series.DRL-CC]                         # curves or groups of bars, in the order of the file
ours = true                             # true for the proposal of the paper
scenario = "drlcc-sc1"                  # default: the scenario of the recipe
set = { "flows.download.controller" = "drl-cc" }
[series.DRL-CC.at."8MB"]                # changes only for this series at this point
"flows.download.controller.epoch_time" = "1s"

[measures.goodput]                      # a name for panels and checks
of = "active_goodput"                   # kind of measure; `measures` lists all with their options
flows = "download*"
unit = "Mbit/s"
label = "Goodput per flow"

[[panels]]                              # the figure in the form of the paper
form = "lines"                          # lines, bars, trace, table, box or scatter
measure = "goodput"                     # or measures = [...]; x = "other measure" for a scatter

[[published]]                           # numbers that the paper prints
measure = "goodput"
series = "DRL-CC"
point = "8MB"
value = "3.2Mbit/s"                     # or improvement = "313%" with over = "LIA"

[[checks]]                              # claims to check; see `expressions` for the language
says = "DRL-CC gets 313 % more than LIA at 8 MB"
holds = "goodput('DRL-CC', '8MB') / goodput('LIA', '8MB') in 3.51 .. 4.75"
why = "15 % of the ratio (A3)"
[checks.cause]                          # cause of a failure, if known
kind = "reading"                        # kernel, reading, agent, contradiction or noise; see `CauseKind`
says = "The document may have been larger."
variants = ["16 MB"]                    # variants that test the cause: the check must hold in one of them
holds = "goodput('LIA', '8MB') > 1 Mbit/s"   # only for contradiction and noise: condition in place of the check

[variants."16 MB"]                      # modified form of the experiment: its keys replace those of the recipe
says = "Documents are twice as large."
seeds = "1..10"                         # also set, scenario, axis, measures, series, quick, and tables of the kind
[variants."16 MB".series.LIA.set]
"flows.download.size" = "16MB"

The ambiguity register, `rulings.toml`, lists our readings of points that the papers leave open. Each kind of measure
declares its meaning, its unit, and the options that a recipe may give.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_app.features.gallery.core.axis import AxisPoint, ExperimentAxis
from subflow_app.foundation.resources import resource_path
from subflow_app.foundation.toml_edit import TomlValue
from subflow_app.vocabulary.language import translatable
from subflow_sim.parameter import Param
from subflow_sim.units import UNITS, Dimension

if TYPE_CHECKING:
    from subflow_app.foundation.claims import Claim
    from subflow_app.vocabulary.picture import PanelForm


RULINGS_FILE = "rulings.toml"
"""Name of the file with the register of rulings, in the folder of the recipes. Recipes refer to rulings by id."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """Our reading of a point that a paper leaves open.

    Attributes:
        id: identifier in recipes, such as "A1".
        problem: the open point.
        ruling: our reading.
    """

    id: str
    problem: str
    ruling: str


def experiments_folder() -> Path:
    """Folder of the shipped recipes.

    Raises:
        ResourceError: if the folder is missing.
    """
    return resource_path("experiments")


@cache
def rulings() -> Mapping[str, Ruling]:
    """The rulings of the ambiguity register by id, in the order of the file.

    Raises:
        ResourceError: if the file is missing.
    """
    tree = tomllib.loads((experiments_folder() / RULINGS_FILE).read_text(encoding="utf-8"))
    return {name: Ruling(name, table["problem"], table["ruling"]) for name, table in tree.items()}


@dataclass(frozen=True, slots=True)
class MeasureKind:
    """A kind of measure. A measure of a recipe selects its kind with the key `of`.

    Attributes:
        name: name in recipes.
        help: formula and meaning, in a sentence or two.
        dimension: dimension of the values; NUMBER for plain numbers.
        options: options that a recipe may set.
        is_sampled: whether the measure always needs the time series of a run.
        has_trace: whether the measure can be drawn over time, monitor intervals or training steps.
    """

    name: str
    help: str
    dimension: Dimension
    options: tuple[Param, ...] = ()
    is_sampled: bool = False
    has_trace: bool = False

    @property
    def units(self) -> tuple[str, ...]:
        """Units in which values can be shown; an empty string means no unit."""
        return tuple(UNITS.get(self.dimension, {"": 1}))


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of a recipe.

    Attributes:
        name: name in checks and panels.
        kind: the kind of measure.
        label: text in figures and tables.
        unit: unit in figures and tables, as in scenario files; empty without a unit.
        options: SI values by key, including defaults.
    """

    name: str
    kind: MeasureKind
    label: str
    unit: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_signed(self) -> bool:
        """True if values may be negative: only utilities and rewards, not rates, times, sizes, counts or ratios."""
        return self.kind.name in ("interval_utility", "reward")

    @property
    def needs_traces(self) -> bool:
        """True if runs must keep time series for this measure."""
        return self.kind.is_sampled or any(self.options.get(key) is not None for key in TIMED_OPTIONS)


TIMED_OPTIONS = ("since", "until", "over_time")
"""Options that select a part of the run and therefore need time series."""


PAPERS: Mapping[str, str] = {
    "drl-cc": "DRL-CC",
    "mplibra": "MPLibra",
    "ddpg-mpcc": "DDPG-MPCC",
    "dql-mptcp": "DQL-MPTCP",
    "rl-explore": "RL-explore",
}
"""Names of the papers by id, in the order in which lists show them."""

SOURCES: Mapping[str, str] = {**PAPERS, "rfc9743": "RFC 9743"}
"""Sources of experiments: the papers, and the criteria of BCP 133 that `subflow assess` runs."""

FORMS: tuple[PanelForm, ...] = ("lines", "bars", "trace", "table", "box", "scatter")


@dataclass(frozen=True, slots=True)
class Series:
    """A curve or a group of bars.

    Attributes:
        name: name in checks and legends.
        scenario: path of the scenario file; None if the series needs no scenario.
        values: scenario values by dotted key.
        at: further values at individual points, by label of the point.
        is_ours: whether the series shows the proposal of the paper.
        extra: keys that belong to the kind of the recipe.
    """

    name: str
    scenario: Path | None
    values: Mapping[str, TomlValue] = field(default_factory=dict)
    at: Mapping[str, Mapping[str, TomlValue]] = field(default_factory=dict)
    is_ours: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel of the figure.

    Attributes:
        form: one of FORMS.
        measures: names of measures; only traces, tables and bars may have several.
        title: title above the panel; may be empty.
        series: names of the shown series; empty for all.
        points: labels of the shown points; empty for all.
        seed: seed of the run in a trace; None for the first.
        x: measure on the x axis of a scatter.
        window_s: smoothing window of traces, s; 0 without smoothing.
        is_running_mean: whether a trace shows the mean up to each time.
        capacity: names of links, separated by commas, whose total rate is drawn as an area behind traces.
        is_log: whether the y axis is logarithmic.
    """

    form: PanelForm
    measures: tuple[str, ...]
    title: str = ""
    series: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    seed: int | None = None
    x: str = ""
    window_s: float = 0.0
    is_running_mean: bool = False
    capacity: str = ""
    is_log: bool = False


@dataclass(frozen=True, slots=True)
class Published:
    """A number that the paper prints.

    Attributes:
        measure: name of the measure.
        series: name of the series.
        point: label of the point; empty without an axis.
        value: value, SI; None for an improvement.
        over: name of the baseline series of an improvement; empty for a value.
        improvement: (new - old) / old; None for a value.
        note: place in the paper, or how the number was read from it; may be empty.
    """

    measure: str
    series: str
    point: str = ""
    value: float | None = None
    over: str = ""
    improvement: float | None = None
    note: str = ""


class AgentColumn(StrEnum):
    """The agents of an experiment: as the papers print them, or with policies of wider training."""

    PRINTED = "printed"
    WIDE = "wide"

    @property
    def text(self) -> str:
        """Text for tables and headings."""
        return _COLUMN_TEXTS[self]


_COLUMN_TEXTS: Mapping[AgentColumn, str] = {
    AgentColumn.PRINTED: translatable("agents as printed"),
    AgentColumn.WIDE: translatable("agents with wider training"),
}


class CauseKind(StrEnum):
    """Kinds of causes for which a check fails in our results."""

    KERNEL = translatable("kernel of the time")
    """The kernel or simulator of the paper behaved differently."""
    READING = translatable("reading")
    """The paper leaves a point open, and a different reading changes the result."""
    AGENT = translatable("agent")
    """A different policy or training gives a different result."""
    CONTRADICTION = translatable("contradiction")
    """The paper contradicts itself or the capacity of the links."""
    NOISE = translatable("noise")
    """The compared values tie, or a difference would need more runs to show."""

    @property
    def has_own_claim(self) -> bool:
        """True if the cause may be shown by a claim of its own instead of the check."""
        return self in (CauseKind.CONTRADICTION, CauseKind.NOISE)


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause of a failed check, and the claim that shows it.

    Attributes:
        kind: kind of the cause.
        says: description of the cause.
        variants: names of the variants that test the claim; empty if the results of the experiment test it.
        claim: claim that shows the cause; only contradictions and noise may have a claim other than the check's.
    """

    kind: CauseKind
    says: str
    variants: tuple[str, ...]
    claim: Claim


@dataclass(frozen=True, slots=True)
class Variant:
    """A modified form of the experiment.

    Attributes:
        name: name by which causes refer to the variant.
        says: description of the modification.
        recipe: the modified recipe, without checks.
    """

    name: str
    says: str
    recipe: Recipe


@dataclass(frozen=True, slots=True)
class Check:
    """A claim of the paper to check.

    Attributes:
        says: the claim in words.
        claim: the condition to evaluate.
        why: source of the band or tolerance; may be empty.
        needs_full: whether the check needs a full run; quick runs do not evaluate it.
        cause: cause of a failure; None if unknown.
    """

    says: str
    claim: Claim
    why: str = ""
    needs_full: bool = False
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Quick:
    """Changes of a quick run.

    Attributes:
        seeds: seeds of the quick run; None for the seeds of the recipe.
        points: labels of the points; empty for the default of the axis.
        series: names of the series; empty for all.
        values: scenario values by dotted key.
        expected_s: expected duration on two cores, s; None if not given.
        extra: keys that belong to the kind of the recipe.
    """

    seeds: Sequence[int] | None = None
    points: tuple[str, ...] = ()
    series: tuple[str, ...] = ()
    values: Mapping[str, TomlValue] = field(default_factory=dict)
    expected_s: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipe:
    """An experiment, read from its file and checked. Only `planning` checks that its points can run.

    Attributes:
        name: name of the file without suffix: "drl-cc-sc1".
        path: path of the file.
        paper: id of the source, a key of SOURCES.
        figure: figure or table of the paper.
        title: title on one line.
        claim: result that the paper reports.
        prose: text of the comment at the top of the file; may be empty.
        rulings: ids of the rulings that the experiment follows.
        disagrees: differences from the paper and their causes; may be empty.
        kind: name of the kind: "runs" or another key of `kinds.KINDS`.
        seeds: seeds of each point.
        expected_s: expected duration of a full run on two cores, s; None if not given.
        keeps_traces: whether runs keep time series.
        sample_interval_s: sampling interval of time series, s.
        values: scenario values for all runs, by dotted key.
        quick: changes of a quick run.
        axis: x axis of the figure.
        series: series by name, in the order of the file.
        measures: measures by name.
        panels: panels of the figure.
        published: numbers that the paper prints.
        checks: claims to check.
        variants: modified forms of the experiment, by name.
        extra: keys that belong to the kind.
        column: the agents of the experiment; only `columns.in_column` changes it.
    """

    name: str
    path: Path
    paper: str
    figure: str
    title: str
    claim: str
    prose: str
    rulings: tuple[str, ...]
    disagrees: str
    kind: str
    seeds: Sequence[int]
    expected_s: float | None
    keeps_traces: bool
    sample_interval_s: float
    values: Mapping[str, TomlValue]
    quick: Quick
    axis: ExperimentAxis
    series: Mapping[str, Series]
    measures: Mapping[str, Measure]
    panels: tuple[Panel, ...]
    published: tuple[Published, ...]
    checks: tuple[Check, ...]
    variants: Mapping[str, Variant] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    column: AgentColumn = AgentColumn.PRINTED

    @property
    def label(self) -> str:
        """Name that is different in each column of agents: "drl-cc-sc1", "drl-cc-sc1 (wide)"."""
        return label_of(self.name, self.column)

    @property
    def file_name(self) -> str:
        """Beginning of the names of files about the experiment: "drl-cc-sc1", "drl-cc-sc1-wide"."""
        return self.name if self.column is AgentColumn.PRINTED else f"{self.name}-{self.column}"

    def variant_seeds(self, name: str, seeds: Sequence[int], *, is_quick: bool) -> Sequence[int]:
        """Seeds of a variant: its own seeds if its tables set any, otherwise the seeds used for the experiment."""
        own = self.variants[name].recipe.seeds_of(is_quick=is_quick)
        return seeds if list(own) == list(self.seeds_of(is_quick=is_quick)) else own

    def points(self, *, is_quick: bool) -> tuple[AxisPoint, ...]:
        """The points of a full or a quick run."""
        points = self.axis.points
        if not is_quick:
            return points
        if self.quick.points:
            return tuple(point for point in points if point.label in self.quick.points)
        return points[: self.axis.n_quick]

    def series_of(self, *, is_quick: bool) -> tuple[Series, ...]:
        """The series of a full or a quick run."""
        wanted = self.quick.series if is_quick else ()
        return tuple(each for each in self.series.values() if not wanted or each.name in wanted)

    def seeds_of(self, *, is_quick: bool) -> Sequence[int]:
        """The seeds of a full or a quick run."""
        return self.seeds if not is_quick or self.quick.seeds is None else self.quick.seeds


def label_of(name: str, column: AgentColumn) -> str:
    """Label of an experiment in a column of agents, see `Recipe.label`."""
    return name if column is AgentColumn.PRINTED else f"{name} ({column})"
