"""A disk that fills up during a run: the run is saved elsewhere, and what was on the disk stays whole."""

from __future__ import annotations

from pathlib import Path

from subflow_app.selftest.check import Check, Place, last_lines, require
from subflow_app.selftest.obstacles import mount_small_disk
from subflow_app.selftest.short_run import keep_short_run

_DISK_BYTES = 3_000_000
# Enough to open the database, too little for a whole run.
_LEFT_BYTES = 200_000


def check(place: Place) -> str:
    """Fills a small disk."""
    disk = place.folder / "disk"
    disk.mkdir()
    mount_small_disk(disk, _DISK_BYTES)
    database = disk / "subflow" / "subflow.db"
    database.parent.mkdir()
    before = keep_short_run(database)
    filler = disk / "filler"
    _fill(filler)
    said = place.subflow("run", "demo", code=1, may_speak=True, environment={"XDG_DATA_HOME": str(disk)}).err
    require("no space left" in said, f"it is not said that the disk is full: {last_lines(said)}")
    rescued = list(place.folder.glob("subflow-rescued/*/subflows.csv"))
    require(rescued and rescued[0].stat().st_size > 0, f"the run is lost: {last_lines(said)}")
    require(str(rescued[0].parent) in said, f"it is not said where the run is: {last_lines(said)}")
    filler.unlink()
    after = keep_short_run(database)
    kept = _finished(database)
    require({before, after} <= kept, f"run {before} from before or run {after} from afterwards is not in the database")
    return "the run was saved in another folder, the database is whole"


def _finished(database: Path) -> set[int]:
    """Numbers of the runs that are whole."""
    from subflow_store import open_store

    with open_store(database, read_only=True) as store:
        return {run.id for run in store.runs() if run.status == "finished"}


def _fill(filler: Path) -> None:
    """Leaves some room on the disk."""
    written = 0
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                written += file.write(bytes(4096))
        except OSError:
            file.truncate(written - _LEFT_BYTES)


CHECK = Check("low disk", check)
