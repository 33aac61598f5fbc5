"""``subflow train``: trains an agent in a child process and shows its reports. Ctrl-C writes a checkpoint and stops."""

from __future__ import annotations

import signal
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from subflow_app.foundation.errors import InputError
from subflow_app.foundation.paths import new_training_directory
from subflow_app.terminal import failures
from subflow_app.terminal.options import Database, opened_store, positive_time_option
from subflow_app.terminal.terminal import print_error, print_line, print_note, print_tables
from subflow_app.vocabulary.number_text import duration_text
from subflow_sim.gate import is_there

if TYPE_CHECKING:
    from subflow_agents import TrainingConfig
    from subflow_app.features.training.core.training import TrainingJob
    from subflow_app.features.training.core.training_service import TrainingService
    from subflow_store import Store

TRAIN_WORKER_COMMAND = "train-worker"

LATEST = "last"
"""Value of `--resume` if no folder follows it: selects the folder of `--out`, or else of the latest training run."""

_UPDATE_S = 0.1


class TrainCommand(TyperCommand):
    """The command ``subflow train``, whose option `--resume` takes an optional value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert `LATEST` after `--resume` if no value follows it."""
        words = []
        for position, word in enumerate(args):
            words.append(word)
            if word == "--resume" and (position + 1 == len(args) or args[position + 1].startswith("-")):
                words.append(LATEST)
        return list(super().parse_args(ctx, words))


def train(
    agent: Annotated[
        str | None, typer.Argument(metavar="[AGENT]", help="The agent to train; `subflow agents` lists them.")
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(metavar="FILE|NAME", help="Scenario to train on; with a [training] block, a distribution."),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="Recipe to follow; default without --scenario: the agent's own."),
    ] = None,
    minutes: Annotated[float | None, typer.Option(metavar="N", help="Time budget.")] = None,
    steps: Annotated[int | None, typer.Option(metavar="N", help="Budget in transitions.")] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Determines everything random.")] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a value of the scenario, e.g. links.wifi.loss=1%, or of the agent, e.g. options.gamma=0.9. "
            "Repeatable.",
        ),
    ] = None,
    num_envs: Annotated[int | None, typer.Option(metavar="N", help="Simulations side by side.")] = None,
    threads: Annotated[int | None, typer.Option(metavar="N", help="Threads of the simulator.")] = None,
    episode: Annotated[str | None, typer.Option(metavar="TIME", help="Length of an episode.")] = None,
    deterministic: Annotated[
        bool, typer.Option("--deterministic", help="Two trainings with the same seed and steps are equal bit for bit.")
    ] = False,
    eval_every: Annotated[
        int | None, typer.Option(metavar="N", help="Transitions between two evaluations; 0: no evaluations.")
    ] = None,
    eval_seeds: Annotated[
        str | None, typer.Option(metavar="A-B", help="Seeds of the evaluations, from 1000000 on.")
    ] = None,
    baselines: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Controllers to compare with in evaluations.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for everything; default: one in your data directory.")
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="[DIR]", help="Continue the training in a folder; by default that of --out, or the newest."
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="Name in the list of trainings.")] = None,
    database: Database = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Do not list the training in the database.")] = False,
    json_lines: Annotated[
        bool, typer.Option("--json-lines", help="Print each report as a line of JSON, even on a terminal.")
    ] = False,
) -> None:
    """Train an agent.

    The agent learns in a separate process until the budget is spent. Ctrl-C and SIGTERM stop it with a
    checkpoint; --resume continues from there, as it does after a crash. The folder contains the last two checkpoints,
    the latest policy (policy.safetensors), the best one in the evaluations (best.safetensors) and all reports
    (metrics.jsonl). Evaluations are runs on seeds that are not trained on, compared with classic controllers. If
    stdout is not a terminal, each report is printed as a line of JSON. Exit code: 0 when the budget is spent, 1
    when the training failed, 2 for bad input, 130 after Ctrl-C, 143 after SIGTERM.

    A run takes the policy as a controller: `subflow run FILE --set flows.x.controller.policy=DIR/best.safetensors`, or
    by its name after `subflow agents promote`.
    """
    from subflow_app.features.training.core.training_setup import check_torch

    if resume is not None:
        given = {"AGENT": agent, "--scenario": scenario, "--recipe": recipe, "--seed": seed, "--set": changes}
        given |= {"--num-envs": num_envs, "--threads": threads, "--episode": episode, "--eval-every": eval_every}
        given |= {"--eval-seeds": eval_seeds, "--baselines": baselines, "--deterministic": deterministic or None}
        wrong = [option for option, value in given.items() if value is not None]
        if wrong:
            raise InputError(
                f"{' and '.join(wrong)} with --resume: a training continues as it began; only --steps and --minutes "
                "may change"
            )
    show_json = json_lines or not sys.stdout.isatty()
    config: TrainingConfig | None = None
    if resume is None:
        settings = {
            "minutes": minutes,
            "steps": steps,
            "seed": seed,
            "num_envs": num_envs,
            "threads": threads,
            "episode_s": None if episode is None else positive_time_option("--episode", episode, "30s"),
            "deterministic": deterministic or None,
            "evaluation_every": eval_every,
            "evaluation_seeds": _seeds(eval_seeds),
            "baselines": None if baselines is None else tuple(baselines.split(",")),
        }
        config = _config(agent, scenario, recipe, changes or [], settings, out, tell=not show_json)
    check_torch()
    with ExitStack() as stack:
        store = None if no_store else stack.enter_context(opened_store(database))
        service = stack.enter_context(_service(store))
        if config is not None:
            number = service.submit(config, name=name or "")
        else:
            number = service.go_on_in(_folder(resume or LATEST, out, store), steps=steps, minutes=minutes)
            _print_new_start(service.job(number))
        code = _watch(service, number, show_json=show_json, is_stored=store is not None)
    raise typer.Exit(code)


def train_worker() -> None:
    """Carry out one training (used by train and by the window)."""
    from subflow_app.features.training.core.training_worker import main

    raise typer.Exit(main())


def _service(store: Store | None) -> TrainingService:
    from subflow_app.features.training.core import training_worker
    from subflow_app.features.training.core.training_service import TrainingService

    return TrainingService(store, limit=1, trainer=training_worker.TRAINER)


def _config(
    agent: str | None,
    scenario: str | None,
    recipe: str | None,
    changes: list[str],
    settings: dict[str, Any],
    out: Path | None,
    *,
    tell: bool,
) -> TrainingConfig:
    """Build the configuration from the recipe and the command-line options. The options take precedence.

    Raises:
        InputError: if the options are incomplete or contradict each other.
    """
    from subflow_agents import agent as agent_of_name
    from subflow_app.features.training.core.training_folder import has_checkpoint
    from subflow_app.features.training.core.training_setup import (
        TrainingRequest,
        load_recipe,
        prepare,
        request_of,
        with_changes,
    )

    if agent is None and recipe is None:
        raise InputError("an agent is missing: subflow train AGENT --scenario FILE, or subflow train --recipe NAME")
    if agent is not None and scenario is None and recipe is None:
        recipe = agent_of_name(agent).default_recipe
    if recipe is None:
        assert agent is not None
        assert scenario is not None
        request = TrainingRequest(agent=agent, scenario=scenario)
    else:
        read = load_recipe(recipe)
        if agent not in (None, read.agent):
            raise InputError(f"the recipe {read.name} is for {read.agent}, not for {agent}")
        request = request_of(read)
        if scenario is not None:
            request = replace(request, scenario=scenario, training=None)
        if tell and read.expected_s is not None:
            print_note(f"{read.title or read.name}: about {duration_text(read.expected_s)} on two cores")
    request = with_changes(request, changes, **settings)
    if out is not None and has_checkpoint(out):
        raise InputError(
            f"{out} holds a training already: continue it with `subflow train --resume {out}`, or name another folder"
        )
    config = prepare(request, out or Path.cwd())  # finds errors before a folder is created
    return config if out is not None else replace(config, folder=str(new_training_directory(request.agent)))


def _seeds(text: str | None) -> tuple[int, ...] | None:
    from subflow_app.features.training.core.training_setup import parse_seeds

    return None if text is None else parse_seeds(text)


def _folder(resume: str, out: Path | None, store: Store | None) -> Path:
    """Find the folder of the training run to continue.

    Raises:
        InputError: if no folder is given and the store lists none, or if the folder does not contain a training run.
    """
    from subflow_app.features.training.core.training_folder import is_training_folder

    if resume != LATEST:
        folder = Path(resume)
    elif out is not None:
        folder = out
    else:
        rows = [] if store is None else [row for row in store.trainings.rows() if row.folder]
        if not rows:
            raise InputError("no training to continue: name its folder with --resume DIR")
        folder = Path(rows[0].folder)
    if not is_training_folder(folder):
        raise InputError(f"{folder} is not a folder of a training")
    return folder


# ------------------------------------------------------------------------------------------------------- during the run


def _watch(service: TrainingService, number: int, *, show_json: bool, is_stored: bool) -> int:
    """Show the training until it ends or a signal ends the display; returns the exit code."""
    from subflow_app.features.training.cli.training_display import JsonLines, LiveTable, json_line
    from subflow_app.terminal.progress import stopping_on_signals

    job = service.job(number)
    was_attached = job.is_attached
    title = f"training {number}, {job.config.agent}" if is_stored else job.config.agent
    display = JsonLines() if show_json else LiveTable(job, title)
    watched, signal_number = _Watched(job), 0
    try:
        with stopping_on_signals(watched) as stop:
            while not job.state.is_over and not watched.is_left:
                job.wait(_UPDATE_S)
                display.show(job.take_reports())
            signal_number = stop.signal_number
    except KeyboardInterrupt:
        # A second Ctrl-C kills the process. Its last checkpoint is kept.
        signal_number = signal.SIGINT
        job.kill()
        job.wait()
    finally:
        display.show(job.take_reports())
        display.close()
    if was_attached and not job.state.is_over:
        print_note(f"it continues in process {job.pid}; `subflow trainings stop {number}` stops it")
        return failures.OK
    if show_json:
        sys.stdout.write(json_line(_result(job, number if is_stored else None)))
    else:
        _print_result(job)
    return _exit_code(job, signal_number)


class _Watched:
    """Reacts to signals: stops a training run of this program, but merely stops showing an attached one."""

    def __init__(self, job: TrainingJob) -> None:
        self._job = job
        self.is_left = False

    def stop(self) -> None:
        """Stop the training run, or stop showing it if it belongs to another program."""
        if self._job.is_attached:
            self.is_left = True
        else:
            self._job.stop()


def _exit_code(job: TrainingJob, signal_number: int) -> int:
    from subflow_app.foundation.jobs.progress import JobState

    if job.state in (JobState.FAILED, JobState.INTERRUPTED) and not signal_number:
        print_error(f"the training failed: {job.message}")
        if job.state is JobState.FAILED:
            _print_resume_hint(job)
        return failures.FAILED
    if job.state in (JobState.STOPPED, JobState.INTERRUPTED):
        print_note(f"stopped at step {job.metrics.get('step', 0):.0f}")
        _print_resume_hint(job)
    if signal_number:
        return failures.stopped_by(signal_number)
    return failures.OK


def _print_new_start(job: TrainingJob) -> None:
    if not job.is_attached and not job.config.resume:
        print_note(f"{job.folder} has no checkpoint: the training starts over at step 0")


def _print_resume_hint(job: TrainingJob) -> None:
    from subflow_app.features.training.core.training_folder import has_checkpoint

    if has_checkpoint(job.folder):
        print_note(f"continue with `{job.resume_hint()}`")
    else:
        print_note(f"no checkpoint was written; `{job.resume_hint()}` starts over at step 0")


def _result(job: TrainingJob, number: int | None) -> dict[str, Any]:
    """Contents of the last line of JSON: the final state, and the paths of the files that exist."""
    from subflow_agents import ReportKind
    from subflow_app.features.training.core.training_folder import BEST_POLICY, LATEST_POLICY

    def existing(name: str) -> str | None:
        path = job.folder / name
        return str(path) if is_there(path) else None

    values = {
        "state": job.state.value,
        "message": job.message,
        "training_id": number,
        "agent": job.config.agent,
        "folder": str(job.folder),
        "step": job.metrics.get("step", 0),
        "elapsed_s": job.metrics.get("elapsed_s", 0.0),
        "policy": existing(LATEST_POLICY),
        "best": existing(BEST_POLICY),
        "evaluation": job.last(ReportKind.EVALUATION),
    }
    return {"kind": "result", "values": values}


def _print_result(job: TrainingJob) -> None:
    from subflow_agents import ReportKind
    from subflow_app.features.training.core.training_folder import BEST_POLICY, LATEST_POLICY
    from subflow_app.features.training.core.training_text import (
        evaluation_table,
        metric_rows,
        progress_line,
        reward_of,
        reward_text,
    )

    if job.metrics:
        known = {name: value for name, value in job.metrics.items() if name != "eta_s"}
        print_line(f"{job.config.agent}: {job.state.value}, {progress_line(known)}")
        print_line(", ".join(f"{title} {value} {unit}".strip() for title, value, unit in metric_rows(job.metrics)))
    evaluation = job.last(ReportKind.EVALUATION)
    if evaluation is not None:
        print_line()
        print_tables(evaluation_table(evaluation))
        if reward := reward_text(reward_of(evaluation)):
            print_line(reward)
    for name, what in ((BEST_POLICY, "best policy"), (LATEST_POLICY, "latest policy")):
        if is_there(job.folder / name):
            print_line(f"{what}: {job.folder / name}")
