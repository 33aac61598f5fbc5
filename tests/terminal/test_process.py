"""The command ``subflow`` as a separate process: start-up, real signals, pipes. Few tests, as each start takes time."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.helpers.present import present

from subflow_app.terminal import failures

SUBFLOW = [sys.executable, "-m", "subflow_app"]
TIMEOUT_S = 60


def call(*words: object) -> subprocess.CompletedProcess[str]:
    """Runs one command and waits for its end."""
    return subprocess.run([*SUBFLOW, *map(str, words)], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def test_run_and_show_as_commands(scenario: Path, database: Path) -> None:
    run = call("run", scenario, "--db", database, "--json")
    show = call("show", "1", "--db", database, "--json")

    assert run.returncode == show.returncode == 0
    assert run.stderr == show.stderr == ""
    assert json.loads(run.stdout)["signature"] == json.loads(show.stdout)["signature"]


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, 130),
        pytest.param(signal.SIGTERM, 143, marks=pytest.mark.full("another signal, the same way out")),
    ],
)
def test_signal_during_a_run_keeps_it(scenario: Path, database: Path, number: int, code: int) -> None:
    # The progress bar on a terminal shows that the run has begun; 10^6 s would take minutes.
    terminal, stderr = pty.openpty()
    words = ["run", scenario, "--db", database, "--set", "duration=1e6", "--sample-interval", "1000s"]
    process = subprocess.Popen([*SUBFLOW, *map(str, words)], stdout=subprocess.PIPE, stderr=stderr, text=True)
    os.close(stderr)
    seen = b""
    deadline = time.monotonic() + TIMEOUT_S
    while b"to go" not in seen:
        assert time.monotonic() < deadline
        seen += os.read(terminal, 4096)
    process.send_signal(number)
    while b"kept as run 1" not in seen:
        assert time.monotonic() < deadline
        seen += os.read(terminal, 4096)
    out, _ = process.communicate(timeout=TIMEOUT_S)
    os.close(terminal)

    assert process.returncode == code
    assert "run 1, signature" in out
    (run,) = json.loads(call("runs", "--db", database, "--json").stdout)
    assert run["status"] == "stopped"
    assert run["simulated_s"] < 1e6


@pytest.mark.parametrize("display", [{}, {"DISPLAY": ":6543"}], ids=["none", "unreachable"])
def test_without_a_display_one_line_says_so(display: dict[str, str]) -> None:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in hidden} | display

    answer = subprocess.run(SUBFLOW, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=environment)

    assert answer.returncode == failures.FAILED
    assert answer.stdout == ""
    (line,) = answer.stderr.splitlines()
    assert line.startswith("subflow: no window can be opened: ")
    assert "display" in line
    assert all(value in line for value in display.values())


def test_reader_that_goes_away_is_no_error_worth_a_word(scenario: Path) -> None:
    process = subprocess.Popen(
        [*SUBFLOW, "run", scenario, "--no-store", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    present(process.stdout).close()
    err = present(process.stderr).read()
    present(process.stderr).close()

    assert process.wait(TIMEOUT_S) == 141
    assert err == b""


def test_terminal_that_knows_only_ascii_gets_tables_all_the_same(scenario: Path) -> None:
    answer = subprocess.run(
        [*SUBFLOW, "run", str(scenario), "--no-store"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )

    assert answer.returncode == 0, answer.stderr
    assert "? wifi" in answer.stdout


def test_help_and_version_need_neither_simulator_nor_window() -> None:
    # Modules that cost more than the answer itself. Units and the gate of file names are plain Python.
    code = (
        "import sys\n"
        "from subflow_app.shell.commands import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'matplotlib', 'PySide6', 'subflow_store', 'rich'}\n"
        "names = ('_core', 'catalog', 'parameter', 'scenario', 'scenario_model', 'simulation')\n"
        "heavy |= {f'subflow_sim.{name}' for name in names}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=TIMEOUT_S, check=True)

    assert "Commands:" in answer.stdout
    assert answer.stderr.strip() == "[]"
