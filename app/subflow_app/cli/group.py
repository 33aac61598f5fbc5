"""The command group: ``subflow FILE`` opens the window, and errors become messages and exit codes in one place."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from subflow_app.cli import exit_codes
from subflow_app.cli.terminal import print_error, print_note
from subflow_app.core.file_kinds import DATABASE_SUFFIXES

WINDOW_COMMAND = "window"
# Also of files that are not there: a typing error in one is no unknown command.
_OPENED = (".toml", *DATABASE_SUFFIXES)


class SubflowGroup(TyperGroup):
    """The top-level group of commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """A first word that is a file and not a command means: open the window on it."""
        if args and args[0] not in self.commands and (args[0].endswith(_OPENED) or Path(args[0]).is_file()):
            args = [WINDOW_COMMAND, *args]
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what can go wrong outside our own code ends as a message and an exit code.

        Any other exception is a bug of ours and passes through with its traceback.
        """
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # what is still buffered meets a reader that went away here, not at exit
        except BrokenPipeError:
            # Nobody reads stdout any more; point it to nowhere, so that the flush at exit does not complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(exit_codes.BROKEN_PIPE) from None
        except KeyboardInterrupt:
            raise typer.Exit(exit_codes.INTERRUPTED) from None
        except Exception as error:
            code = _exit_code(error)
            if code is None:
                raise
            _print(error)
            raise typer.Exit(code) from error


def _print(error: Exception) -> None:
    from subflow_app.core.errors import RecipeError, SweepError
    from subflow_sim.errors import ScenarioError

    if isinstance(error, ScenarioError | RecipeError | SweepError):
        # One problem per line, each beginning with file:line, as editors and scripts know it from compilers.
        print_note(str(error))
    else:
        print_error(str(error))


def _exit_code(error: Exception) -> int | None:
    """The exit code for errors that are no bugs; None for bugs."""
    # Usage errors of typer have their own way out. Our error classes are imported late: `subflow --help` needs none.
    if type(error).__module__.startswith("typer"):
        return None
    from subflow_agents.errors import AgentError, ConfigError
    from subflow_app.core.errors import AppError, InputError
    from subflow_sim.errors import ParamError, ScenarioError, SimError
    from subflow_store.errors import RunNotFound, StoreError, StoreMissing

    if isinstance(error, InputError | ConfigError | ScenarioError | ParamError | RunNotFound | StoreMissing):
        return exit_codes.BAD_INPUT
    if isinstance(error, AppError | AgentError | SimError | StoreError):
        return exit_codes.FAILED
    return None
