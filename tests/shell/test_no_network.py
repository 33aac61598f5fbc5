"""No command uses a network: all commands run under a tracer, including their processes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.helpers.commands_in_turn import KNOCK
from tests.helpers.every_command import COMMANDS, Line, make_files

from subflow_app.shell.commands import app

ROOT = Path(__file__).resolve().parents[2]

# Commands that other commands start as processes.
WORKERS = {"train-worker": "train", "figure-worker": "library build", "kernel-worker": "compare-kernel"}
# Not `guide --build`: Sphinx imports urllib3, which binds ::1, a local address, to test for IPv6.
LONG = [
    "library list",
    "--selftest",
    "run demo --export exported",
    "reproduce tiny.toml --quick --out report --docs docs",
    "labs check 01-small.md --run",
]

TRACER = ["strace", "-f", "--seccomp-bpf", "--pidns-translation", "-s", "200"]
TRACED = "trace=socket,connect,bind,unshare,execve,clone,clone3,fork,vfork"
LOCAL = {"AF_UNIX", "AF_NETLINK"}
"""Sockets between processes of a machine, and between a process and the kernel."""

_CALL = re.compile(r"(?P<process>\d+) +(?P<goes_on><\.\.\. )?(?P<name>\w+)(?:\(| resumed>)(?P<rest>.*)")
_FAMILY = re.compile(r"\b[AP]F_[A-Z0-9]+")


def every_command(group: Any, words: tuple[str, ...] = ()) -> Iterator[str]:
    """All commands of the command line, including hidden commands and groups with an action."""
    for name, command in group.commands.items():
        path = (*words, name)
        if not hasattr(command, "commands") or command.invoke_without_command:
            yield " ".join(path)
        if hasattr(command, "commands"):
            yield from every_command(command, path)


def test_every_command_is_traced() -> None:
    assert sorted([*COMMANDS, *WORKERS]) == sorted(every_command(typer.main.get_command(app)))


def trace(words: Sequence[str | Path], folder: Path) -> str:
    """The system calls of a program and its processes, in strace's format; skips the test if tracing is impossible."""
    if shutil.which("strace") is None:
        pytest.skip("needs strace, which is there for Linux alone")
    probe = subprocess.run([*TRACER, "-e", TRACED, "true"], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        pytest.skip(f"nothing can be traced here: {probe.stderr.strip()}")
    written = folder / "trace.txt"
    # Excludes the buses of a desktop.
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [*TRACER, "-e", TRACED, "-o", written, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return written.read_text(encoding="utf-8", errors="replace")


def children(calls: list[re.Match[str] | None]) -> dict[int, str]:
    """The child processes by the place of the call that starts them, which may return after their first calls."""
    begun: dict[str, int] = {}
    found = {}
    for place, call in enumerate(calls):
        if call is not None and call["name"] in ("clone", "clone3", "fork", "vfork"):
            if call["goes_on"] is None:
                begun[call["process"]] = place
            # In a PID namespace, the number that strace uses follows in a comment.
            if child := re.search(r"= (\d+)(?: /\* (\d+) in strace's PID NS \*/)?$", call["rest"]):
                found[begun[call["process"]]] = child[2] or child[1]
    return found


def connections(trace: str) -> list[str]:
    """Calls in a trace of strace that reach for a network, each with the running command.

    A process in its own network namespace is isolated, together with its children: the namespace has no way out.
    """
    calls = [_CALL.match(line) for line in trace.splitlines()]
    started = children(calls)
    alone: set[str] = set()
    entering: set[str] = set()
    found, command = [], "the start"
    for place, call in enumerate(calls):
        if call is None:
            continue
        process, name, rest = call["process"], call["name"], call["rest"]
        if place in started and process in alone:
            alone.add(started[place])
        elif name == "unshare":
            if "CLONE_NEWNET" in rest:
                entering.add(process)
            if process in entering and rest.endswith("= 0"):
                alone.add(process)
        elif name in ("socket", "connect", "bind"):
            if KNOCK in rest:
                command = rest.partition(KNOCK)[2].partition('"')[0]
            elif (process not in alone and set(_FAMILY.findall(rest)) - LOCAL) or "io.systemd.Resolve" in rest:
                found.append(f"subflow {command}: {call[0]}")
    return found


def carry_out(lines: Sequence[str | Line], folder: Path) -> str:
    """The trace of commands run in a folder with files for them."""
    make_files(folder)
    pairs = [(line, 0) if isinstance(line, str) else line for line in lines]
    (folder / "lines.json").write_text(json.dumps(pairs), encoding="utf-8")
    return trace([sys.executable, "-m", "tests.helpers.commands_in_turn", folder / "lines.json"], folder)


@pytest.mark.timeout(600)  # 12 s of processor time, mostly sequential
def test_no_command_reaches_for_a_network(tmp_path: Path) -> None:
    seen = carry_out([line for lines in COMMANDS.values() for line in lines], tmp_path)
    assert connections(seen) == []
    told = re.findall(rf'"{KNOCK}([^"]*)"', seen)
    assert len(told) == sum(map(len, COMMANDS.values()))
    started = [worker for worker in WORKERS if re.search(rf'execve\(.*"{worker}"', seen)]
    assert started == list(WORKERS)


@pytest.mark.full("a self-test, all figures, a report")
@pytest.mark.timeout(900)
def test_what_takes_long_reaches_for_no_network_either(tmp_path: Path) -> None:
    assert connections(carry_out(["trainings stop 1", *LONG], tmp_path)) == []


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("socket.socket(type=socket.SOCK_DGRAM).connect(('127.0.0.1', 9))", 'sin_addr=inet_addr("127.0.0.1")'),
        ("socket.socket(socket.AF_INET6).bind(('::1', 0))", "AF_INET6"),
        ("subprocess.run([sys.executable, '-c', 'import socket; socket.socket()'])", "socket(AF_INET, SOCK_STREAM"),
        ("socket.socket(socket.AF_UNIX).bind('here')", ""),
    ],
)
def test_a_connection_is_seen(tmp_path: Path, code: str, told: str) -> None:
    found = connections(trace([sys.executable, "-c", f"import socket, subprocess, sys; {code}"], tmp_path))
    assert (found != []) == (told != "")
    assert told in "".join(found)
