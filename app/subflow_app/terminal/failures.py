"""Failures outside the program's own code, as messages and exit codes of ``subflow``, for commands and the window.

The exit codes are part of the contract with scripts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from subflow_app.foundation.confirmation import Confirmation
from subflow_app.foundation.crash_reports import report_error, watched
from subflow_app.foundation.errors import InputError, RecipeError, SweepError
from subflow_app.foundation.expected_errors import is_expected, is_of_the_system, is_short_of_memory, message_of
from subflow_app.foundation.interruption import INTERRUPTED as INTERRUPTED
from subflow_app.terminal.terminal import print_error, print_note

OK = 0
FAILED = 1
"""The work was begun and failed: the simulation, the store, or a file that could not be written."""
BAD_INPUT = 2
"""What was asked for cannot be: a scenario with problems, an unknown run, a wrong option. Nothing was done."""
NOT_CONFIRMED = 3
"""A result that was to be made again: nothing contradicts it, and not all of it could be made again or compared."""
HANGUP = 129
"""SIGHUP (128 + 1), of a terminal that was closed: the run was stopped, and kept with what it had."""
# INTERRUPTED, 130: Ctrl-C (128 + SIGINT); the run was stopped, and kept with what it had.
TERMINATED = 143
"""SIGTERM (128 + 15): the run was stopped, and kept with what it had."""
BROKEN_PIPE = 141
"""The reader of stdout went away (128 + SIGPIPE), e.g. ``subflow runs | head -3``."""


def worst_of(outcomes: Iterable[Confirmation]) -> int:
    """The exit code for what came of making results again: that of the worst of them."""
    found = set(outcomes)
    if Confirmation.CONTRADICTED in found:
        return FAILED
    return NOT_CONFIRMED if Confirmation.NOT_CONFIRMED in found else OK


def stopped_by(signal_number: int) -> int:
    """The exit code of work that a signal has stopped."""
    return 128 + signal_number


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
        return FAILED
    # Usage errors of typer have their own way out. The other packages' are imported late: `subflow --help` needs none.
    if type(error).__module__.startswith("typer"):
        return None
    from subflow_agents.errors import ConfigError
    from subflow_sim.errors import ParamError, ScenarioError
    from subflow_store.errors import RunBusy, RunNotFound, StoreMissing

    if isinstance(error, InputError | ConfigError | ScenarioError | ParamError | RunBusy | RunNotFound | StoreMissing):
        return BAD_INPUT
    return FAILED if is_expected(error) else None
