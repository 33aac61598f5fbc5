"""Reader of recipes of experiments, and selection of recipes by name, by paper, or from files.

The reader checks every key against its declaration, and every reference against the existing names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from subflow_app.features.gallery.core.axis import ExperimentAxis, read_axis, read_set
from subflow_app.features.gallery.core.kind import Kind
from subflow_app.features.gallery.core.kinds import KINDS
from subflow_app.features.gallery.core.recipe import (
    FORMS,
    RULINGS_FILE,
    SOURCES,
    Cause,
    CauseKind,
    Check,
    Measure,
    Panel,
    Published,
    Quick,
    Recipe,
    Series,
    Variant,
    experiments_folder,
    rulings,
)
from subflow_app.features.sweeps.core.plan_file import noted_seeds
from subflow_app.features.sweeps.core.sweep_plan import DEFAULT_SAMPLE_INTERVAL_S
from subflow_app.foundation.claims import Claim
from subflow_app.foundation.errors import InputError, RecipeError
from subflow_app.foundation.expressions import ClaimError, Function
from subflow_app.foundation.expressions import Kind as ArgumentKind
from subflow_app.foundation.resources import is_to_read, way_on
from subflow_app.foundation.toml_edit import TomlValue
from subflow_app.foundation.toml_files import checked, prose, read_text, scenario_beside
from subflow_sim.errors import ParamError
from subflow_sim.gate import is_file
from subflow_sim.parameter import Param, kind_name
from subflow_sim.plain_text import did_you_mean, either
from subflow_sim.section_reader import Report, read_section
from subflow_sim.toml_map import Path as Place
from subflow_sim.toml_map import dotted
from subflow_sim.units import Dimension, parse_quantity

_RECIPE = (
    Param("format", Dimension.COUNT, "Version of the file format.", required=True, minimum=1, maximum=1),
    Param("paper", Dimension.CHOICE, "Paper of the experiment.", required=True, choices=tuple(SOURCES)),
    Param("figure", Dimension.TEXT, "Figure or table of the paper.", required=True),
    Param("title", Dimension.TEXT, "Subject, in a line.", required=True),
    Param("claim", Dimension.TEXT, "Result that the paper reports.", required=True, allows_lines=True),
    Param("disagrees", Dimension.TEXT, "Differences of our results, and their causes.", allows_lines=True),
    Param("kind", Dimension.CHOICE, "Kind of the experiment.", default="runs", choices=tuple(KINDS)),
    Param("scenario", Dimension.TEXT, "Scenario to run: a shipped one, or a file beside the recipe."),
    Param("expected", Dimension.TIME, "Expected time on two cores.", minimum=0, exclusive_minimum=True),
    Param("traces", Dimension.FLAG, "Keep time series.", default=False),
    Param(
        "sample_interval",
        Dimension.TIME,
        "Interval of the time series.",
        default=DEFAULT_SAMPLE_INTERVAL_S,
        minimum=0,
        exclusive_minimum=True,
    ),
)
_OF_THE_FIGURE = ("panels", "published", "checks", "variants")
_TABLES = ("rulings", "seeds", "set", "quick", "axis", "series", "measures", *_OF_THE_FIGURE)
_CAUSES = {"kernel": CauseKind.KERNEL, **{str(kind): kind for kind in CauseKind if kind is not CauseKind.KERNEL}}
_QUICK = (Param("expected", Dimension.TIME, "Expected time of a quick run.", minimum=0, exclusive_minimum=True),)
_SERIES = (
    Param("ours", Dimension.FLAG, "true for the proposal of the paper.", default=False),
    Param("scenario", Dimension.TEXT, "Scenario in place of that of the recipe."),
)
_MEASURE = (
    Param("unit", Dimension.TEXT, "Unit in which it is shown."),
    Param("label", Dimension.TEXT, "Shown name; left out: its key."),
)
_PANEL = (
    Param("form", Dimension.CHOICE, "Form of the drawing.", required=True, choices=FORMS),
    Param("title", Dimension.TEXT, "Title above the panel."),
    Param("seed", Dimension.COUNT, "Seed of the run that a trace shows.", minimum=0),
    Param("window", Dimension.TIME, "Time over which traces are smoothed.", default=0.0, minimum=0),
    Param("running_mean", Dimension.FLAG, "true: show at each time the mean up to it.", default=False),
    Param("capacity", Dimension.TEXT, "Links whose rate is drawn behind traces, by comma."),
    Param("log", Dimension.FLAG, "true for a logarithmic y axis.", default=False),
)
_PUBLISHED = (
    Param("improvement", Dimension.RATIO, "Improvement: (new - old) / old."),
    Param("note", Dimension.TEXT, "Place in the paper, or how the value was read."),
)
_CHECK = (
    Param("says", Dimension.TEXT, "Claim of the paper.", required=True),
    Param("holds", Dimension.TEXT, "Condition to check.", required=True, allows_lines=True),
    Param("why", Dimension.TEXT, "Source of the band or tolerance."),
    Param("full", Dimension.FLAG, "true if a quick run is too short for it.", default=False),
)
_CAUSE = (
    Param("kind", Dimension.CHOICE, "Kind of the cause.", required=True, choices=tuple(_CAUSES)),
    Param("says", Dimension.TEXT, "The cause.", required=True, allows_lines=True),
    Param("holds", Dimension.TEXT, "Condition that shows it, in place of the check.", allows_lines=True),
)
_VARIANT = (Param("says", Dimension.TEXT, "Difference of the variant.", required=True, allows_lines=True),)
_VARIED = ("scenario", "seeds", "set", "quick", "axis", "series", "measures")


def read_recipe(path: Path, text: str) -> Recipe:
    """Read a recipe from the text of its file.

    Raises:
        RecipeError: if the recipe is invalid; the error lists all problems of the file.
    """
    return checked(text, path, RecipeError, lambda tree, report: _Reader(path, text, tree, report).recipe())


class _Reader:
    """Reads one file; problems go to the report."""

    def __init__(
        self, path: Path, text: str, tree: Mapping[str, Any], report: Report, *, variant: str | None = None
    ) -> None:
        self._path = path
        self._name = path.stem if variant is None else f"{path.stem} ({variant})"
        self._is_variant = variant is not None
        self._text = text
        self._tree = tree
        self._report = report
        kind = tree.get("kind", "runs")
        self._kind: Kind = KINDS[kind if isinstance(kind, str) and kind in KINDS else "runs"]()

    def recipe(self) -> Recipe:
        report, tree, kind = self._report, self._tree, self._kind
        values = read_section(report, (), tree, _RECIPE, also_known=(*_TABLES, *kind.tables))
        scenario = scenario_beside(self._report, ("scenario",), self._path, values.get("scenario"))
        axis_table = self._table(("axis",), tree.get("axis"), "[axis]")
        axis = ExperimentAxis() if axis_table is None else read_axis(report, axis_table)
        series = dict(self._series(scenario, axis))
        measures = dict(self._measures(bool(values.get("traces"))))
        recipe = Recipe(
            name=self._name,
            path=self._path,
            paper=values.get("paper", ""),
            figure=values.get("figure", ""),
            title=values.get("title", ""),
            claim=values.get("claim", ""),
            prose=prose(self._text),
            rulings=self._rulings(),
            disagrees=values.get("disagrees") or "",
            kind=values.get("kind", "runs"),
            seeds=noted_seeds(self._report, ("seeds",), tree.get("seeds", "1..5")),
            expected_s=values.get("expected"),
            keeps_traces=bool(values.get("traces")),
            sample_interval_s=values.get("sample_interval", DEFAULT_SAMPLE_INTERVAL_S),
            values=read_set(report, ("set",), tree.get("set", {})),
            quick=self._quick(axis, series),
            axis=axis,
            series=series,
            measures=measures,
            panels=tuple(self._panels(axis, series, measures, bool(values.get("traces")))),
            published=tuple(self._published(axis, series, measures)),
            checks=tuple(self._checks(axis, series, measures)),
            extra=kind.read(report, tree),
        )
        for name in ("panels", "checks"):
            if not tree.get(name) and not self._is_variant:
                report.add((name,), "missing", f"[[{name}]], at least one")
        return replace(recipe, variants=dict(self._variants(recipe)))

    # Parts of the recipe

    def _rulings(self) -> tuple[str, ...]:
        given = self._report.names(("rulings",), self._tree.get("rulings", []))
        self._report.check_names(("rulings",), given, "ruling", rulings())
        return given

    def _quick(self, axis: ExperimentAxis, series: Mapping[str, Series]) -> Quick:
        place: Place = ("quick",)
        own = self._kind.quick_keys
        table = self._table(place, self._tree.get("quick"), "[quick]") or {}
        values = read_section(self._report, place, table, _QUICK, also_known=("seeds", "points", "series", "set", *own))
        points = self._report.names((*place, "points"), table.get("points", []))
        if points and axis.is_single:
            self._report.add((*place, "points"), "the experiment has no axis", "left out")
        else:
            self._report.check_names((*place, "points"), points, "point", axis.labels)
        chosen = self._report.names((*place, "series"), table.get("series", []))
        self._report.check_names((*place, "series"), chosen, "series", series)
        return Quick(
            noted_seeds(self._report, (*place, "seeds"), table["seeds"]) if "seeds" in table else None,
            points,
            chosen,
            read_set(self._report, (*place, "set"), table.get("set", {})),
            values.get("expected"),
            {key: table[key] for key in own if key in table},
        )

    def _series(self, scenario: Path | None, axis: ExperimentAxis) -> Iterator[tuple[str, Series]]:
        tables = self._table(("series",), self._tree.get("series", {}), "[series.NAME]") or {}
        if not tables:
            self._report.add(("series",), "missing", "[series.NAME], at least one")
        own = self._kind.series_keys
        for name, table in tables.items():
            place: Place = ("series", name)
            if self._table(place, table, f"[series.{name}]") is None:
                continue
            values = read_section(self._report, place, table, _SERIES, also_known=("set", "at", *own))
            found = scenario_beside(self._report, (*place, "scenario"), self._path, values.get("scenario"))
            if found is None and scenario is None and self._kind.needs_scenario and "scenario" not in self._tree:
                self._report.add((*place, "scenario"), "missing", "a scenario, here or at the top of the file")
            yield (
                name,
                Series(
                    name,
                    found or scenario,
                    read_set(self._report, (*place, "set"), table.get("set", {})),
                    self._at((*place, "at"), table.get("at"), axis),
                    bool(values.get("ours")),
                    {key: table[key] for key in own if key in table},
                ),
            )

    def _at(self, place: Place, written: object, axis: ExperimentAxis) -> dict[str, dict[str, TomlValue]]:
        tables = self._table(place, written, "a table for each point") or {}
        if tables and axis.is_single:
            self._report.add(place, "the experiment has no axis", "left out")
        else:
            self._report.check_names(place, tables, "point", axis.labels)
        return {label: read_set(self._report, (*place, label), table) for label, table in tables.items()}

    def _measures(self, keeps_traces: bool) -> Iterator[tuple[str, Measure]]:
        tables = self._table(("measures",), self._tree.get("measures", {}), "[measures.NAME]") or {}
        if not tables:
            self._report.add(("measures",), "missing", "[measures.NAME], at least one")
        for name, table in tables.items():
            place: Place = ("measures", name)
            if self._table(place, table, f"[measures.{name}]") is None:
                continue
            if not name.isidentifier() or not name.isascii():
                self._report.add(place, "not a name that checks can call", "letters, digits and _")
            measure = self._measure(place, name, table)
            if measure is None:
                continue
            if measure.needs_traces and self._kind.name == "runs" and not keeps_traces:
                self._report.add(place, "is computed from time series, which are not kept", "traces = true")
            yield name, measure

    def _measure(self, place: Place, name: str, table: Mapping[str, Any]) -> Measure | None:
        known = self._kind.measures
        of = table.get("of")
        kind = known.get(of) if isinstance(of, str) else None
        if kind is None:
            if isinstance(of, str):
                self._report.add((*place, "of"), f"unknown measure{did_you_mean(of, list(known))}", either(list(known)))
            else:
                text = "missing" if of is None else f"this is {kind_name(of)}"
                self._report.add((*place, "of"), text, either(list(known)))
            return None
        values = read_section(self._report, place, table, (*_MEASURE, *kind.options), also_known=("of",))
        unit = values.pop("unit", None)
        label = values.pop("label", None)
        if unit is None:
            unit = kind.units[0] if "" not in kind.units else ""
        elif unit not in kind.units:
            allowed = either([each for each in kind.units if each]) if any(kind.units) else "left out"
            self._report.add((*place, "unit"), f"not a unit of {kind.name}", allowed)
            unit = kind.units[0]
        for key in ("over_series",):
            if values.get(key) is not None:
                self._report.check_names((*place, key), (values[key],), "series", self._tree.get("series", {}))
        return Measure(name, kind, label or name, unit, values)

    def _panels(
        self,
        axis: ExperimentAxis,
        series: Mapping[str, Series],
        measures: Mapping[str, Measure],
        keeps_traces: bool,
    ) -> Iterator[Panel]:
        also = ("measure", "measures", "x", "series", "points", "point")
        for place, table in self._report.tables("panels"):
            values = read_section(self._report, place, table, _PANEL, also_known=also)
            shown = self._report.names((*place, "measures"), table["measures"]) if "measures" in table else ()
            if isinstance(table.get("measure"), str):
                shown = (*shown, table["measure"])
            if not shown:
                self._report.add((*place, "measure"), "missing", either(self._measure_names))
            shown_at = (*place, "measure" if "measure" in table else "measures")
            self._report.check_names(shown_at, shown, "measure", self._measure_names)
            x = table.get("x", "")
            if values.get("form") == "scatter" or x:
                self._report.check_names((*place, "x"), (str(x),), "measure", self._measure_names)
            chosen = self._report.names((*place, "series"), table.get("series", []))
            self._report.check_names((*place, "series"), chosen, "series", series)
            points = self._report.names((*place, "points"), table.get("points", []))
            if isinstance(table.get("point"), str):
                points = (*points, table["point"])
            self._report.check_names((*place, "points"), points, "point", axis.labels)
            if values.get("form") == "trace":
                if self._kind.name == "runs" and not keeps_traces:
                    self._report.add(place, "shows time series, which are not kept", "traces = true")
                for each in shown:
                    if each in measures and not measures[each].kind.has_trace:
                        able = [kind.name for kind in self._kind.measures.values() if kind.has_trace]
                        message = f"{measures[each].kind.name} has no course over time"
                        self._report.add(place, message, f"measures of {either(able)}")
            yield Panel(
                values.get("form", "lines"),
                tuple(shown),
                values.get("title") or "",
                chosen,
                points,
                values.get("seed"),
                str(x),
                values.get("window") or 0.0,
                bool(values.get("running_mean")),
                values.get("capacity") or "",
                bool(values.get("log")),
            )

    def _published(
        self, axis: ExperimentAxis, series: Mapping[str, Series], measures: Mapping[str, Measure]
    ) -> Iterator[Published]:
        also = ("measure", "series", "point", "value", "over")
        for place, table in self._report.tables("published"):
            values = read_section(self._report, place, table, _PUBLISHED, also_known=also)
            measure = self._one_of(place, table, "measure", self._measure_names)
            name = self._one_of(place, table, "series", series)
            point = ""
            if not axis.is_single:
                point = self._one_of(place, table, "point", axis.labels)
            elif "point" in table:
                self._report.add((*place, "point"), "the experiment has no axis", "left out")
            over = self._one_of(place, table, "over", series) if "over" in table or "improvement" in table else ""
            if ("value" in table) == ("improvement" in table):
                self._report.add(
                    place, "needs a value or an improvement", 'value = "3.2Mbit/s", or improvement and over'
                )
            value = None
            if "value" in table and measure in measures:
                value = self._quantity((*place, "value"), table["value"], measures[measure].kind.dimension)
            yield Published(measure, name, point, value, over, values.get("improvement"), values.get("note") or "")

    def _checks(
        self, axis: ExperimentAxis, series: Mapping[str, Series], measures: Mapping[str, Measure]
    ) -> Iterator[Check]:
        n_optional = 0 if axis.is_single else 1
        arguments: tuple[ArgumentKind, ...] = ("text",) if axis.is_single else ("text", "text")
        functions = {
            # Problems of a measure are reported where it is declared, not at each call.
            name: Function(arguments, optional=n_optional, unit=measures[name].unit if name in measures else "")
            for name in self._measure_names
        }
        for place, table in self._report.tables("checks"):
            values = read_section(self._report, place, table, _CHECK, also_known=("cause",))
            claim = self._claim((*place, "holds"), values.get("holds"), functions, axis, series)
            if claim is not None:
                cause = self._cause((*place, "cause"), table.get("cause"), claim, functions, axis, series)
                why, is_full = values.get("why") or "", bool(values.get("full"))
                yield Check(values.get("says", ""), claim, why, is_full, cause)

    def _claim(
        self,
        place: Place,
        text: object,
        functions: Mapping[str, Function],
        axis: ExperimentAxis,
        series: Mapping[str, Series],
    ) -> Claim | None:
        if not isinstance(text, str):
            return None
        try:
            claim = Claim(text, functions)
        except ClaimError as error:
            self._report.add(place, error.message, error.allowed)
            return None
        for call in claim.calls():
            for name, column, what, known in zip(
                call.texts, call.columns, ("series", "point"), (tuple(series), axis.labels), strict=False
            ):
                if name is not None and name not in known:
                    message = f'column {column}: unknown {what} "{name}"{did_you_mean(name, list(known))}'
                    self._report.add(place, message, either(list(known)))
        return claim

    def _cause(
        self,
        place: Place,
        written: object,
        claim: Claim,
        functions: Mapping[str, Function],
        axis: ExperimentAxis,
        series: Mapping[str, Series],
    ) -> Cause | None:
        table = self._table(place, written, "[checks.cause]")
        if table is None:
            return None
        values = read_section(self._report, place, table, _CAUSE, also_known=("variants",))
        kind = _CAUSES.get(values.get("kind") or "")
        variants = self._report.names((*place, "variants"), table.get("variants", []))
        self._report.check_names((*place, "variants"), variants, "variant", _keys(self._tree.get("variants")))
        own = self._claim((*place, "holds"), values.get("holds"), functions, axis, series)
        if kind is None:
            return None
        if "holds" in table and not kind.has_own_claim:
            self._report.add((*place, "holds"), f"{table['kind']} is shown by the check itself alone", "left out")
        elif not variants and own is None and "holds" not in table:
            needs = 'variants = ["..."], or holds' if kind.has_own_claim else 'variants = ["..."]'
            self._report.add(place, "nothing shows it", needs)
        return Cause(kind, " ".join((values.get("says") or "").split()), variants, own or claim)

    def _variants(self, whole: Recipe) -> Iterator[tuple[str, Variant]]:
        """Modified forms of the experiment, each read as a complete recipe."""
        tables = self._table(("variants",), self._tree.get("variants", {}), "[variants.NAME]") or {}
        named = {name for check in whole.checks if check.cause is not None for name in check.cause.variants}
        is_read = not self._report.problems
        varied = (*_VARIED, *self._kind.tables)
        own = {key: value for key, value in self._tree.items() if key not in _OF_THE_FIGURE}
        for name, table in tables.items():
            place: Place = ("variants", name)
            if self._table(place, table, f"[variants.{name}]") is None:
                continue
            values = read_section(self._report, place, table, _VARIANT, also_known=varied)
            if is_read and name not in named:
                self._report.add(place, "no cause names it", f'variants = ["{name}"] of a cause, or left out')
            for key in ("series", "measures"):
                self._report.check_names((*place, key), _keys(table.get(key)), key, _keys(own.get(key)))
            tree = _overlaid(own, {key: value for key, value in table.items() if key in varied})
            report = _VariantReport(str(self._path), tree, self._report, place)
            recipe = _Reader(self._path, self._text, tree, report, variant=name).recipe()
            if recipe.axis.labels != whole.axis.labels:
                self._report.add((*place, "axis"), "checks would not find their points", either(whole.axis.labels))
            yield name, Variant(name, " ".join((values.get("says") or "").split()), recipe)

    # Helpers

    @property
    def _measure_names(self) -> list[str]:
        """Names of all measures, including invalid ones."""
        return _keys(self._tree.get("measures"))

    def _table(self, place: Place, value: object, header: str) -> dict[str, Any] | None:
        return None if value is None else self._report.expect_table(place, value, header)

    def _one_of(self, place: Place, table: Mapping[str, Any], key: str, known: Iterable[str]) -> str:
        name = table.get(key)
        if isinstance(name, str):
            self._report.check_names((*place, key), (name,), key.replace("over", "series"), known)
            return name
        self._report.add((*place, key), "missing" if name is None else "not a text", either(list(known)))
        return ""

    def _quantity(self, place: Place, value: object, dimension: Dimension) -> float | None:
        try:
            if isinstance(value, str):
                return parse_quantity(value, dimension)
        except ParamError as error:
            self._report.add(place, error.message, error.allowed)
            return None
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        self._report.add(place, f"this is {kind_name(value)}", "a number, with its unit")
        return None


class _VariantReport(Report):
    """Report on a variant, which passes its problems on to the report on the recipe, at the place of the variant.

    Args:
        file: path of the recipe.
        tree: tree of the variant.
        whole: the report on the recipe.
        place: place of the variant in the recipe.
    """

    def __init__(self, file: str, tree: Mapping[str, Any], whole: Report, place: Place) -> None:
        super().__init__(file, dict, tree)
        self._whole = whole
        self._place = place

    def add(self, path: Place, message: str, allowed: str = "") -> None:
        """Add a problem, unless the recipe itself has the same problem."""
        if not any(each.key == dotted(path) and each.message == message for each in self._whole.problems):
            self._whole.add((*self._place, *path), message, allowed)


def _keys(table: object) -> list[str]:
    """Keys of a table; empty for other values."""
    return list(table) if isinstance(table, dict) else []


def _overlaid(tree: Mapping[str, Any], over: Mapping[str, Any], levels: int | None = None) -> dict[str, Any]:
    """Merge two trees; scenario values in a table `set` or `at` are replaced as a whole.

    Merging such a table key by key could, for example, mix the options of two controllers.

    Args:
        tree: the tree to overlay.
        over: the tree that takes precedence.
        levels: number of tables to descend until the keys of a `set` are reached; None outside `set` and `at`.
    """
    merged = dict(tree)
    for key, value in over.items():
        old = merged.get(key)
        is_table = isinstance(old, dict) and isinstance(value, dict) and levels != 0
        below = {"set": 0, "at": 1}.get(key) if levels is None else levels - 1
        merged[key] = _overlaid(dict(old or {}), value, below) if is_table else value
    return merged


RECIPE_SUFFIX = ".toml"


def recipe_names() -> tuple[str, ...]:
    """Names of the shipped recipes, sorted by paper and figure."""
    names = [path.stem for path in experiments_folder().glob(f"*{RECIPE_SUFFIX}") if path.name != RULINGS_FILE]
    return tuple(sorted(names, key=_order))


def load_recipe(name_or_path: str) -> Recipe:
    """Read a recipe file, or a shipped recipe by name.

    Raises:
        InputError: if the file or name does not exist.
        RecipeError: if the recipe is invalid; the error lists all problems of the file.
    """
    path = _find(name_or_path)
    return read_recipe(path, read_text(path, RecipeError, "a recipe"))


def chosen_recipes(names: Sequence[str]) -> tuple[Recipe, ...]:
    """The recipes that the names select, each once, in the order of the names.

    Args:
        names: names of recipes or papers, paths of files, or "all"; empty for all.

    Raises:
        InputError: if a name is unknown.
        RecipeError: if a recipe is invalid.
    """
    found: dict[str, None] = {}
    shipped = recipe_names()
    for name in names or ("all",):
        if name == "all":
            found.update(dict.fromkeys(shipped))
        elif name in SOURCES and not is_file(Path(name)):
            of_paper = [each for each in shipped if load_recipe(each).paper == name]
            found.update(dict.fromkeys(of_paper))
        else:
            found[name] = None
    return tuple(map(load_recipe, found))


def recipes_of(paper: str) -> tuple[Recipe, ...]:
    """The shipped recipes of a paper, in order."""
    return tuple(recipe for recipe in map(load_recipe, recipe_names()) if recipe.paper == paper)


def _find(name_or_path: str) -> Path:
    path = Path(name_or_path)
    if is_to_read(path):
        return path
    names = recipe_names()
    if name_or_path in names:
        return experiments_folder() / f"{name_or_path}{RECIPE_SUFFIX}"
    if path.suffix == RECIPE_SUFFIX or len(path.parts) > 1:
        raise InputError(f"{name_or_path}: no such recipe file")
    listed = f"papers: {', '.join(SOURCES)}; `subflow reproduce --list` lists the experiments"
    close = way_on(name_or_path, [*names, *SOURCES, "all"], listed)
    raise InputError(f"{name_or_path}: no such experiment or paper; {close}")


def _order(name: str) -> tuple[int, list[tuple[int, int, str]]]:
    """Sort key: by paper, then by name, with numbers compared by value, so that fig9a precedes fig11a."""
    papers = list(SOURCES)
    paper = next((place for place, each in enumerate(papers) if name.startswith(each)), len(papers))
    parts = re.split(r"(\d+)", name)
    return paper, [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
