"""``subflow run``: simulates a scenario, stores the run, and prints its summary."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict
from os import environ
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subflow_app.foundation.errors import ExportError, InputError, SettingsError
from subflow_app.foundation.expected_errors import message_of
from subflow_app.terminal import failures
from subflow_app.terminal.options import Database, Json, opened_store, positive_time_option, tag_text
from subflow_app.terminal.terminal import print_error, print_json, print_line, print_note, print_tables
from subflow_app.vocabulary.number_text import duration_text, speed_text

if TYPE_CHECKING:
    from subflow_app.features.running.core.runs import RunJob, RunProgress, RunResult
    from subflow_sim.decisions import DecisionLimits
    from subflow_sim.limits import Limits
    from subflow_sim.scenario import Scenario
    from subflow_store import Store


def run(
    scenario: Annotated[str, typer.Argument(metavar="FILE|NAME", help="Scenario file, or the name of a shipped one.")],
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="Seed instead of the one in the file.")] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a value, e.g. links.wifi.loss=1% or flows.x.controller=olia. Repeatable.",
        ),
    ] = None,
    database: Database = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Do not keep the run.")] = False,
    as_json: Json = False,
    sample_interval: Annotated[
        str, typer.Option(metavar="TIME", help="Simulated time between two samples of the traces.")
    ] = "100ms",
    export: Annotated[
        Path | None, typer.Option("--export", metavar="DIR", help="Also write data (CSV) and figures (SVG, PNG) there.")
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="Name of the run; default: the scenario's.")] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="TEXT", help="Tag the run. Repeatable.")] = None,
    decisions: Annotated[
        bool, typer.Option("--decisions", help="Keep the reasons of controllers and schedulers, for `explain`.")
    ] = False,
    decision_window: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Keep only the decisions of this much time at the end of the run."),
    ] = None,
    estimate_only: Annotated[
        bool,
        typer.Option("--estimate", help="Only estimate the run: time, memory, disk, events."),
    ] = False,
    max_memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Refuse runs that would need more memory; default: 4GB.")
    ] = None,
    max_events: Annotated[
        str | None,
        typer.Option(metavar="N", help="Refuse runs in which more packets would cross a link; default: 2e10."),
    ] = None,
) -> None:
    """Simulate a scenario.

    The run is kept in the database, even when it is stopped with Ctrl-C or fails half-way. Exit code: 0 when it
    finished, 1 when it failed or could not be kept, 2 for bad input, 130 after Ctrl-C, 143 after SIGTERM. With --json
    the document of every run that began is printed, even if the run was stopped or could not be kept.

    --set also sets options of controllers and schedulers, with their units: flows.x.controller.initial_rate=2Mbit/s.
    `subflow controllers NAME` and `subflow schedulers NAME` list them.

    With --decisions, each change of a cwnd or rate and each choice of a subflow is kept with the rule and the numbers
    behind it, about 20 bytes each; `subflow explain` shows them. The run itself stays the same.
    --decision-window implies --decisions.

    A run that would exceed the limits is refused before it starts. The environment variables SUBFLOW_MAX_MEMORY and
    SUBFLOW_MAX_EVENTS set the limits when the options are not given, for the window as well.
    """
    from subflow_app.features.catalog.core.uses import Use
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_app.features.running.core.runs import RunJob, decision_limits
    from subflow_sim.errors import SimError

    interval_s = positive_time_option("--sample-interval", sample_interval, "100ms")
    limits = _limits(max_memory, max_events)
    window_s = _decision_window(decisions, decision_window, is_kept=not no_store or export is not None)
    tag_texts = [tag_text(tag) for tag in tags or ()]
    source = open_scenario(scenario, use=Use.RUN, overrides=overrides or (), seed=seed)
    for line in () if estimate_only else source.replaced:
        print_note(line)
    if not estimate_only:
        _tell_news_of_policies(source.scenario)
    recording = decision_limits(source.scenario, window_s) if decisions or window_s is not None else None
    if estimate_only:
        # Unless only a window of decisions is kept, the core hands them over during the run and needs little memory.
        kept = None if window_s is None else recording
        _print_estimate(source.scenario, interval_s, kept, is_kept=not no_store, as_json=as_json)
        return
    with ExitStack() as stack:
        # Open the database before the simulation, so that a failure does not waste any work.
        store = None if no_store else stack.enter_context(opened_store(database))
        try:
            job = RunJob(
                source.scenario,
                source.text,
                store=store,
                sample_interval_s=interval_s,
                name=name,
                limits=limits,
                decisions=recording,
            )
        except SimError as error:
            # The file is well-formed, but the core cannot simulate it, e.g. because its samples would not fit into
            # memory.
            raise InputError(f"{scenario}: {error}") from error
        code = carry_out_and_tell(job, store, tag_texts, export, as_json=as_json)
    raise typer.Exit(code)


def _tell_news_of_policies(scenario: Scenario) -> None:
    """Print the names of policies that have another meaning than in the past, each once on this computer."""
    from subflow_app.features.running.core.policy_names import news_of_policies
    from subflow_app.foundation.settings import load_settings, save_settings

    settings = load_settings()
    lines, remembered = news_of_policies(scenario, settings)
    for line in lines:
        print_note(line)
    if lines:
        with suppress(SettingsError):  # the notice is printed again
            save_settings(remembered)


def carry_out_and_tell(
    job: RunJob,
    store: Store | None,
    tags: list[str],
    export: Path | None,
    *,
    as_json: bool,
    more: Callable[[], dict[str, Any]] = dict,
    tell_more: Callable[[], None] = lambda: None,
) -> int:
    """Carry out a run, print its summary unless it failed, and export it.

    Args:
        job: the run.
        store: store of the run; None: the run is not stored.
        tags: tags for the stored run.
        export: folder for exported data and figures; None: no export.
        as_json: whether to print one JSON document instead of text.
        more: returns further keys of the JSON document; called only if `as_json` is true and the run did not fail.
        tell_more: prints further text below the summary; called only if `as_json` is false and the run did not fail.

    Returns:
        The exit code.
    """
    from subflow_app.terminal.progress import in_background

    warnings = job.warnings
    for warning in warnings:
        print_note(f"warning: {warning}")
    result, signal_number = in_background(job, job.name, lambda: _progress_text(job.progress))
    # If the store failed, save a copy of the run before anything else can fail.
    rescued = _rescue(job, result) if result.store_error is not None else None
    if store is not None and result.run_id is not None:
        for tag in tags:
            store.add_tag(result.run_id, tag)
    if result.error is None:
        if as_json:
            document = {"warnings": warnings} if warnings else {}
            print_json(result.summary | document | more())
        else:
            _print_summary(result.summary, job.scenario)
            tell_more()
    exported = export is None or _export(job, result, export, as_json=as_json)
    code = _tell_how_it_ended(job, result, signal_number, rescued)
    return code if exported else code or failures.FAILED


def _tell_how_it_ended(job: RunJob, result: RunResult, signal_number: int, rescued: Path | None) -> int:
    kept = f"kept as run {result.run_id}" if result.run_id is not None else "not kept"
    reached = f"t = {job.progress.sim_time_s:.3f} s of {job.progress.duration_s:g} s"
    code = failures.OK
    if result.error is not None:
        print_error(f"the simulation failed at {reached}, {kept}: {message_of(result.error)}")
        code = failures.FAILED
    elif result.status == "stopped":
        print_note(f"stopped at {reached}, {kept}")
        code = failures.stopped_by(signal_number)
    if job.decisions_lost:
        print_note(
            f"{job.decisions_lost} decisions did not fit into memory and are not kept; the oldest are dropped first"
        )
    if result.store_error is not None:
        print_error(f"the run is not in the database: {result.store_error}")
        if rescued is not None:
            print_note(f"its data, summary and scenario are saved in {rescued}")
        code = failures.FAILED
    return code


def _print_summary(summary: dict[str, Any], scenario: Scenario) -> None:
    from subflow_app.features.traces.core.summary_text import summary_line, summary_tables

    print_line(str(summary["scenario"]))
    print_line(summary_line(summary))
    print_line()
    print_tables(*summary_tables(summary, scenario))
    kept = f"run {summary['run_id']}, " if summary.get("run_id") is not None else ""
    print_line(f"{kept}signature {summary['signature']}")


def _rescue(job: RunJob, result: RunResult) -> Path | None:
    from subflow_app.features.exporting.core.exports import save_rescue_copy

    try:
        return save_rescue_copy(job.traces, result.summary, job.scenario_text)
    except ExportError as error:
        print_error(str(error))
        return None


def _export(job: RunJob, result: RunResult, directory: Path, *, as_json: bool) -> bool:
    """Write data and figures; if this fails, print the error and return False."""
    from subflow_app.features.exporting.core.exports import ExportPlan, export_run

    plan = ExportPlan(figure_formats=("svg", "png"))
    try:
        written = export_run(job.traces, directory, plan, summary=result.summary, scenario_text=job.scenario_text)
    except ExportError as error:
        print_error(str(error))
        return False
    if not as_json:
        for path in written:
            print_line(f"wrote {path}")
    return True


def _print_estimate(
    scenario: Scenario, interval_s: float, decisions: DecisionLimits | None, *, is_kept: bool, as_json: bool
) -> None:
    from subflow_app.features.running.core.run_estimate import estimate_run
    from subflow_sim.errors import SimError

    try:
        estimate = estimate_run(scenario, sample_interval_s=interval_s, decisions=decisions, is_kept=is_kept)
    except SimError as error:
        raise InputError(str(error)) from error
    if as_json:
        print_json(asdict(estimate.most) | estimate.document())
        return
    for line in estimate.lines():
        print_line(line)


def _decision_window(is_wanted: bool, window: str | None, *, is_kept: bool) -> float | None:
    """Length of the period at the end of the run whose decisions are kept, s; None if the option is not given."""
    window_s = None if window is None else positive_time_option("--decision-window", window, "10s")
    if (is_wanted or window_s is not None) and not is_kept:
        raise InputError("--no-store would keep no decisions: leave it out, or write them with --export DIR")
    return window_s


def _limits(memory: str | None, events: str | None) -> Limits | None:
    """Limits from the options, or from environment variables for a missing option; None if both options are missing."""
    from subflow_sim.errors import ParamError
    from subflow_sim.limits import MAX_CROSSINGS_VARIABLE, MAX_MEMORY_VARIABLE, Limits

    if not (memory or events):
        return None
    try:
        return Limits.parse(memory or environ.get(MAX_MEMORY_VARIABLE), events or environ.get(MAX_CROSSINGS_VARIABLE))
    except ParamError as error:
        raise InputError(str(error)) from error


def _progress_text(progress: RunProgress) -> str:
    """Text with the simulated time, speed and remaining time of a run."""
    return (
        f"{progress.sim_time_s:.1f} of {progress.duration_s:g} s · {speed_text(progress.speed)} · "
        f"{duration_text(progress.eta_s)} to go"
    )
