"""The command group: ``subflow FILE`` opens the window, and errors become messages and exit codes."""

from __future__ import annotations

import copy
import inspect
import os
import sys
from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import solve_typer_info_help
from typer.models import CommandInfo, TyperInfo

from subflow_app.foundation.file_kinds import OPENED_SUFFIXES
from subflow_app.terminal import failures
from subflow_sim.gate import is_file

WINDOW_COMMAND = "window"


class SubflowGroup(TyperGroup):
    """The top-level group of commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Resolve a command; any other word that is a file, or ends with one of `OPENED_SUFFIXES`, opens the window."""
        if args and args[0] not in self.commands and (args[0].endswith(OPENED_SUFFIXES) or is_file(Path(args[0]))):
            args = [WINDOW_COMMAND, *args]
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an expected error becomes a message and an exit code.

        Any other exception is a bug of Subflow and passes through with its traceback.
        """
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # raises BrokenPipeError here if the reader has gone, not at exit
        except BrokenPipeError:
            # No process reads stdout any more; redirect it to the null device, so that the flush at exit succeeds.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(failures.BROKEN_PIPE) from None
        except KeyboardInterrupt:
            raise typer.Exit(failures.INTERRUPTED) from None
        except Exception as error:
            code = failures.exit_code_of(error)
            if code is None:
                raise
            failures.tell(error)
            raise typer.Exit(code) from error


class ListingGroup(TyperGroup):
    """A group with a hidden default command, whose name is in capitals.

    If the first word is not a command, all words become arguments of the default command. However, if the first of
    several words resembles a command, they are refused.
    """

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command named by the first word, or else the hidden command."""
        word = args[0]
        # A mistyped command with arguments must not become a search for these words.
        is_slip = len(args) > 1 and get_close_matches(word, self.commands, n=1, cutoff=0.75)
        if word not in self.commands and not is_slip:
            listing = next(name for name in self.commands if name.isupper())
            return listing, self.commands[listing], args
        return super().resolve_command(ctx, args)


def only_for(app: typer.Typer, words: Collection[str]) -> typer.Typer:
    """The app with all its commands, of which only the commands named by the words have options and arguments.

    Typer reads the annotations of each command that it gets. Reading those of all commands took half of the processor
    time of ``subflow --help``, which shows none of them.

    Args:
        app: the app, which stays unchanged.
        words: words of the command line.
    """
    short = copy.copy(app)
    short.registered_commands = [_command_for(info, words) for info in app.registered_commands]
    short.registered_groups = [_group_for(info, words) for info in app.registered_groups]
    return short


def name_of(info: CommandInfo) -> str:
    """Name of a command on the command line."""
    return info.name or getattr(info.callback, "__name__", "").replace("_", "-")


def _command_for(info: CommandInfo, words: Collection[str]) -> CommandInfo:
    name = name_of(info)
    if name in words or name.isupper() or name == WINDOW_COMMAND:  # names in capitals and the window need no word
        return info
    short = copy.copy(info)
    short.name, short.callback, short.cls = name, _do_nothing, None
    short.help = info.help or inspect.getdoc(info.callback)
    return short


def _group_for(info: TyperInfo, words: Collection[str]) -> TyperInfo:
    short = copy.copy(info)
    assert info.typer_instance is not None
    if info.name in words:
        short.typer_instance = only_for(info.typer_instance, words)
    else:
        short.typer_instance = typer.Typer(help=solve_typer_info_help(info))
    return short


def _do_nothing() -> None:
    """Replaces the function of a command that the command line does not name."""
