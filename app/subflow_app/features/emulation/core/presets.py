"""Programs to choose from for nodes of a drawn network: iperf3, curl with a web server, ping, and commands."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.features.emulation.core.job_text import Program
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.errors import ParamError
from subflow_sim.units import Dimension, parse_quantity

if TYPE_CHECKING:
    from subflow_sim.scenario import Scenario

WEB_PORT = 8000
WEB_FILE = "download"
"""Name of the file that the web server offers."""
_MOST_FILE_BYTES = 1e12
_END_S = 2.0  # iperf3 starts and ends within this time, so that its report is complete


@dataclass(frozen=True, slots=True)
class Chosen:
    """A preset with its nodes.

    Attributes:
        preset: key of `PRESETS`.
        node: node that sends the data; for a ping or a command, the node on which it runs.
        peer: node that receives the data or answers.
        text: text of the preset, e.g. the command.
    """

    preset: str
    node: str
    peer: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Values that presets need besides their nodes.

    Attributes:
        seconds: length of the run, s.
        web_folder: folder that the web server offers.
    """

    seconds: float
    web_folder: Path


@dataclass(frozen=True, slots=True)
class Preset:
    """Programs to choose together.

    Attributes:
        title: name in the list, in English.
        tip: purpose, in English.
        make: makes the programs: the server, if any, and the client.
        has_peer: whether the preset has a second node.
        text: label of the preset's text, in English; empty for a preset without text.
        default: initial text.
    """

    title: str
    tip: str
    make: Callable[[Chosen, Surroundings], Sequence[Program]]
    has_peer: bool = True
    text: str = ""
    default: str = ""


def _iperf3(chosen: Chosen, around: Surroundings) -> Sequence[Program]:
    seconds = max(1, math.floor(around.seconds - _END_S))
    server = ("iperf3", "--server", "--one-off", "--forceflush")
    client = ("iperf3", "--client", chosen.peer, "--time", str(seconds), "--forceflush")
    return Program(chosen.peer, server), Program(chosen.node, client)


def _web(chosen: Chosen, around: Surroundings) -> Sequence[Program]:
    folder = str(around.web_folder)
    server = ("python3", "-u", "-m", "http.server", str(WEB_PORT), "--directory", folder)
    report = "%{size_download} bytes in %{time_total} s\\n"
    address = f"http://{chosen.node}:{WEB_PORT}/{WEB_FILE}"
    # The server may take longer to start than the worker waits for it.
    patience = ("--retry", "20", "--retry-delay", "1", "--retry-connrefused")
    output = ("--silent", "--show-error", "--fail", "--output", "/dev/null", "--write-out", report)
    return Program(chosen.node, server), Program(chosen.peer, ("curl", *output, *patience, address))


def _ping(chosen: Chosen, around: Surroundings) -> Sequence[Program]:
    seconds = str(max(1, math.floor(around.seconds)))
    return (Program(chosen.node, ("ping", "-i", "0.2", "-w", seconds, chosen.peer)),)


def _command(chosen: Chosen, around: Surroundings) -> Sequence[Program]:
    del around
    return (Program(chosen.node, shell_words(chosen.text)),)


PRESETS: Mapping[str, Preset] = {
    "iperf3": Preset("iperf3", translatable("Sends as much as the network carries, and reports the goodput"), _iperf3),
    "web": Preset(
        translatable("Web server and curl"),
        translatable("Downloads a file of the given size from Python's web server"),
        _web,
        text=translatable("Size"),
        default="20MB",
    ),
    "ping": Preset("ping", translatable("Measures the round-trip time five times a second"), _ping),
    "command": Preset(
        translatable("Command"),
        translatable("Runs a shell command of your own; names of nodes are names of hosts in it"),
        _command,
        has_peer=False,
        text=translatable("Command"),
    ),
}
"""Presets by key."""


def shell_words(text: str) -> tuple[str, ...]:
    """The words that run the text in a shell.

    Raises:
        InputError: if the text is empty.
    """
    if not text.strip():
        raise InputError(tr("The command is empty: write a command, such as {example}.", example='"ping -c 3 server"'))
    return "sh", "-c", text


def programs_of(choices: Iterable[Chosen], around: Surroundings) -> tuple[Program, ...]:
    """The programs of all chosen presets, in the order of their start: servers before all clients.

    Raises:
        InputError: if nothing is chosen, a command is empty, or a program would talk to its own node.
    """
    servers: list[Program] = []
    clients: list[Program] = []
    for chosen in choices:
        preset = PRESETS[chosen.preset]
        if preset.has_peer and chosen.node == chosen.peer:
            name = tr(preset.title)
            raise InputError(
                tr("{program} needs two different nodes, not {node} twice.", program=name, node=chosen.peer)
            )
        *before, client = preset.make(chosen, around)
        servers += before
        clients.append(client)
    if not clients:
        raise InputError(tr("No program is chosen: add one."))
    return (*servers, *clients)


def file_bytes(choices: Iterable[Chosen]) -> int:
    """Size of the file that the web server offers, the largest chosen one, bytes; 0 without a web server.

    Raises:
        InputError: if a size is not between 1 B and 1 TB.
    """
    largest = 0
    for chosen in choices:
        if chosen.preset != "web":
            continue
        try:
            size = parse_quantity(chosen.text, Dimension.SIZE)
        except ParamError as error:
            raise InputError(tr('"{text}" is not a size: {reason}', text=chosen.text, reason=error)) from error
        if not 1 <= size <= _MOST_FILE_BYTES:
            raise InputError(tr('The size "{text}" is not between 1 B and 1 TB.', text=chosen.text))
        largest = max(largest, math.ceil(size))
    return largest


def write_web_file(folder: Path, size_bytes: int) -> None:
    """Write the file that the web server offers, without using space on the disk.

    Raises:
        OSError: if the file system refuses it.
    """
    with (folder / WEB_FILE).open("wb") as file:
        file.truncate(size_bytes)


def missing_programs(programs: Iterable[Program]) -> Iterator[str]:
    """Yield a sentence for each program that this computer lacks."""
    for name in dict.fromkeys(program.words[0] for program in programs):
        if shutil.which(name) is None:
            yield tr(
                "The program {program} is not installed: install it with the package manager of this system.",
                program=name,
            )


def default_choice(scenario: Scenario) -> Chosen:
    """The first choice of the dialog: iperf3 from the source of the first flow to its destination."""
    flow = next(iter(scenario.flows.values()), None)
    if flow is not None:
        return Chosen("iperf3", flow.source, flow.destination)
    names = list(nodes_of(scenario))
    return Chosen("iperf3", names[0], names[-1])


def nodes_of(scenario: Scenario) -> tuple[str, ...]:
    """Names of the nodes that can run programs, hosts first."""
    nodes = scenario.nodes.values()
    hosts = [node.name for node in nodes if node.kind == "host"]
    return (*hosts, *(node.name for node in nodes if node.kind != "host"))


@dataclass(frozen=True, slots=True)
class EmulationDraft:
    """Contents of the dialog.

    Attributes:
        choices: the chosen presets.
        seconds: length of the run, s.
        mptcp: whether unmodified programs use MPTCP.
    """

    choices: tuple[Chosen, ...]
    seconds: int
    mptcp: bool
