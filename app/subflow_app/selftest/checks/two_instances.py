"""Two of the program on one database: a window in which a run goes on, and a command beside it; both runs are kept."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.selftest.check import SHORT_RUN, Check, Place, last_lines, require

if TYPE_CHECKING:
    from subflow_app.qt.main_window import MainWindow
    from subflow_app.selftest.window_story import Until


def check(place: Place) -> str:
    """Plays it."""
    from subflow_app.core.own_program import own_command
    from subflow_app.core.resources import resource_path
    from subflow_app.selftest.window_story import play

    signatures: list[str] = []

    def story(window: MainWindow) -> Iterator[Until]:
        from subflow_app.selftest.window_story import Until

        beside = subprocess.Popen(
            own_command("run", *SHORT_RUN), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        window.bar.trigger("run.speed_express")
        window.bar.trigger("run.toggle")
        yield Until("both runs to end", lambda: not window.runs.is_running and beside.poll() is not None)
        _, said = beside.communicate()
        require(beside.returncode == 0 and not said, f"the command beside the window says: {last_lines(said)}")
        window.history.reload()
        yield Until("both runs in the history", lambda: len(window.history.runs()) == 2)
        runs = window.history.runs()
        require(all(run.status == "finished" for run in runs), f"they are {' and '.join(run.status for run in runs)}")
        signatures.extend(run.signature or "" for run in runs)

    play(story, file=resource_path("scenarios/t-10d.toml"))
    require(len(set(signatures)) == 2, f"the signatures are {' and '.join(signatures)}")
    return "a window and a command, each run is in the history of the window"


CHECK = Check("two instances", check)
