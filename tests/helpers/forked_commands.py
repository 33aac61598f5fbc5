"""Runs commands of Subflow, each in a copy of this process: `python -m tests.helpers.forked_commands FILE`.

A copy has loaded all modules already, so that a command costs little. The file is a JSON list of the arguments after
`subflow`, each with its redirections; the answers replace it: exit code, output and errors.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import shlex
import signal
import subprocess
import sys
import traceback
from pathlib import Path

import typer.main
from tests.helpers.commands_in_turn import close_after_a_run

import subflow_app.features.gallery.core.recipe  # the modules that many commands need
import subflow_app.features.labs.core.session
import subflow_app.features.running.core.runs
import subflow_store.store
from subflow_app.__main__ import main as subflow
from subflow_app.shell.commands import app

TRAINING = "from tests.helpers.commands_in_turn import start_training as s; s(); print('.', flush=True); input()"
PATIENCE_S = 120
PRELOADED = (
    subflow_app.features.gallery.core.recipe,
    subflow_app.features.labs.core.session,
    subflow_app.features.running.core.runs,
    subflow_store.store,
)


def redirected(number: int, target: str) -> None:
    """Redirects a descriptor like the shell: to a file, or closes it with "-"."""
    if target == "-":
        os.close(number)
        return
    opened = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(opened, number)
    os.close(opened)


def be_command(line: str, out: str, err: str) -> int:
    """Runs the command like a separate process, beginning with the streams of the interpreter."""
    redirected(1, out)
    redirected(2, err)
    sys.stdout = None if out == "-" else open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = None if err == "-" else open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    sys.argv = ["subflow", *shlex.split(line)]
    signal.alarm(PATIENCE_S)
    if line.startswith("window"):
        close_after_a_run()
    try:
        code = subflow()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        assert stream is not None  # provided by the program
        stream.flush()
    return code


def main(file: str) -> None:
    """Runs the commands in the file."""
    answers = []
    # The tree of commands is built once, and the copies share it.
    typer.main.get_command = functools.cache(typer.main.get_command)
    typer.main.get_command(app)
    gc.collect()
    gc.freeze()
    with subprocess.Popen(
        [sys.executable, "-c", TRAINING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as training:
        assert training.stdout is not None
        assert training.stdout.readline() == ".\n"
        for number, (line, out, err) in enumerate(json.loads(Path(file).read_text(encoding="utf-8"))):
            places = [
                f"{number}.{name}" if target == "file" else target for name, target in (("out", out), ("err", err))
            ]
            child = os.fork()
            if child == 0:
                code = 255
                try:
                    code = be_command(line, *places)
                finally:
                    os._exit(code)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            read = [Path(place).read_text(encoding="utf-8") if place[0].isdigit() else "" for place in places]
            answers.append((code, *read))
        training.communicate("\n")
    Path(file).write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
