"""``subflow controllers`` and ``subflow schedulers``: list algorithms, and start, check and convert scripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from subflow_app.features.catalog.cli import show_algorithms
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.json_document import fields
from subflow_app.terminal import failures
from subflow_app.terminal.group import ListingGroup
from subflow_app.terminal.options import Json
from subflow_app.terminal.terminal import print_error, print_json, print_line, print_note
from subflow_sim.errors import ParamError

if TYPE_CHECKING:
    from subflow_app.features.script.core import Finding
    from subflow_sim.scenario_model import ScriptFile, ScriptKind
    from subflow_sim.script import ScriptProblem

_LISTING = "NAME"
_EPILOG = (
    "A scenario can contain its own controllers and schedulers as scripts: new creates one, and check finds its "
    "mistakes."
)


def _group(kind: ScriptKind) -> typer.Typer:
    return typer.Typer(
        cls=ListingGroup,
        invoke_without_command=True,
        no_args_is_help=False,
        subcommand_metavar="[NAME | COMMAND [ARGS]...]",
        help=f"List the {kind}s, or the options and rules of one.",
        epilog=_EPILOG,
    )


controllers_app = _group("controller")
schedulers_app = _group("scheduler")

Name = Annotated[str, typer.Argument(metavar="NAME")]
NewName = Annotated[str, typer.Argument(metavar="NAME", help="Its name in scenarios.")]


@controllers_app.callback()
def controllers(context: typer.Context, as_json: Json = False) -> None:
    """List the controllers, or the options and rules of one.

    `subflow run FILE --set flows.x.controller=NAME --set flows.x.controller.OPTION=VALUE` runs flow x with it; values
    take the units shown.
    """
    if context.invoked_subcommand is None:
        show_algorithms("controller", None, as_json=as_json)


@schedulers_app.callback()
def schedulers(context: typer.Context, as_json: Json = False) -> None:
    """List the schedulers, or the options and rules of one.

    `subflow run FILE --set flows.x.scheduler=NAME --set flows.x.scheduler.OPTION=VALUE` runs flow x with it; values
    take the units shown.
    """
    if context.invoked_subcommand is None:
        show_algorithms("scheduler", None, as_json=as_json)


@controllers_app.command(_LISTING, hidden=True)
def controller(context: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show the options and rules of a controller."""
    show_algorithms("controller", name, as_json=as_json or _is_json_before(context))


@schedulers_app.command(_LISTING, hidden=True)
def scheduler(context: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show the options and rules of a scheduler."""
    show_algorithms("scheduler", name, as_json=as_json or _is_json_before(context))


def _is_json_before(context: typer.Context) -> bool:
    """True if --json precedes the name."""
    return context.parent is not None and bool(context.parent.params["as_json"])


@controllers_app.command("new")
def new_controller(name: NewName) -> None:
    """Start a controller of your own: write NAME.py.

    Comments in the file explain its parts. An existing file is not overwritten.
    """
    _new("controller", name)


@schedulers_app.command("new")
def new_scheduler(name: NewName) -> None:
    """Start a scheduler of your own: write NAME.py.

    Comments in the file explain its parts. An existing file is not overwritten.
    """
    _new("scheduler", name)


@controllers_app.command()
@schedulers_app.command()
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Scripts.")],
    conformance: Annotated[
        bool,
        typer.Option(
            "--conformance",
            help="Also try them under stress: loss, timeouts, a buffer of one packet, an outage, a hundred flows; "
            "and, for controllers, fairness to NewReno and the arena.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Find all mistakes in scripts, by line and column.

    A script is a controller, or a scheduler if it defines select. Python never runs it, so nothing in it can touch this
    machine.

    Exit code: 0 when no script has a mistake, 2 when one has, and 1 when one fails a trial of --conformance.
    """
    from subflow_app.features.editor.core.scripts import open_script
    from subflow_sim.script import check_script

    is_fine = stands = True
    documents: list[dict[str, Any]] = []
    for path in files:
        try:
            script = open_script(path)
        except InputError as error:
            is_fine = False
            documents.append({"file": str(path), "kind": None, "error": str(error), "problems": []})
            if not as_json:
                print_error(str(error))
            continue
        problems = check_script(script.text, script.kind)
        is_fine = is_fine and not problems
        documents.append(_document(path, script, problems))
        if not as_json:
            _print_checked(path, script, problems)
        if conformance and not problems:
            findings = _try(script, is_quiet=as_json)
            stands = stands and all(each.verdict == "pass" for each in findings)
            documents[-1]["conformance"] = [each.document() for each in findings]
    if as_json:
        print_json(documents)
    if not is_fine:
        raise typer.Exit(failures.BAD_INPUT)
    raise typer.Exit(failures.OK if stands else failures.FAILED)


@controllers_app.command()
def convert(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A controller.")],
    to: Annotated[Literal["cpp"], typer.Option("--to", help="Target: cpp, a C++ controller for the core.")],
) -> None:
    """Print a script's controller as C++.

    The output is a header for sim/core/cc that computes the same results bit for bit. docs/extending.md describes its
    place.
    """
    from subflow_app.features.editor.core.scripts import open_script, script_problems
    from subflow_sim.script import ScriptError, compile_script, to_cpp

    script = open_script(file)
    try:
        text = to_cpp(compile_script(script.text, script.name, script.kind))
    except ScriptError as error:
        for line in script_problems(file, error.problems):
            print_note(line)
        raise typer.Exit(failures.BAD_INPUT) from error
    except ParamError as error:
        raise InputError(str(error)) from error
    print_line(text.rstrip())


def _try(script: ScriptFile, *, is_quiet: bool) -> list[Finding]:
    """Run the conformance checks, and for a controller the arena; print the findings unless `is_quiet`."""
    from subflow_app.features.catalog.core.catalog import app_catalog
    from subflow_app.features.editor.core.scripts import check_script_name
    from subflow_app.features.script.core import ArenaTrial, ConformanceJob
    from subflow_app.terminal.progress import in_background

    name = script.name
    try:
        check_script_name(name, script.kind, app_catalog())
    except InputError:
        name = "checked"  # any valid name suffices for a check
    jobs: list[ConformanceJob | ArenaTrial] = [ConformanceJob(script.kind, name, script.text)]
    if script.kind == "controller":
        jobs.append(ArenaTrial(name, script.text))
    findings: list[Finding] = []
    for job in jobs:
        outcome, signal_number = in_background(job, job.name)
        if signal_number:
            raise typer.Exit(failures.stopped_by(signal_number))
        outcome.check()
        findings += job.findings
        for each in () if is_quiet else job.findings:
            sign = {"pass": "✓", "fail": "✗", "error": "✗"}[each.verdict]
            print_line(f"  {sign} {each.check.question} {each.text}")
    return findings


def _print_checked(path: Path, script: ScriptFile, problems: tuple[ScriptProblem, ...]) -> None:
    from subflow_app.features.editor.core.scripts import script_problems
    from subflow_sim.script_reader import algorithm_of

    for line in script_problems(path, problems):
        print_note(line)
    if not problems:
        options = ", ".join(option.key for option in algorithm_of(script).options)
        print_line(f"{path}: no problems ({script.kind}{f'; options: {options}' if options else ''})")


def _document(path: Path, script: ScriptFile, problems: tuple[ScriptProblem, ...]) -> dict[str, Any]:
    listed = [fields(each, "line", "column", "end_column", "message", "allowed") for each in problems]
    return {"file": str(path), "kind": script.kind, "error": "", "problems": listed}


def _new(kind: ScriptKind, name: str) -> None:
    from subflow_app.features.catalog.core.catalog import app_catalog
    from subflow_app.features.editor.core.scripts import check_script_name, new_script_text, script_table, write_script
    from subflow_sim.script_reader import SUFFIX

    check_script_name(name, kind, app_catalog())
    path = Path(f"{name}{SUFFIX}")
    write_script(path, new_script_text(kind, name), is_new=True)
    print_line(f"{path} is written. To use it, add this to a scenario in the same folder:")
    print_line()
    print_line(script_table(kind, name))
    print_line(f'In the flows, choose it with {kind} = "{name}", or {{ name = "{name}", OPTION = VALUE }}.')
    print_line(f"`subflow {kind}s check {path}` lists its mistakes.")
