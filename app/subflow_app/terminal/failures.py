"""Messages and exit codes for expected errors, shared by commands and the window.

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
"""The work began and failed: the simulation, the store, or a file that could not be written."""
BAD_INPUT = 2
"""The request is not possible: a scenario with problems, an unknown run, a wrong option. No work was done."""
NOT_CONFIRMED = 3
"""No reproduced part differs from the result, but some part could not be reproduced or compared."""
HANGUP = 129
"""SIGHUP (128 + 1) of a closed terminal: the run was stopped, and its results so far are stored."""
# INTERRUPTED, 130: Ctrl-C (128 + SIGINT); the run was stopped, and its results so far are stored.
TERMINATED = 143
"""SIGTERM (128 + 15): the run was stopped, and its results so far are stored."""
BROKEN_PIPE = 141
"""The reader of stdout has closed the pipe (128 + SIGPIPE), e.g. ``subflow runs | head -3``."""


def worst_of(outcomes: Iterable[Confirmation]) -> int:
    """The exit code for several reproduced results, which is the exit code for the worst outcome."""
    found = set(outcomes)
    if Confirmation.CONTRADICTED in found:
        return FAILED
    return NOT_CONFIRMED if Confirmation.NOT_CONFIRMED in found else OK


def stopped_by(signal_number: int) -> int:
    """The exit code of work that a signal has stopped."""
    return 128 + signal_number


@contextmanager
def reporting_bugs(where: str) -> Iterator[None]:
    """Context that saves a crash report if the program crashes or hits a bug; exceptions are raised again.

    Args:
        where: activity for the report: ``"the window"`` or the name of a command.
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
    """Print an expected error on stderr; problems of scenarios, recipes and sweeps keep one line each."""
    if is_short_of_memory(error):
        print_error(message_of(error))
        return
    from subflow_sim.errors import ScenarioError

    if isinstance(error, ScenarioError | RecipeError | SweepError):
        # One problem per line, each beginning with file:line as in the messages of compilers, for editors and scripts.
        print_note(str(error))
    else:
        print_error(message_of(error))


def exit_code_of(error: Exception) -> int | None:
    """The exit code of an expected error; None for bugs."""
    if is_short_of_memory(error) or is_of_the_system(error):
        return FAILED
    # typer handles its usage errors itself. The other packages are imported late, because `subflow --help` needs none.
    if type(error).__module__.startswith("typer"):
        return None
    from subflow_agents.errors import ConfigError
    from subflow_sim.errors import ParamError, ScenarioError
    from subflow_store.errors import RunBusy, RunNotFound, StoreMissing

    if isinstance(error, InputError | ConfigError | ScenarioError | ParamError | RunBusy | RunNotFound | StoreMissing):
        return BAD_INPUT
    return FAILED if is_expected(error) else None
