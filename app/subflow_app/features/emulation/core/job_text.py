"""Programs and nodes as words of a command line."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from subflow_app.foundation.errors import InputError

if TYPE_CHECKING:
    from subflow_sim.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Program:
    """A program on a node.

    Attributes:
        node: name of the node.
        words: the program and its arguments.
    """

    node: str
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of the program without its folder."""
        return PurePath(self.words[0]).name

    @property
    def text(self) -> str:
        """The command as a shell reads it."""
        return shlex.join(self.words)

    def document(self) -> dict[str, Any]:
        """The program as JSON values."""
        return {"node": self.node, "words": list(self.words)}


@dataclass(frozen=True, slots=True)
class Request:
    """The programs of a command line.

    Attributes:
        programs: the programs in order; "" stands for the source of the first flow.
        rest: the words before the first program.
    """

    programs: tuple[Program, ...]
    rest: tuple[str, ...]


def read_programs(words: Sequence[str]) -> Request:
    """Split a command line into the words before the programs, and the programs.

    A program begins after ``--`` and ends before the next ``--on NODE --``. So the words of a program may contain
    anything but these three words in a row.

    Raises:
        InputError: if ``--on`` has no node, or a program has no words.
    """
    rest: list[str] = []
    programs: list[Program] = []
    place = 0
    while place < len(words):
        word = words[place]
        if word == "--on" or word == "--":
            node = ""
            if word == "--on":
                node = words[place + 1] if place + 1 < len(words) else ""
                if node in ("", "--") or words[place + 2 : place + 3] != ["--"]:
                    raise InputError(f"--on {node}".rstrip() + ": give a node, then -- and a program")
                place += 2
            end = _end(words, place + 1)
            program = tuple(words[place + 1 : end])
            if not program:
                raise InputError((f"--on {node} --" if node else "--") + ": a program must follow")
            programs.append(Program(node, program))
            place = end
        else:
            rest.append(word)
            place += 1
    return Request(tuple(programs), tuple(rest))


def _end(words: Sequence[str], place: int) -> int:
    """Place after the last word of the program that begins at `place`."""
    while place < len(words) and not (words[place] == "--on" and words[place + 2 : place + 3] == ["--"]):
        place += 1
    return place


def source_node(scenario: Scenario) -> str:
    """The node of a program without ``--on``: the source of the first flow, or else the first host."""
    flow = next(iter(scenario.flows.values()), None)
    if flow is not None:
        return flow.source
    return next((name for name, node in scenario.nodes.items() if node.kind == "host"), next(iter(scenario.nodes)))


def check_node(scenario: Scenario, node: str, where: str) -> None:
    """Raise InputError unless the scenario has this node."""
    if node not in scenario.nodes:
        raise InputError(f'{where}: the scenario has no node "{node}"; it has {", ".join(scenario.nodes)}')


def check_program(program: Program, where: str) -> None:
    """Raise InputError unless this machine has the program."""
    if shutil.which(program.words[0]) is None:
        raise InputError(
            f'{where}: this machine has no program "{program.words[0]}"; name one that is installed, or its path'
        )
