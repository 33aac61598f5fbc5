"""The commands of one command line: all with their names, and only the named ones with their options."""

from __future__ import annotations

from typing import Any

import pytest
from tests.helpers.members import for_each
from typer.main import get_command

from subflow_app.shell.commands import app
from subflow_app.terminal.group import only_for

WHOLE: Any = get_command(app)


def help_of(command: Any, *names: str) -> str:
    """The help of a command or of a group, as the terminal shows it."""
    context = command.make_context("subflow", [], resilient_parsing=True)
    for name in names:
        context = context.command.commands[name].make_context(name, [], parent=context, resilient_parsing=True)
    return str(context.get_help())


def paths_in(group: Any) -> list[tuple[str, ...]]:
    """The words of each command in a group, and of the group itself."""
    found: list[tuple[str, ...]] = [()]
    for name, command in group.commands.items():
        below = paths_in(command) if hasattr(command, "commands") else [()]
        found += [(name, *words) for words in below]
    return found


@for_each("words", paths_in(WHOLE))
def test_each_command_has_the_help_of_the_whole_app(words: tuple[str, ...]) -> None:
    narrow: Any = get_command(only_for(app, words))

    assert help_of(narrow, *words) == help_of(WHOLE, *words)
    assert help_of(narrow) == help_of(WHOLE)


def test_other_commands_have_no_options() -> None:
    narrow: Any = get_command(only_for(app, ["run", "demo"]))

    assert len(narrow.commands["run"].params) == len(WHOLE.commands["run"].params) > 5
    assert narrow.commands["sweep"].params == []
    assert narrow.commands["labs"].commands == {}


def test_a_mistyped_command_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        only_for(app, ["swep"])(["swep"], prog_name="subflow")
    assert "Did you mean" in capsys.readouterr().err
