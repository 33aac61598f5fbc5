"""What can go wrong outside our own code, as a message and an exit code, for commands and for the window alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from subflow_app.foundation.crash_reports import report_error
from subflow_app.foundation.crash_watch import watched
from subflow_app.foundation.errors import InputError, RecipeError, SweepError
from subflow_app.foundation.expected_errors import is_expected, is_of_the_system, is_short_of_memory, message_of
from subflow_app.terminal import exit_codes
from subflow_app.terminal.terminal import print_error, print_note


@contextmanager
def reporting_bugs(where: str) -> Iterator[None]:
    """Has a report kept of a bug that ends the program, by an exception, which is raised on, or by a crash.

    Args:
        where: what the program does, for the report: ``"the window"`` or the name of a command.
    """
    with watched(where):
        try:
            yield
        except Exception as error:
            report = report_error(error, where) if exit_code_of(error) is None else None
            if report is not None:
                print_error(f"this is a bug of Subflow; the report is kept in {report.file}, and nothing is sent")
            raise


def tell(error: Exception) -> None:
    """Say on stderr what went wrong."""
    if is_short_of_memory(error):
        print_error(message_of(error))
        return
    from subflow_sim.errors import ScenarioError

    if isinstance(error, ScenarioError | RecipeError | SweepError):
        # One problem per line, each beginning with file:line, as editors and scripts know it from compilers.
        print_note(str(error))
    else:
        print_error(message_of(error))


def exit_code_of(error: Exception) -> int | None:
    """The exit code for errors that are not bugs; None for bugs."""
    if is_short_of_memory(error) or is_of_the_system(error):
        return exit_codes.FAILED
    # Usage errors of typer have their own way out. The other packages' are imported late: `subflow --help` needs none.
    if type(error).__module__.startswith("typer"):
        return None
    from subflow_agents.errors import ConfigError
    from subflow_sim.errors import ParamError, ScenarioError
    from subflow_store.errors import RunBusy, RunNotFound, StoreMissing

    if isinstance(error, InputError | ConfigError | ScenarioError | ParamError | RunBusy | RunNotFound | StoreMissing):
        return exit_codes.BAD_INPUT
    return exit_codes.FAILED if is_expected(error) else None
