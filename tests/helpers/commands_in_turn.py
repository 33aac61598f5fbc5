"""Runs commands of Subflow in sequence in one process: `python -m tests.helpers.commands_in_turn FILE`.

The file is a JSON list of the arguments after `subflow`, each with the expected exit code, or null for any. Training 1,
which learns nothing, runs until a line stops it. Before each command, the process connects to a local address named
after the command, at which no server listens: a trace of the process then shows the current command. An opened window
runs its scenario, and closes after the run.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import socket
import sys
from pathlib import Path

from tests.helpers.command_line import call_subflow
from tests.helpers.fake_agent import TRAINER

KNOCK = "subflow: "
PATIENCE_S = 60.0


def knock(line: str) -> None:
    """Connects to a local address without a server."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as caller, contextlib.suppress(ConnectionRefusedError):
        caller.connect(f"\0{KNOCK}{line}"[:100])


def start_training() -> None:
    """Starts training 1, in the database of the user."""
    from subflow_agents import TrainingConfig
    from subflow_app.features.training.core.training import TrainingJob
    from subflow_app.features.training.core.training_record import list_training
    from subflow_app.foundation.paths import default_database
    from subflow_store import open_store

    folder = Path("training").absolute()
    config = TrainingConfig(agent="fake", scenario="format = 1", scenario_name="x", steps=10**6, folder=str(folder))
    job = TrainingJob(config, trainer=TRAINER)
    with open_store(default_database()) as store:
        list_training(store, config)
    job.start()
    assert job.wait(PATIENCE_S, until=lambda: bool(job.metrics))


def close_after_a_run() -> None:
    """Lets each window run its scenario and close."""
    from subflow_app.shell.main_window import MainWindow

    load = MainWindow.load

    def load_and_run(window: MainWindow) -> None:
        load(window)
        window.runs.ended.connect(lambda *_: window.close())
        window.bar.trigger("run.toggle")

    MainWindow.load = load_and_run  # type: ignore[method-assign, assignment]


def main(file: str) -> int:
    """Runs the commands in the file; prints unexpected exit codes and returns 1 if any occurred."""
    start_training()
    wrong = 0
    for line, expected in json.loads(Path(file).read_text(encoding="utf-8")):
        knock(line)
        words = shlex.split(line)
        if words[0] == "window":
            close_after_a_run()
        answer = call_subflow(*words)
        if expected is not None and answer.code != expected:
            sys.stderr.write(f"subflow {line}\nended with {answer.code}, not {expected}:\n{answer.out}{answer.err}")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
