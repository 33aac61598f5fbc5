"""The commands of ``subflow``: ``app`` lists them, ``main`` runs one."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from subflow_app.features.arena import cli as arena
from subflow_app.features.assess import cli as assess
from subflow_app.features.bench.cli import bench
from subflow_app.features.breaking import cli as breaking
from subflow_app.features.catalog import cli as catalogue
from subflow_app.features.comparison import cli as compare
from subflow_app.features.databases import cli as databases
from subflow_app.features.emulation import cli as emulation
from subflow_app.features.explain import cli as explain
from subflow_app.features.exporting import cli as export
from subflow_app.features.fairness import cli as fairness
from subflow_app.features.forking import cli as fork
from subflow_app.features.gallery import cli as reproduce
from subflow_app.features.guide import cli as guide
from subflow_app.features.history import cli as history
from subflow_app.features.importing import cli as importing
from subflow_app.features.kernel import cli as compare_kernel
from subflow_app.features.kernel.core.worker_process import WORKER_COMMAND as KERNEL_WORKER_COMMAND
from subflow_app.features.labs.cli import labs
from subflow_app.features.library import cli as library
from subflow_app.features.paper import cli as report
from subflow_app.features.running import cli as run
from subflow_app.features.script import cli as scripts
from subflow_app.features.sweeps import cli as sweep
from subflow_app.features.sweeps import cli as sweeps
from subflow_app.features.testbed import cli as testbed
from subflow_app.features.training.cli import agents, train, trainings
from subflow_app.features.training.cli.train import TRAIN_WORKER_COMMAND, TrainCommand
from subflow_app.foundation.paths import FIGURE_WORKER
from subflow_app.shell import selftest_command as selftest
from subflow_app.shell.figure_worker_command import figure_worker
from subflow_app.shell.window_command import open_window
from subflow_app.terminal.failures import reporting_bugs
from subflow_app.terminal.group import WINDOW_COMMAND, SubflowGroup, name_of, only_for
from subflow_app.terminal.terminal import print_line

__all__ = ["app", "main"]

app = typer.Typer(
    cls=SubflowGroup,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from subflow_app import __version__

        print_line(f"subflow {__version__}")
        raise typer.Exit


@app.callback()
def subflow(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    is_selftest: Annotated[
        bool, typer.Option("--selftest", help="Check this installation; takes half a minute.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="With --selftest: also write the results as JSON.")
    ] = None,
) -> None:
    """Desktop workbench for multipath congestion control.

    Without arguments, the window opens; `subflow FILE` opens it on a scenario (.toml) or a database (.subflow, .db).
    """
    if is_selftest or out is not None:
        selftest.check_options(is_selftest=is_selftest, out=out, command=context.invoked_subcommand)
        raise typer.Exit(selftest.selftest(out))
    if context.invoked_subcommand is None:
        raise typer.Exit(open_window(None))


@app.command(WINDOW_COMMAND, hidden=True)
def window(file: Annotated[Path | None, typer.Argument(metavar="[FILE]")] = None) -> None:
    """Open the window, on a scenario or a database if a file is given."""
    raise typer.Exit(open_window(file))


app.command()(run.run)
app.command()(sweep.sweep)
app.add_typer(sweeps.sweeps_app, name="sweeps")
app.command(cls=TrainCommand)(train.train)
app.command()(agents.evaluate)
app.add_typer(trainings.trainings_app, name="trainings")
app.add_typer(labs.labs_app, name="labs")
app.add_typer(library.library_app, name="library")
app.add_typer(history.runs_app, name="runs")
app.command()(history.show)
app.command()(explain.explain)
app.command()(fairness.fairness)
app.command()(fork.fork)
app.command()(explain.replay)
app.command(cls=export.ExportCommand, short_help="Write data and figures of stored runs.")(export.export)
app.command("export-topology", cls=testbed.ExportTopologyCommand)(testbed.export_topology)
app.command("import", cls=importing.ImportTraceCommand)(importing.import_files)
app.command("import-trace", cls=importing.ImportTraceCommand)(importing.import_trace)
app.command()(databases.check)
app.command()(databases.salvage)
app.command()(databases.upgrade)
app.command()(report.report)
app.command()(export.verify)
app.command()(reproduce.reproduce)
app.command()(arena.arena)
app.command()(assess.assess)
app.command("break")(breaking.break_claim)
app.command("leaderboard", help="The same as `arena`.")(arena.arena)
app.command()(bench.bench)
app.command()(compare.compare)
app.command("compare-kernel")(compare_kernel.compare_kernel)
app.command(KERNEL_WORKER_COMMAND, hidden=True)(compare_kernel.kernel_worker)
app.command("emulate", cls=emulation.EmulateCommand)(emulation.emulate)
app.command(FIGURE_WORKER, hidden=True)(figure_worker)
app.command(TRAIN_WORKER_COMMAND, hidden=True)(train.train_worker)
agents.agents_app.command()(agents.promote)
app.add_typer(agents.agents_app, name="agents")
scripts.controllers_app.command("load")(compare_kernel.load)
scripts.controllers_app.command("loaded")(compare_kernel.loaded)
app.add_typer(scripts.controllers_app, name="controllers")
app.add_typer(scripts.schedulers_app, name="schedulers")
app.command()(catalogue.scenarios)
app.command()(catalogue.schema)
app.command()(guide.guide)


def main() -> int:
    """Run the command line in ``sys.argv`` and return the exit code.

    After a bug, the program saves a crash report and prints the traceback.
    """
    for stream in (sys.stdout, sys.stderr):
        # A character that the encoding lacks, such as an arrow, becomes a question mark instead of causing a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    # Other words on the command line may be private, so the crash report names only the command.
    command = next((word for word in sys.argv[1:2] if word in _names()), "")
    try:
        with reporting_bugs(f"subflow {command}".rstrip()):
            only_for(app, sys.argv[1:])(prog_name="subflow")
    except SystemExit as end:
        sys.stdout.flush()
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    return 0


def _names() -> set[str]:
    """Names of all commands and groups of commands."""
    groups = {group.name for group in app.registered_groups}
    return {name for name in groups | set(map(name_of, app.registered_commands)) if name}
