"""Recipes of experiments as TOML files that people read and write, and the register of rulings on open points.

The shipped recipes are `assets/experiments/*.toml`:

format = 1
paper = "drl-cc"                        # drl-cc, mplibra, ddpg-mpcc, dql-mptcp or rl-explore; rfc9743 for its criteria
figure = "3a, 3b"                       # figure or table of the paper
title = "Goodput against the size of the document"
claim = "What the paper reports, with its numbers."
rulings = ["A1", "A3"]                  # how what the paper leaves open is read; ids of rulings.toml
disagrees = "Where our results differ from the paper, and why as far as known."
kind = "runs"                           # runs (default), training or cost; see `kinds`
scenario = "drlcc-sc1"                  # a shipped one, or a file beside the recipe
seeds = "1..5"
expected = "3min"                       # the whole of it, on two cores
traces = false                          # true: keep time series, for panels of form trace and measures over time
sample_interval = "100ms"               # of the time series

[set]                                   # changes of the scenario for all runs, as with --set
"links.path1.loss" = "2%"

[quick]                                 # what a quick run takes instead
seeds = "1..2"
points = ["8MB"]                        # labels of points; left out: all
series = ["DRL-CC", "LIA"]              # left out: all
expected = "20s"
[quick.set]
duration = "60s"

[axis]                                  # the x of the figure; left out: a single point. See `axis` for all forms
label = "Document size"
unit = "MB"                             # of the numbers; left out: points are names
keys = ["flows.download.size"]          # or [[axis.points]] with label and set, or [axis.draws]
values = ["2MB", "4MB", "8MB"]

[series.DRL-CC]                         # a curve or a group of bars, in the order of the file
ours = true                             # what the paper proposes
scenario = "drlcc-sc1"                  # left out: that of the recipe
set = { "flows.download.controller" = "drl-cc" }
[series.DRL-CC.at."8MB"]                # for this series at this point alone; left out: nothing
"flows.download.controller.epoch_time" = "1s"

[measures.goodput]                      # a name for panels and checks
of = "active_goodput"                   # what is measured; see `measures` for all of them and their options
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

[[checks]]                              # what has to hold; see `expressions` for the language
says = "DRL-CC gets 313 % more than LIA at 8 MB"
holds = "goodput('DRL-CC', '8MB') / goodput('LIA', '8MB') in 3.51 .. 4.75"
why = "15 % of the ratio (A3)"
[checks.cause]                          # why it does not hold here; left out: not known, or it does
kind = "reading"                        # kernel, reading, agent, contradiction or noise; see `CauseKind`
says = "The document may have been larger."
variants = ["16 MB"]                    # which of them show it: the check has to hold in one
holds = "goodput('LIA', '8MB') > 1 Mbit/s"   # of contradiction and noise: what has to hold instead, here or there

[variants."16 MB"]                      # another form of the experiment: its keys replace those of the recipe
says = "Documents are twice as large."
seeds = "1..10"                         # also set, scenario, axis, measures, series, quick, and tables of the kind
[variants."16 MB".series.LIA.set]
"flows.download.size" = "16MB"

The ambiguity register, `rulings.toml`, lists readings of points that the papers leave open. Each kind of measure
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
"""It lies beside the recipes, which name its ids."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """How something that a paper leaves open is read.

    Attributes:
        id: "A1".
        problem: what is open.
        ruling: what we take it for.
    """

    id: str
    problem: str
    ruling: str


def experiments_folder() -> Path:
    """Where the shipped recipes are.

    Raises:
        ResourceError: if it is missing.
    """
    return resource_path("experiments")


@cache
def rulings() -> Mapping[str, Ruling]:
    """The ambiguity register by id, in order.

    Raises:
        ResourceError: if it is missing.
    """
    tree = tomllib.loads((experiments_folder() / RULINGS_FILE).read_text(encoding="utf-8"))
    return {name: Ruling(name, table["problem"], table["ruling"]) for name, table in tree.items()}


@dataclass(frozen=True, slots=True)
class MeasureKind:
    """What `of` of a measure may name.

    Attributes:
        name: by which recipes find it.
        help: formula and meaning, in a sentence or two.
        dimension: of its values; NUMBER: none.
        options: that a recipe may give it.
        is_sampled: whether it can be told from the time series of a run alone.
        has_trace: whether it has a course over time (or over monitor intervals, steps of a training).
    """

    name: str
    help: str
    dimension: Dimension
    options: tuple[Param, ...] = ()
    is_sampled: bool = False
    has_trace: bool = False

    @property
    def units(self) -> tuple[str, ...]:
        """In which its values can be shown; empty text: without."""
        return tuple(UNITS.get(self.dimension, {"": 1}))


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of a recipe.

    Attributes:
        name: by which checks and panels call it.
        kind: what is measured.
        label: for people.
        unit: that it is shown in, of scenario files; empty: none.
        options: SI values by key, those left out with their defaults.
    """

    name: str
    kind: MeasureKind
    label: str
    unit: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_signed(self) -> bool:
        """True for utilities and returns; rates, times, sizes, counts and ratios are not negative."""
        return self.kind.name in ("utility", "return")

    @property
    def needs_traces(self) -> bool:
        """Whether time series have to be kept for it."""
        return self.kind.is_sampled or any(self.options.get(key) is not None for key in TIMED_OPTIONS)


TIMED_OPTIONS = ("since", "until", "over_time")
"""Options that make a figure one of a part of the run, which time series alone tell."""


PAPERS: Mapping[str, str] = {
    "drl-cc": "DRL-CC",
    "mplibra": "MPLibra",
    "ddpg-mpcc": "DDPG-MPCC",
    "dql-mptcp": "DQL-MPTCP",
    "rl-explore": "RL-explore",
}
"""What the papers are called, by their ids, in the order in which they are listed."""

SOURCES: Mapping[str, str] = {**PAPERS, "rfc9743": "RFC 9743"}
"""Whatever says what experiments are to show: the papers, and the criteria of BCP 133, which `subflow assess` runs."""

FORMS: tuple[PanelForm, ...] = ("lines", "bars", "trace", "table", "box", "scatter")


@dataclass(frozen=True, slots=True)
class Series:
    """A curve or a group of bars.

    Attributes:
        name: by which checks name it, and which legends show.
        scenario: path of its scenario file, or None: it needs none.
        values: of dotted scenario keys.
        at: more of them at single points, by label: what no other series knows of, say.
        is_ours: whether it is what the paper proposes.
        extra: what the kind of the recipe reads of it.
    """

    name: str
    scenario: Path | None
    values: Mapping[str, TomlValue] = field(default_factory=dict)
    at: Mapping[str, Mapping[str, TomlValue]] = field(default_factory=dict)
    is_ours: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of the figure.

    Attributes:
        form: one of FORMS.
        measures: names; one but for traces, tables and bars of several.
        title: above it; may be empty.
        series: names of those shown; empty: all.
        points: labels of those shown; empty: all.
        seed: of the run that a trace shows; None: the first.
        x: measure on the x axis of a scatter.
        window_s: over which traces are smoothed; 0: not.
        is_running_mean: whether a trace shows at each time the mean up to it.
        capacity: links whose rate is drawn as an area behind traces, by comma.
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
        measure: name.
        series: name.
        point: label; empty where there is no axis.
        value: SI; None: the paper prints an improvement.
        over: the series that it is an improvement over; empty: none.
        improvement: (new - old) / old; None: the paper prints a value.
        note: where it stands, or how it was read; may be empty.
    """

    measure: str
    series: str
    point: str = ""
    value: float | None = None
    over: str = ""
    improvement: float | None = None
    note: str = ""


class CauseKind(StrEnum):
    """Why a check does not hold here."""

    KERNEL = translatable("kernel of the time")
    """What the paper ran on, its kernel or simulator, did otherwise."""
    READING = translatable("reading")
    """The paper leaves something open that can be read otherwise."""
    AGENT = translatable("agent")
    """Another policy, or another training, comes to something else."""
    CONTRADICTION = translatable("contradiction")
    """The paper contradicts itself, or what the links can carry."""
    NOISE = translatable("noise")
    """It is a tie, or takes more runs to tell."""

    @property
    def has_own_claim(self) -> bool:
        """Whether something else than the check may show it."""
        return self in (CauseKind.CONTRADICTION, CauseKind.NOISE)


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a check does not hold here, and what shows it.

    Attributes:
        kind: of the cause.
        says: what it is.
        variants: names of those that it is tried in; empty: it is told by the results themselves.
        claim: what shows it where it holds; that of the check, or of contradictions and noise another.
    """

    kind: CauseKind
    says: str
    variants: tuple[str, ...]
    claim: Claim


@dataclass(frozen=True, slots=True)
class Variant:
    """The experiment made otherwise.

    Attributes:
        name: by which causes name it.
        says: what is otherwise.
        recipe: what is run; it has no checks of its own.
    """

    name: str
    says: str
    recipe: Recipe


@dataclass(frozen=True, slots=True)
class Check:
    """What has to hold.

    Attributes:
        says: what the paper says.
        claim: what is checked.
        why: where band or tolerance come from; may be empty.
        needs_full: whether a quick run is too short to tell; it is not checked then.
        cause: why it does not hold here; None: that is not known.
    """

    says: str
    claim: Claim
    why: str = ""
    needs_full: bool = False
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Quick:
    """What a quick run takes instead.

    Attributes:
        seeds: None: all.
        points: labels; empty: all.
        series: names; empty: all.
        values: of dotted scenario keys.
        expected_s: what it takes on two cores; None if the recipe does not say.
        extra: what the kind of the recipe reads of it.
    """

    seeds: Sequence[int] | None = None
    points: tuple[str, ...] = ()
    series: tuple[str, ...] = ()
    values: Mapping[str, TomlValue] = field(default_factory=dict)
    expected_s: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipe:
    """An experiment, read and checked by itself; whether its points can be run is for `planning` to say.

    Attributes:
        name: of the file without its ending: "drl-cc-sc1".
        path: of the file.
        paper: id, of SOURCES.
        figure: of the paper.
        title: in a line.
        claim: what the paper reports.
        prose: the comment that the file begins with, without the signs; may be empty.
        rulings: ids.
        disagrees: where and why our results differ; may be empty.
        kind: "runs" or another of `kinds.KINDS`.
        seeds: of the runs of each point.
        expected_s: the whole of it, on two cores; None if it does not say.
        keeps_traces: whether time series are kept.
        sample_interval_s: of them.
        values: of dotted scenario keys, for all runs.
        quick: what a quick run takes instead.
        axis: the x of the figure.
        series: by name, in the order of the file.
        measures: by name.
        panels: the figure.
        published: what the paper prints.
        checks: what has to hold.
        variants: by name, the experiment made otherwise.
        extra: what the kind reads.
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

    def variant_seeds(self, name: str, seeds: Sequence[int], *, is_quick: bool) -> Sequence[int]:
        """The seeds of a variant: its own, or where it has none those that the experiment is made with."""
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
