"""Folders and files with spaces, letters of other alphabets and signs, in a terminal that knows ASCII alone, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.selftest.check import Check, Place, require

if TYPE_CHECKING:
    from subflow_app.qt.main_window import MainWindow
    from subflow_app.selftest.window_story import Until

_FOLDER, _SCENARIO, _DATABASE = "Büro & 世界 100 %", "Mein Übungs-Netz.subflow.toml", "Läufe 1.subflow"


def check(place: Place) -> str:
    """Runs a scenario there from a terminal and opens it in the window."""
    from subflow_app.core.resources import resource_path
    from subflow_app.selftest.window_story import play

    folder = place.folder / _FOLDER
    folder.mkdir()
    scenario = folder / _SCENARIO
    scenario.write_bytes(resource_path("scenarios/t-2link.toml").read_bytes())
    own = {"XDG_DATA_HOME": str(folder / "Daten"), "LC_ALL": "C", "LANG": "C"}
    run = place.subflow("run", _SCENARIO, "--db", _DATABASE, "--json", folder=folder, environment=own).document
    written = place.subflow(
        *("export", 1, "--db", folder / _DATABASE, "--format", "csv", "--out", "Ausgabe für mich", "--json"),
        folder=folder,
        environment=own,
    ).document
    require(all((folder / path).is_file() for path in written["files"]), f"not written: {', '.join(written['files'])}")
    titles: list[str] = []

    def story(window: MainWindow) -> Iterator[Until]:
        titles.append(window.windowTitle())
        yield from ()

    play(story, file=scenario)
    require(_SCENARIO.partition(".")[0] in titles[0] or "T-2link" in titles[0], f"the window is titled {titles[0]}")
    return f"run {run['signature']}, export, window"


CHECK = Check("strange paths", check)
