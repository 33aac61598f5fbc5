"""Folders and files with spaces, letters of other alphabets and signs, in a terminal that knows ASCII alone."""

from __future__ import annotations

from subflow_app.shell.selftest.check import Check, Place, require

_FOLDER, _SCENARIO, _DATABASE = "Büro & 世界 100 %", "Mein Übungs-Netz.subflow.toml", "Läufe 1.subflow"


def check(place: Place) -> str:
    """Runs a scenario there and exports it; the window is opened on such a file by another check."""
    from subflow_app.foundation.resources import resource_path

    folder = place.folder / _FOLDER
    folder.mkdir()
    (folder / _SCENARIO).write_bytes(resource_path("scenarios/t-2link.toml").read_bytes())
    own = {"XDG_DATA_HOME": str(folder / "Daten"), "LC_ALL": "C", "LANG": "C"}
    run = place.subflow("run", _SCENARIO, "--db", _DATABASE, "--json", folder=folder, environment=own).document
    words = ("export", run["run_id"], "--db", folder / _DATABASE, "--format", "csv", "--out", "Ausgabe für mich")
    written = place.subflow(*words, "--json", folder=folder, environment=own).document
    require(all((folder / path).is_file() for path in written["files"]), f"not written: {', '.join(written['files'])}")
    return f"{_FOLDER}/{_SCENARIO}: run {run['signature']}, {len(written['files'])} files exported"


CHECK = Check("strange paths", check)
