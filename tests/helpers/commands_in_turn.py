"""Carries out commands of Subflow in turn, in one process: `python -m tests.helpers.commands_in_turn FILE`.

The file is a list in JSON of what is typed after `subflow`, each with the exit code that is expected, or null for any.
Training 1, which learns nothing, runs until a line stops it. Before each command a local address is
called that is named after it, where nobody listens, so that whoever traces this process sees which command it is at.
A window that is opened runs its scenario, and closes when the run is over.
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
    """Calls a local address at which nobody is."""
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
    """Has each window run its scenario and close."""
    from subflow_app.shell.main_window import MainWindow

    load = MainWindow.load

    def load_and_run(window: MainWindow) -> None:
        load(window)
        window.runs.ended.connect(lambda *_: window.close())
        window.bar.trigger("run.toggle")

    MainWindow.load = load_and_run  # type: ignore[method-assign, assignment]


def main(file: str) -> int:
    """Carries out what the file says; 1 if something ended otherwise than expected, which is told."""
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
