"""``subflow emulate`` runs real programs on the network of a scenario."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from subflow_app.foundation.errors import InputError, KernelError
from subflow_app.terminal import failures
from subflow_app.terminal.options import Database, Json, opened_store
from subflow_app.terminal.progress import stopping_on_signals
from subflow_app.terminal.terminal import print_json, print_line, print_note, print_tables

if TYPE_CHECKING:
    from subflow_app.features.editor.core.scenario_source import ScenarioSource
    from subflow_app.features.emulation.core.emulation import EmulationJob, Message
    from subflow_app.features.emulation.core.job_text import Program
    from subflow_app.features.emulation.core.keeping import KeptRuns
    from subflow_app.features.emulation.core.recording import EndedEmulation

_PROGRAMS = "subflow.programs"
_WAIT_S = 0.1


class EmulateCommand(TyperCommand):
    """The command `emulate`, whose programs follow ``--`` and ``--on NODE --``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the programs out of the words before the options are read."""
        from subflow_app.features.emulation.core.job_text import read_programs

        request = read_programs(args)
        ctx.meta[_PROGRAMS] = request.programs
        return list(super().parse_args(ctx, list(request.rest)))


def emulate(
    context: typer.Context,
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="Scenario file, or the name of a shipped one.")],
    shell: Annotated[
        str | None, typer.Option("--shell", metavar="NODE", help="Open a shell at a node; the run ends with it.")
    ] = None,
    uses_mptcp: Annotated[
        bool,
        typer.Option("--mptcp", help="Make TCP sockets of all programs MPTCP sockets; not in static programs."),
    ] = False,
    seconds: Annotated[
        float | None, typer.Option(min=0.1, max=6 * 3600, metavar="N", help="End after N seconds.")
    ] = None,
    uplink: Annotated[
        str | None,
        typer.Option(
            metavar="NODE",
            help="Let a node reach this machine's network and the internet, by slirp4netns or pasta; else none can.",
        ),
    ] = None,
    overlay: Annotated[
        bool, typer.Option("--overlay", help="Also simulate the scenario for the same time, and keep both runs.")
    ] = False,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value, e.g. links.wifi.loss=1%. Repeatable."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Seed of random losses, instead of the file's.")
    ] = None,
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Also write the traces there, as CSV.")
    ] = None,
    database: Database = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Do not keep the run.")] = False,
) -> None:
    r"""Run real programs on the network of a scenario.

    \b
    subflow emulate demo -- ping -c 5 phone
    subflow emulate demo --on phone -- iperf3 -s --on server -- iperf3 -c phone
    subflow emulate demo --shell phone --on server -- python3 -m http.server

    Each node becomes a network namespace of this machine, and the link emulator carries packets between them as in
    the drawing, in real time. Names of nodes resolve. A program after -- runs at the source of the first flow, after
    --on NODE -- at that node; options of this command come before the first --. Programs start in this order:
    servers first, as each program waits until the previous program listens, or is idle
    for half a second. The run ends when the last one
    ends, after --seconds, or at Ctrl-C; the other programs then get SIGTERM, and SIGKILL two seconds later.

    The flows of the scenario do not run by themselves. A connection between the ends of a flow is recorded as this
    flow, any other as NODE:PORT. The run is kept with the tag "emulated". It states how late packets were, and is
    marked unreliable if the 99th percentile exceeds 5 % of the smallest delay, or 0.5 ms.

    Nothing outside of the namespaces is changed or can be reached, unless --uplink is given, and nothing remains. It
    needs Linux and root, or unprivileged user namespaces. Exit code: 0 when the last program ended with 0 or was
    ended, 1 when it failed or this machine cannot run it, 2 for bad input, 130 after Ctrl-C.
    """
    from subflow_app.features.catalog.core.uses import Use
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_app.features.emulation.core.emulation import EmulationJob
    from subflow_app.features.emulation.core.job_text import check_node
    from subflow_app.features.emulation.core.network import plan_emulation

    source = open_scenario(scenario, use=Use.EMULATE, overrides=overrides or (), seed=seed)
    for line in source.replaced:
        print_note(line)
    programs = _programs(source, context.meta[_PROGRAMS], shell)
    if uplink is not None:
        check_node(source.scenario, uplink, "--uplink")
    network = plan_emulation(source.scenario, uplink)
    _check_machine(uplink)
    for line in network.notes:
        print_note(line)
    job = EmulationJob(
        network,
        source.scenario.seed,
        programs,
        seconds=seconds,
        ends_with=len(programs) - 1,
        uses_mptcp=uses_mptcp,
        uplink=uplink,
        shell=None if shell is None else len(programs) - 1,
    )
    with ExitStack() as stack:
        store = None if no_store else stack.enter_context(opened_store(database))
        recording, signal_number = _run(job, as_json=as_json)
        from subflow_app.features.emulation.core.keeping import keep_emulation

        kept = keep_emulation(recording, source, store, out, with_simulation=overlay)
    _print_result(recording, kept, as_json=as_json)
    raise typer.Exit(_exit_code(recording, signal_number))


def _programs(source: ScenarioSource, given: tuple[Program, ...], shell: str | None) -> tuple[Program, ...]:
    """The programs with their nodes; raises InputError."""
    from subflow_app.features.emulation.core.job_text import Program, check_node, check_program, source_node

    programs = []
    for program in given:
        where = f"--on {program.node}" if program.node else "--"
        node = program.node or source_node(source.scenario)
        check_node(source.scenario, node, where)
        placed = Program(node, program.words)
        check_program(placed, where)
        programs.append(placed)
    if shell is not None:
        check_node(source.scenario, shell, "--shell")
        if not sys.stdin.isatty() or not sys.stdout.isatty():
            raise InputError(f"--shell {shell}: a shell needs a terminal; use --on {shell} -- PROGRAM")
        programs.append(Program(shell, (_shell(),)))
    if not programs:
        raise InputError("give a program after --, or after --on NODE --, or a node with --shell")
    return tuple(programs)


def _shell() -> str:
    """The shell of the user, or else one that every machine has."""
    wanted = os.environ.get("SHELL", "")
    return wanted if wanted and which(wanted) else which("bash") or "/bin/sh"


def _check_machine(uplink: str | None) -> None:
    """Raise KernelError unless this machine can run programs, as far as that is known without trying."""
    if not sys.platform.startswith("linux"):
        raise KernelError(f"this takes a Linux kernel; this system is {sys.platform}")
    if uplink is not None and which("slirp4netns") is None and which("pasta") is None:
        raise KernelError("--uplink needs slirp4netns or pasta (package passt), and this machine has neither")


def _run(job: EmulationJob, *, as_json: bool) -> tuple[EndedEmulation, int]:
    """Run the programs to the end or until a signal; return the recording and the number of the signal, or 0."""
    from dataclasses import replace

    from subflow_app.features.emulation.core.recording import EmulationRecording
    from subflow_app.features.emulation.core.terminal import TerminalRelay

    with ExitStack() as stack:
        if job.shell is not None:
            relay = stack.enter_context(TerminalRelay())
            job = replace(job, terminal=relay.descriptor)
        recording = EmulationRecording(job, _Printer(to_stderr=as_json).take)
        emulation = recording.emulation
        with stopping_on_signals(emulation) as stop:
            emulation.start()
            while not emulation.wait(_WAIT_S):
                pass
        if emulation.error is not None:
            raise KernelError(emulation.error)
        return recording.complete(), stop.signal_number


class _Printer:
    """Prints the output of programs with the name of the node in front."""

    def __init__(self, *, to_stderr: bool) -> None:
        self._print = print_note if to_stderr else print_line
        self._nodes: dict[int, str] = {}

    def take(self, message: Message) -> None:
        """Print a message of the worker, if people need it."""
        if "started" in message:
            started = message["started"]
            self._nodes[started["program"]] = started["node"]
            if started["note"]:
                print_note(f"{started['node']}: {started['words'][0]} is {started['note']}")
        elif "output" in message:
            self._print(f"{self._nodes[message['output']['program']]}: {message['output']['text']}")
        elif "ready" in message:
            for note in message["ready"]["notes"]:
                print_note(note)
        elif "refused" in message:
            print_note(message["refused"]["reason"])


def _print_result(recording: EndedEmulation, kept: KeptRuns, *, as_json: bool) -> None:
    from subflow_app.features.emulation.core.lateness import lateness_of
    from subflow_app.features.traces.core.summary_text import summary_line, summary_tables

    summary = recording.summary()
    if as_json:
        print_json({**summary, "run_ids": kept.run_ids})
        return
    about = summary["emulation"]
    print_line()
    print_line(str(summary["scenario"]))
    print_line(f"{summary_line(summary)}, Linux {about['release']}")
    print_line()
    print_tables(*summary_tables(summary, recording.scenario))
    print_line(lateness_of(about["lateness"], recording.scenario).text)
    if kept.run_ids is not None:
        print_line("kept as " + " and ".join(f"run {number} ({kind})" for kind, number in kept.run_ids.items()))
    for path in kept.files:
        print_line(f"wrote {path}")


def _exit_code(recording: EndedEmulation, signal_number: int) -> int:
    if signal_number:
        return failures.stopped_by(signal_number)
    last = recording.summary()["emulation"]["programs"][-1]
    if last["code"] is not None and last["code"] > 0:
        print_note(f"{last['words'][0]} at {last['node']} ended with exit code {last['code']}")
        return failures.FAILED
    return failures.OK
