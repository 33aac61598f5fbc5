"""Ctrl-C at any moment of any command: it exits with 130 or had finished, without noise, and keeps its results."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.helpers.present import present

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is not a signal on Windows")

COMMANDS = {
    "run": ["run", "demo", "--set", "duration=600s"],
    "sweep": ["sweep", "demo", "--axis", "links.wifi.loss=0..0.05/20", "--jobs", "2"],
    "train": ["train", "drl-cc", "--steps", "1000000"],
    "reproduce": ["reproduce", "drl-cc-sc1", "--quick"],
    "arena": ["arena", "--quick"],
    "bench": ["bench", "C", "E"],
    "replay": ["replay", "1", "--at", "20s"],
    "export": ["export", "1", "--out", "exported"],
    "labs": ["labs", "check", "1", "--run"],
    "verify": ["verify", "bundle/run-1.subflow.zip"],
    "explain": ["explain", "1", "download/1", "--at", "20s"],
    "fork": ["fork", "1", "--at", "20s"],
    "report": ["report", "1", "--out", "report.html"],
    "compare": ["compare", "1", "2"],
    "runs": ["runs"],
}
QUICK = ("run", "sweep", "bench", "replay")
# Prints a line when Subflow itself has begun; Python starts up before that.
PROGRAM = (
    "import sys; from subflow_app.__main__ import main; print('begun', file=sys.stderr, flush=True); sys.exit(main())"
)


def call(words: list[str], folder: Path) -> subprocess.Popen[str]:
    places = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("DATA", "CONFIG", "STATE", "CACHE")}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=folder,
        env=os.environ | places | {"HOME": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # all its processes receive the signal, as from a terminal
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the databases of a user with two runs and a bundle."""
    folder = tmp_path_factory.mktemp("home")
    for words in (
        ["run", "demo"],
        ["run", "demo", "--seed", "2"],
        ["export", "1", "--format", "bundle", "--out", "bundle"],
    ):
        process = call(words, folder)
        _, told = process.communicate(timeout=60)
        assert process.returncode == 0, told
    return folder


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.full("the same way out as that of the others"))
        for name in COMMANDS
    ],
)
def test_ctrl_c_ends_a_command_with_130(name: str, home: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    for number in range(10 if request.config.getoption("--full") else 1):
        folder = tmp_path / str(number)
        shutil.copytree(home, folder)
        process = call(COMMANDS[name], folder)
        assert present(process.stderr).readline() == "begun\n"
        moment_s = random.choice((random.uniform(0, 0.5), random.uniform(0.3, 3)))  # during the start, or at work
        try:
            _, told = process.communicate(timeout=moment_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)
            _, told = process.communicate(timeout=60)
        where = f"after {moment_s:.3f} s: {told}"
        assert process.returncode in (0, signal.SIGINT + 128), where
        assert not any(word in told for word in ("Traceback", "Exception ignored", "terminate")), where
        for path in folder.rglob("*.db"):
            with closing(sqlite3.connect(path)) as database:
                assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
                assert database.execute("SELECT count(*) FROM run WHERE status = 'running'").fetchall() == [(0,)]


def test_an_interrupt_that_comes_while_the_core_is_loaded_waits_until_it_is() -> None:
    # An exception there would abort the program.
    program = """
import enum, os, signal, time
from subflow_app.foundation.interruption import notice_interrupts
notice_interrupts()
make, calls = enum.EnumType.__call__, []
def call(*words, **named):
    calls.append(1)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGINT)
    return make(*words, **named)
enum.EnumType.__call__ = call
try:
    import subflow_sim._core
    time.sleep(600)  # the interrupt ends the call
except KeyboardInterrupt:
    print(len(calls) > 3)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "True\n", "")
