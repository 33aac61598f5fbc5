"""Tables for reports on experiments: verdicts and their counts, published values, rulings and settings.

One CSV table contains a line for each value of each run, the other a line for each check.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from subflow_app.features.gallery.core.figure import cell_of, published_values, shown_value
from subflow_app.features.gallery.core.recipe import AgentColumn, CauseKind, Ruling
from subflow_app.features.gallery.core.results import (
    SETTLEMENTS,
    CheckCounts,
    Explanation,
    Group,
    Results,
    Settled,
    Settlement,
    Trial,
    Verdict,
    VerdictKind,
    check_counts,
    in_column_text,
    n_finished,
    n_wanted,
    settlement_counts,
)
from subflow_app.features.paper.core.panel_forms import interval_text, number_text
from subflow_app.foundation.toml_edit import TomlValue, render
from subflow_app.vocabulary.language import translatable
from subflow_app.vocabulary.number_text import NOTHING, duration_text, typeset
from subflow_app.vocabulary.plain_text import capitalised
from subflow_app.vocabulary.tables import Column, TextColumn, TextTable, csv_flag, csv_number, csv_text, text_columns
from subflow_sim.units import Dimension

_MOST_VALUES = 8
_SHOWN = {True: translatable("shown"), False: translatable("not shown"), None: translatable("not run")}


def mark(kind: VerdictKind) -> str:
    """Sign of a verdict, for readers who cannot distinguish colours."""
    if kind is VerdictKind.NOT_MEASURED:
        return NOTHING
    return "✓" if kind.is_met else "✗"


def settled_mark(way: Settled) -> str:
    """Sign of a settlement: the sign of a verdict, or "(✗)" for a failure whose cause is shown."""
    if isinstance(way, CauseKind):
        return "(✗)"
    return {Settlement.MET: "✓", Settlement.OPEN: "✗", Settlement.NOT_MEASURED: NOTHING}[way]


def verdict_counts(verdicts: Iterable[Verdict]) -> dict[VerdictKind, int]:
    """Number of verdicts of each kind."""
    counts = dict.fromkeys(VerdictKind, 0)
    for verdict in verdicts:
        counts[verdict.kind] += 1
    return counts


def ours_text(verdict: Verdict) -> str:
    """Our value in a check, or the whole claim with its numbers if the claim is not a comparison."""
    return verdict.outcome.left or verdict.outcome.told


def expected_text(verdict: Verdict) -> str:
    """Expected value with the sign of the comparison: ``> 0.85 Mbit/s``, ``in 3.51 .. 4.75``."""
    left, told = verdict.outcome.left, verdict.outcome.told
    return told[len(left) :].strip() if left and told.startswith(left) else verdict.outcome.right


def why_text(verdict: Verdict) -> str:
    """Text with the reason for a missing result, the source of the band, and overlapping intervals, if any."""
    # References to our readings, such as "(A3)", mean something in the recipe only.
    told = [verdict.reason, re.sub(r" \(A\d+\)", "", verdict.check.why)]
    if verdict.overlaps:
        told.append(f"95 % intervals overlap: {'; '.join(verdict.overlaps)}")
    return ". ".join(capitalised(text) for text in told if text)


def column_totals(ordered: Mapping[Group, Sequence[Results]]) -> dict[str, list[Results]]:
    """Experiments by the title of a row: a row for each group, and one for each column with several papers."""
    rows = {group.title: list(members) for group, members in ordered.items()}
    for column in AgentColumn:
        groups = [members for group, members in ordered.items() if group.column is column]
        if len(groups) > 1:
            rows[in_column_text("All", column)] = [results for members in groups for results in members]
    return rows


def count_table(ordered: Mapping[Group, Sequence[Results]]) -> TextTable:
    """Table with the number of verdicts of each kind, by paper and column of agents, and in total for each column."""
    columns = (
        TextColumn("Paper", is_number=False),
        TextColumn("Experiments"),
        *(TextColumn(kind.value.capitalize()) for kind in VerdictKind),
    )
    rows = []
    for title, members in column_totals(ordered).items():
        counts = verdict_counts(verdict for results in members for verdict in results.verdicts())
        rows.append((title, str(len(members)), *(str(counts[kind]) for kind in VerdictKind)))
    return TextTable("Verdicts", columns, tuple(rows))


def settlement_table(ordered: Mapping[Group, Sequence[Results]]) -> TextTable:
    """Table with the number of checks for each settlement, by paper and column of agents, and in total by column."""
    columns = (
        TextColumn("Paper", is_number=False),
        TextColumn("Checks"),
        *(TextColumn(each.value.capitalize()) for each in SETTLEMENTS),
    )
    rows = []
    for title, members in column_totals(ordered).items():
        verdicts = [verdict for results in members for verdict in results.verdicts()]
        rows.append((title, str(len(verdicts)), *(str(number) for number in settlement_counts(verdicts).values())))
    return TextTable("Checks that are met, and causes of those that are not", columns, tuple(rows))


def agent_table(ordered: Mapping[Group, Sequence[Results]]) -> TextTable:
    """Table with the number of checks that are met, and of those that rest on an agent, by paper and column.

    Raises:
        RecipeError: if a scenario cannot be read.
    """
    columns = (
        TextColumn("Paper", is_number=False),
        *map(TextColumn, ("Checks", "Met", "Rest on an agent", "Of these met")),
    )
    rows = []
    for title, members in column_totals(ordered).items():
        counts = check_counts(members)
        rows.append((title, *map(str, (counts.checks, counts.met, counts.agent_checks, counts.agent_met))))
    return TextTable("Checks that rest on an agent", columns, tuple(rows))


def agents_text(counts: CheckCounts) -> str:
    """Sentence without a full stop on the checks that rest on an agent: ``60 of 147 checks … are met``."""
    return f"{counts.agent_met} of {counts.agent_checks} checks that rest on an agent are met"


def cause_text(verdict: Verdict) -> str:
    """Cause of an unmet check, e.g. ``reading, shown``; empty if the recipe names no cause."""
    told = verdict.explanation
    return "" if told is None else f"{told.cause.kind.value}, {shown_text(told)}"


def shown_text(explanation: Explanation) -> str:
    """State of a cause: shown, not shown, or not run."""
    return _SHOWN[explanation.is_shown]


def trial_text(trial: Trial) -> str:
    """Text that describes how a trial differs from the experiment."""
    return "These results" if trial.variant is None else f"{trial.variant.name}: {trial.variant.says}"


def trial_table(results: Results) -> TextTable:
    """Table of the trials that test the causes of unmet checks, with a row for each check and variant."""
    columns = text_columns(
        translatable("Claim of the paper"),
        translatable("Cause"),
        translatable("Difference"),
        translatable("Results"),
        translatable("Checks met"),
    )
    rows: list[tuple[str, ...]] = []
    for verdict in results.verdicts():
        told = verdict.explanation
        if told is None:
            continue
        first = (verdict.check.says, f"{told.cause.kind.value}: {told.cause.says}")
        for trial in told.trials:
            came = trial.outcome.told if trial.outcome.holds is not None else trial.outcome.reason
            sign = {True: "✓", False: "✗", None: NOTHING}[trial.outcome.holds]
            rows.append((*first, trial_text(trial), f"{sign} {came}", f"{trial.n_met} of {trial.n_checks}"))
            first = ("", "")
    return TextTable("Causes of failed checks", columns, tuple(rows))


def verdict_table(results: Results) -> TextTable:
    """Table of the checks: claim, verdict, our value, expected value, cause and reason."""
    columns: tuple[Column[Verdict], ...] = (
        Column(translatable("Claim of the paper"), lambda verdict: verdict.check.says),
        Column(translatable("Verdict"), lambda verdict: f"{mark(verdict.kind)} {verdict.kind.value}", is_mark=True),
        Column(translatable("Ours"), lambda verdict: ours_text(verdict) or NOTHING),
        Column(translatable("Expected"), lambda verdict: expected_text(verdict) or NOTHING),
        Column(translatable("Cause"), cause_text),
        Column(translatable("Why"), why_text),
    )
    return TextTable.of(results.verdicts(), columns, "Verdicts")


def published_table(results: Results) -> TextTable:
    """Table of published numbers next to ours, with a row for each number."""
    words = (translatable("Measure"), translatable("Series"), translatable("At"), translatable("Ours"))
    columns = (
        *text_columns(*words, translatable("Paper")),
        TextColumn(translatable("Ours over the paper's")),
    )
    rows = []
    for each in published_values(results):
        published = each.published
        measure = results.recipe.measures[published.measure]
        cell = cell_of(results, published.measure, published.series, published.point)
        unit = f" {measure.unit}" if measure.unit else ""
        ours = interval_text(shown_value(measure, cell.mean), shown_value(measure, cell.ci95))
        paper = f"{number_text(shown_value(measure, each.value))}{unit}"
        if published.improvement is not None:
            improvement, over = typeset(f"{published.improvement * 100:+.4g}"), published.over
            paper = f"{improvement} % over {over} ({paper} with our {over})"
        ratio = cell.mean / each.value if each.value else math.nan
        rows.append(
            (
                measure.label,
                published.series,
                published.point or NOTHING,
                f"{ours}{unit}" if cell.n else "not measured",
                paper + (f"; {published.note}" if published.note else ""),
                f"{ratio:.2f}" if math.isfinite(ratio) else NOTHING,
            )
        )
    return TextTable("Printed in the paper, and ours", columns, tuple(rows))


def side_by_side_table(printed: Sequence[Results], wide: Sequence[Results]) -> TextTable:
    """Table of a paper's agents as printed, the same with wider training, and the other controllers.

    A row shows the first measure of an experiment at one point, for one series with an agent. The seeds of the runs
    are those of the experiments, and no training uses the random numbers of these runs.

    Args:
        printed: experiments of one paper with agents as printed.
        wide: the same experiments with agents of wider training; missing ones show no value.

    Raises:
        RecipeError: if a scenario cannot be read.
    """
    words = (translatable("Figure"), translatable("At"), translatable("Measure"), translatable("Agent"))
    numbers = (translatable("As printed"), translatable("With wider training"))
    columns = (
        *text_columns(*words),
        *map(TextColumn, numbers),
        *text_columns(translatable("Others")),
    )
    others = {results.recipe.name: results for results in wide}
    rows = []
    for results in printed:
        recipe = results.recipe
        if recipe.kind == "training" or not results.agents:
            continue
        name, measure = next(iter(recipe.measures.items()))
        for point in results.points:
            rest = [
                f"{series} {_mean_text(results, name, series, point)}"
                for series in results.series
                if series not in results.agents
            ]
            for series in sorted(results.agents & set(results.series), key=results.series.index):
                beside = others.get(recipe.name)
                rows.append(
                    (
                        recipe.figure,
                        point or NOTHING,
                        f"{measure.label} ({measure.unit})" if measure.unit else measure.label,
                        series,
                        _mean_text(results, name, series, point),
                        NOTHING if beside is None else _mean_text(beside, name, series, point),
                        ", ".join(rest) or NOTHING,
                    )
                )
    return TextTable("Agents as printed, with wider training, and others", columns, tuple(rows))


def _mean_text(results: Results, measure: str, series: str, point: str) -> str:
    """Mean over the seeds in the unit of the measure, without it."""
    cell = cell_of(results, measure, series, point)
    return number_text(shown_value(results.recipe.measures[measure], cell.mean)) if cell.n else NOTHING


def rulings_table(known: Sequence[Ruling]) -> TextTable:
    """Table of our readings of points that the paper leaves open."""
    columns: tuple[Column[Ruling], ...] = (
        Column(translatable("Number"), lambda each: each.id),
        Column(translatable("Open point of the paper"), lambda each: each.problem),
        Column(translatable("Reading here"), lambda each: each.ruling),
    )
    return TextTable.of(known, columns, "How the paper is read")


def settings_table(results: Results) -> TextTable:
    """Table of the settings, such as scenarios, changed values, seeds and the number of runs."""
    recipe, is_quick = results.recipe, results.is_quick
    series = recipe.series_of(is_quick=is_quick)
    scenarios = list(dict.fromkeys(each.scenario.stem for each in series if each.scenario is not None))
    rows = [("Experiment", recipe.name), ("Length", "quick" if is_quick else "full")]
    rows.append(("Agents", recipe.column.text))
    if scenarios:
        rows.append(("Scenario", ", ".join(scenarios)))
    values = dict(recipe.values) | (dict(recipe.quick.values) if is_quick else {})
    if values:
        rows.append(("Changed for all runs", _changes_text(values)))
    for each in series:
        if each.values:
            rows.append((each.name, _changes_text(each.values)))
    if not recipe.axis.is_single:
        labels = [point.label for point in recipe.points(is_quick=is_quick)]
        shown = ", ".join(labels[:_MOST_VALUES]) + (f" … {labels[-1]}" if len(labels) > _MOST_VALUES else "")
        rows.append((recipe.axis.label, f"{len(labels)} random draws" if recipe.axis.is_drawn else shown))
    rows.append(("Seeds", seeds_text(results.seeds)))
    rows.append(("Runs", f"{n_finished(results)} of {n_wanted(results)}"))
    expected_s = recipe.quick.expected_s if is_quick else recipe.expected_s
    if expected_s is not None:
        rows.append(("Takes", f"about {duration_text(expected_s)} on two cores"))
    if results.note:
        rows.append(("Computer", results.note))
    return TextTable("Settings", text_columns(translatable("Item"), translatable("Value")), tuple(rows))


def seeds_text(seeds: Sequence[int]) -> str:
    """Seeds as text: ``1..5`` or ``1,3,7``."""
    listed = list(seeds)
    if len(listed) > 1 and listed == list(range(listed[0], listed[-1] + 1)):
        return f"{listed[0]}..{listed[-1]}"
    return ",".join(map(str, listed))


def _changes_text(values: Mapping[str, TomlValue]) -> str:
    return ", ".join(f"{key} = {render(value)}" for key, value in values.items())


_SI: Mapping[Dimension, str] = defaultdict(
    str,
    {
        Dimension.RATE: "bit/s",
        Dimension.TIME: "s",
        Dimension.SIZE: "B",
        Dimension.QUEUE: "pkt",
    },
)
RESULT_COLUMNS = ("experiment", "quick", "series", "point", "seed", "measure", "unit", "value", "agents")
VERDICT_COLUMNS = (
    "experiment",
    "quick",
    "figure",
    "check",
    "kind",
    "ours",
    "expected",
    "verdict",
    "cause",
    "shown",
    "why",
    "agents",
    "uses_agent",
)


def results_csv(every: Sequence[Results]) -> str:
    """CSV text with a line for each measured value, in SI units; missing values are omitted."""
    rows = []
    for results in every:
        recipe = results.recipe
        for series in results.series:
            for point in results.points:
                for measure in recipe.measures.values():
                    cell = results.cell(measure.name, series, point)
                    place = (recipe.name, csv_flag(results.is_quick), series, point)
                    for seed, value in zip(results.seeds, cell.values, strict=False):
                        if math.isfinite(value):
                            rows.append(
                                (
                                    *place,
                                    seed,
                                    measure.name,
                                    _SI[measure.kind.dimension],
                                    csv_number(value),
                                    recipe.column.value,
                                )
                            )
    return csv_text(RESULT_COLUMNS, rows)


def verdicts_csv(every: Sequence[Results]) -> str:
    """CSV text with a line for each check."""
    rows = []
    for results in every:
        recipe = results.recipe
        for verdict in results.verdicts():
            rows.append(
                (
                    recipe.name,
                    csv_flag(results.is_quick),
                    recipe.figure,
                    verdict.check.says,
                    "band" if verdict.outcome.is_band else "claim",
                    ours_text(verdict),
                    expected_text(verdict),
                    verdict.kind.value,
                    "" if verdict.explanation is None else verdict.explanation.cause.kind.value,
                    "" if verdict.explanation is None else shown_text(verdict.explanation),
                    why_text(verdict),
                    recipe.column.value,
                    csv_flag(results.uses_agent(verdict.check)),
                )
            )
    return csv_text(VERDICT_COLUMNS, rows)
