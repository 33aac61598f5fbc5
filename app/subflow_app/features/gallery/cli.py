"""``subflow reproduce``: runs the papers' experiments and compares the claims of the papers with the results."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subflow_app.features.sweeps.cli import Cluster, Jobs, job_count
from subflow_app.features.training.cli.trainings import retrain
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.json_document import fields
from subflow_app.terminal import failures
from subflow_app.terminal.options import Database, Json, opened_store, tell_simulated
from subflow_app.terminal.terminal import print_error, print_json, print_line, print_note, print_rows, print_tables
from subflow_app.vocabulary.number_text import count_text, counted, duration_text
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable, text_columns
from subflow_sim.gate import is_folder, is_there

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.recipe import AgentColumn, Recipe
    from subflow_app.features.gallery.core.reproduction import Reproductions
    from subflow_app.features.gallery.core.results import Results, Verdict
    from subflow_app.foundation.jobs.job import JobOutcome


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID|PAPER|all...", help="Experiments (`--list` lists them), papers, or files of recipes; all: all."
        ),
    ] = None,
    is_quick: Annotated[
        bool, typer.Option("--quick", help="Fewer seeds and points, shorter runs; all in 20 minutes.")
    ] = False,
    seeds: Annotated[
        str | None, typer.Option(metavar="N", help="Number of seeds for each point, or the seeds: 1..5 or 1,2,5.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Also write the report there: HTML, PDF and CSV.")
    ] = None,
    pages: Annotated[
        Path | None, typer.Option("--docs", metavar="DIR", help="Also write a Markdown page with figures there.")
    ] = None,
    agents: Annotated[
        str,
        typer.Option(
            metavar="printed|wide|both",
            help="Agents as the papers print them, the same agents with policies of wider training, or both. With "
            "wide, only claims about agents are checked.",
        ),
    ] = "printed",
    jobs: Jobs = "all",
    cluster: Cluster = None,
    is_retrained: Annotated[
        bool, typer.Option("--retrain", help="First train the policies anew, then run with these.")
    ] = False,
    retrain_steps: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Transitions of each such training, instead of the recipe's.")
    ] = None,
    is_page: Annotated[
        bool,
        typer.Option(
            "--page",
            help="Only write a web page of existing results, yours before shipped ones, which any browser runs again "
            "(--out: where); default: all experiments.",
        ),
    ] = False,
    list_only: Annotated[bool, typer.Option("--list", help="Only list the experiments and their cost.")] = False,
    database: Database = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Do not keep the runs.")] = False,
    as_json: Json = False,
) -> None:
    """Run the papers' experiments and judge their claims.

    Shows for each claim if it holds here.

    Every run is kept, and a run that is already in the database is not repeated: after a stop or a crash, the same
    command continues where it was. A full reproduction may take hours; an estimate is printed before it starts.

    With --agents wide or both, experiments run with the policies NAME-wide in place of NAME. Experiments without such
    an agent, and those that train one, are the same in both columns and run only for the printed agents.

    With --retrain, the policies are trained anew from the recipes of `subflow train`, and their evaluations are shown
    next to those of the shipped ones, which stay as they are.

    Exit code: 0 when everything ran, whether claims hold or not; 1 when some runs failed, 2 for a wrong recipe or
    name, 130 after Ctrl-C, 143 after SIGTERM.
    """
    from subflow_app.features.gallery.core.recipe_reader import chosen_recipes

    if retrain_steps is not None and not is_retrained:
        raise InputError("--retrain-steps goes with --retrain")
    if not names and not (list_only or is_page):
        raise InputError("an experiment is missing: `subflow reproduce --list` lists them; papers and `all` also work")
    chosen_columns = columns_option(agents)
    n_jobs = job_count(jobs)
    for option, folder in (("--out", None if is_page else out), ("--docs", pages)):
        if folder is not None and is_there(folder) and not is_folder(folder):
            raise InputError(f"{option} {folder}: this is a file, not a folder")
    chosen_seeds = None if seeds is None else seeds_option(seeds)
    recipes: Sequence[Recipe] = chosen_in_columns(chosen_recipes(names or ()), chosen_columns)
    if list_only:
        _print_list(recipes, as_json=as_json)
        return
    if is_page:
        _write_gallery_page(recipes, out, database, as_json=as_json)
        return
    from subflow_app.features.gallery.core.reproduction import Reproductions
    from subflow_app.terminal.progress import in_background
    from subflow_store import open_store

    with ExitStack() as stack:
        store = stack.enter_context(open_store(":memory:") if no_store else opened_store(database))
        training = None
        if is_retrained:
            training, recipes, signal_number = retrain(recipes, store, is_quick=is_quick, steps=retrain_steps)
            if signal_number:
                raise typer.Exit(failures.stopped_by(signal_number))
        experiments = Reproductions(recipes, store, is_quick=is_quick, seeds=chosen_seeds, jobs=n_jobs, cluster=cluster)
        if not as_json:
            print_note(_before(experiments))
        _, signal_number = in_background(experiments, "reproduce")
        outcomes = experiments.outcomes
        every = [each.results() for each in experiments.each[: len(outcomes)]]
        _write(every, out, pages)
        if as_json:
            document = _document(every, outcomes, is_quick=is_quick)
            print_json(document if training is None else {**document, "retrained": training.document()})
        else:
            if training is not None and training.policies:
                print_tables(training.table())
                print_line()
            _print_results(every)
    for problem in experiments.problems:
        print_error(problem)
    raise typer.Exit(exit_code(experiments, signal_number, is_kept=not no_store))


def columns_option(text: str) -> tuple[AgentColumn, ...]:
    """Columns of agents given by ``--agents``.

    Raises:
        InputError: if the text is not printed, wide or both.
    """
    from subflow_app.features.gallery.core.recipe import AgentColumn

    if text == "both":
        return tuple(AgentColumn)
    if text in list(AgentColumn):
        return (AgentColumn(text),)
    raise InputError(f"--agents {text}: allowed: printed, wide or both")


def chosen_in_columns(recipes: Sequence[Recipe], columns: Sequence[AgentColumn]) -> Sequence[Recipe]:
    """The experiments in these columns of agents.

    Raises:
        InputError: if the column of wider training lacks all these experiments.
        RecipeError: if a scenario cannot be read.
    """
    from subflow_app.features.gallery.core.columns import in_columns

    found = in_columns(recipes, columns)
    if recipes and not found:
        names = ", ".join(recipe.name for recipe in recipes)
        raise InputError(f"--agents wide: no agent of these experiments has a policy with wider training: {names}")
    return found


def _before(experiments: Reproductions) -> str:
    """Line printed before the start, with the experiments, the number of runs and the expected duration."""
    runs = experiments.progress.runs
    number = len(experiments.each)
    what = experiments.each[0].recipe.label if number == 1 else f"{number} experiments"
    return f"{what}: {count_text(runs)} runs, about {duration_text(experiments.expected_s)} on two cores"


def exit_code(experiments: Reproductions, signal_number: int, *, is_kept: bool) -> int:
    """Return the exit code for the outcomes, after printing a note if the experiments were stopped."""
    outcomes = experiments.outcomes
    if len(outcomes) < len(experiments.each) or any(outcome.state == "stopped" for outcome in outcomes):
        told = experiments.progress
        if is_kept:
            kept = f"{told.finished} of {told.runs} runs are kept"
            print_note(f"stopped: {kept}; the same command makes those that are missing")
        else:
            print_note("stopped, and nothing is kept")
        return failures.stopped_by(signal_number)
    return failures.FAILED if any(outcome.state == "failed" for outcome in outcomes) else failures.OK


def seeds_option(text: str) -> Sequence[int]:
    """Seeds given by ``--seeds``. A single number N means the seeds 1 to N; ranges and lists are also allowed.

    Raises:
        InputError: if the text is 0, or is not a number, range or list of seeds.
    """
    from subflow_app.features.sweeps.core.plan_file import read_seeds
    from subflow_sim.errors import ParamError

    if text.isascii() and text.isdecimal() and len(text) < 10:
        if int(text) < 1:
            raise InputError(f"--seeds {text}: at least 1")
        return range(1, int(text) + 1)
    try:
        return read_seeds(text)
    except ParamError as error:
        raise InputError(f"--seeds {text}: {error}") from error


def _print_list(recipes: Sequence[Recipe], *, as_json: bool) -> None:
    from subflow_app.features.gallery.core.recipe import SOURCES
    from subflow_app.features.gallery.core.reproduction import expected_s

    times = {recipe.label: [expected_s(recipe, is_quick=quick) for quick in (False, True)] for recipe in recipes}
    if as_json:
        print_json(
            [
                {
                    "id": recipe.name,
                    **fields(recipe, "paper", "figure", "title", "claim", "kind"),
                    "checks": len(recipe.checks),
                    "expected_s": times[recipe.label][0],
                    "expected_quick_s": times[recipe.label][1],
                    "agents": recipe.column.value,
                }
                for recipe in recipes
            ]
        )
        return
    columns: tuple[Column[Recipe], ...] = (
        Column("Experiment", lambda recipe: recipe.label),
        Column("Paper", lambda recipe: SOURCES[recipe.paper]),
        Column("Figure", lambda recipe: recipe.figure),
        Column("Title", lambda recipe: recipe.title),
        NumberColumn("Checks", lambda recipe: len(recipe.checks)),
        NumberColumn("Full", lambda recipe: times[recipe.label][0], duration_text),
        NumberColumn("Quick", lambda recipe: times[recipe.label][1], duration_text),
    )
    print_rows(recipes, columns)
    full, quick = (math.fsum(each[place] for each in times.values() if not math.isnan(each[place])) for place in (0, 1))
    print_line(
        f"{counted(len(recipes), 'experiment')}: about {duration_text(full)} on two cores, quick {duration_text(quick)}"
    )


def _write_gallery_page(recipes: Sequence[Recipe], out: Path | None, database: Path | None, *, as_json: bool) -> None:
    from subflow_app.features.exporting.core.study_pages import EXPECTED_S, PAGE_NAME, write_gallery_page
    from subflow_app.features.gallery.core.exhibits import read_exhibit
    from subflow_app.features.library.core.shipped import open_library
    from subflow_app.foundation.files import page_place
    from subflow_app.terminal.progress import step_bar

    if not as_json:
        expected = duration_text(len(recipes) * EXPECTED_S)
        print_note(f"page of {counted(len(recipes), 'experiment')}: about {expected} on one core")
    with ExitStack() as stack:
        store = stack.enter_context(opened_store(database, read_only=True))
        library = open_library()
        if library is not None:
            stack.callback(library.close)
        step = stack.enter_context(step_bar("page", 2 * len(recipes)))  # each is read, then written
        exhibits = []
        for each in recipes:
            exhibits.append(read_exhibit(store, each.label, recipe=each, library=library))
            step()
        shown = {each: library if each.is_shipped else store for each in exhibits}
        path = write_gallery_page(shown, page_place(out, Path(PAGE_NAME).stem), on_written=step)
        if library is not None:
            tell_simulated(library)
    if as_json:
        print_json({"experiments": [each.name for each in exhibits], "files": [str(path)]})
    else:
        print_line(f"wrote {path}")


def _print_results(every: Sequence[Results]) -> None:

    from subflow_app.features.gallery.core.recipe import AgentColumn
    from subflow_app.features.gallery.core.report_tables import agents_text, cause_text, trial_table
    from subflow_app.features.gallery.core.results import check_counts

    columns = text_columns("Experiment", "Claim of the paper", "Here", "Verdict", "Cause")
    rows: list[tuple[str, ...]] = []
    reasons: list[str] = []
    for results in every:
        name = results.recipe.label
        for verdict in results.verdicts():
            told = verdict.reason or verdict.outcome.told
            if verdict.overlaps:
                told += f" (95 % intervals overlap: {'; '.join(verdict.overlaps)})"
            rows.append((name, verdict.check.says, told, verdict.kind.value, cause_text(verdict)))
            name = ""
        if results.recipe.disagrees and any(not verdict.kind.is_met for verdict in results.verdicts()):
            reasons.append(f"{results.recipe.label}: {' '.join(results.recipe.disagrees.split())}")
    print_tables(TextTable("", columns, tuple(rows)))
    for results in every:
        tried = trial_table(results)
        if tried.rows:
            print_line()
            print_tables(replace(tried, title=f"{results.recipe.label}: {tried.title[:1].lower()}{tried.title[1:]}"))
    for reason in reasons:
        print_line()
        print_line(reason)
    if reasons:
        print_line()
    for column, members in by_column(every).items():
        line = _counts_line(members)
        print_line(line if column is AgentColumn.PRINTED else f"{column.text}: {line}")
        numbers = check_counts(members)
        if numbers.agent_checks:
            print_line(f"{column.text}: {agents_text(numbers)}")


def by_column(every: Sequence[Results]) -> dict[AgentColumn, list[Results]]:
    """Results by column of agents, which are never counted together."""
    from subflow_app.features.gallery.core.recipe import AgentColumn

    found = {column: [results for results in every if results.recipe.column is column] for column in AgentColumn}
    return {column: members for column, members in found.items() if members}


def counts(every: Sequence[Results]) -> dict[str, int]:
    """Number of checks with each verdict, by the text of the verdict; 0 for verdicts that no check has."""
    from subflow_app.features.gallery.core.results import VerdictKind

    found = Counter(verdict.kind for results in every for verdict in results.verdicts())
    return {kind.value: found[kind] for kind in VerdictKind}


def settled(every: Sequence[Results]) -> dict[str, int]:
    """Number of checks that are met, explained by each kind of cause, not explained, or not measured."""
    from subflow_app.features.gallery.core.results import settlement_counts

    found = settlement_counts(verdict for results in every for verdict in results.verdicts())
    return {each.value: number for each, number in found.items()}


def _counts_line(every: Sequence[Results]) -> str:
    told = [f"{number} {kind}" for kind, number in counts(every).items() if number]
    line = f"{counted(len(every), 'experiment')}: {', '.join(told) or 'nothing to check'}"
    ways = settled(every)
    causes = [f"{number} {kind}" for kind, number in ways.items() if number and kind != "met"]
    return (
        f"{line}; of {counted(sum(ways.values()), 'check')} {ways['met']} met, {', '.join(causes)}" if causes else line
    )


def _document(every: Sequence[Results], outcomes: Sequence[JobOutcome], *, is_quick: bool) -> dict[str, Any]:
    from subflow_app.features.gallery.core.report import by_paper
    from subflow_app.features.gallery.core.results import check_counts

    # `counts` and `settled` cover one column, because checks of different agents are never counted together.
    first = next(iter(by_column(every).values()), [])
    return {
        "quick": is_quick,
        "counts": counts(first),
        "settled": settled(first),
        "columns": [
            {"paper": group.paper, "agents": group.column.value, **check_counts(members)._asdict()}
            for group, members in by_paper(every).items()
        ],
        "experiments": [_experiment(results, outcome) for results, outcome in zip(every, outcomes, strict=True)],
    }


def _experiment(results: Results, outcome: JobOutcome) -> dict[str, Any]:
    recipe = results.recipe
    return {
        "id": recipe.name,
        **fields(recipe, "paper", "figure", "title", "claim", "disagrees"),
        "agents": recipe.column.value,
        "state": outcome.state,
        **fields(outcome.progress, "runs", "finished", "reused", "failed"),
        "problems": list(outcome.problems),
        **fields(results, "seeds", "note"),
        "verdicts": [
            {
                "says": verdict.check.says,
                "claim": verdict.check.claim.text,
                "verdict": verdict.kind.value,
                **fields(verdict.outcome, "left", "right", "told"),
                **fields(verdict, "reason", "overlaps"),
                "cause": _cause(verdict),
                "uses_agent": results.uses_agent(verdict.check),
            }
            for verdict in results.verdicts()
        ],
        "values": [
            {
                "measure": measure,
                "series": series,
                "point": point,
                **fields(cell, "mean", "ci95", "n", "values"),
            }
            for measure in recipe.measures
            for series in results.series
            for point in results.points
            for cell in (results.cell(measure, series, point),)
        ],
        "published": [
            fields(each, "measure", "series", "point", "value", "over", "improvement") for each in recipe.published
        ],
    }


def _cause(verdict: Verdict) -> dict[str, Any] | None:
    """The cause that the recipe names for a check that is not met, with its trials; None if it names no cause."""
    from subflow_app.features.gallery.core.report_tables import shown_text

    told = verdict.explanation
    if told is None:
        return None
    return {
        "kind": told.cause.kind.value,
        **fields(told.cause, "says"),
        "shown": shown_text(told),
        "trials": [
            {
                "variant": None if trial.variant is None else trial.variant.name,
                "says": "" if trial.variant is None else trial.variant.says,
                **fields(trial.outcome, "holds", "told", "reason"),
                "checks_met": trial.n_met,
            }
            for trial in told.trials
        ],
    }


def _write(every: Sequence[Results], out: Path | None, pages: Path | None) -> None:
    """Write the requested report and page, and print their paths."""
    if not every:
        return
    if out is not None:
        from subflow_app.features.gallery.core.report import write_report

        print_note(f"report: {', '.join(map(str, write_report(every, out)))}")
    if pages is not None:
        from subflow_app.features.gallery.core.report import write_pages

        print_note(f"page: {write_pages(every, pages)[0]}")
