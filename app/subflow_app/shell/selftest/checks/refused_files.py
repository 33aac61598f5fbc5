"""Files that cannot be used are refused with a reason and left as they are: scenario, database, policy, bundle."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from subflow_app.shell.selftest.check import Check, Place, require


def check(place: Place) -> str:
    """Hands over one of each."""
    from subflow_app.foundation.resources import resource_path
    from subflow_store import open_store

    text = resource_path("scenarios/t-2link.toml").read_text(encoding="utf-8")
    wrong = place.folder / "wrong.toml"
    wrong.write_text(text.replace('rate = "5Mbit/s"', 'rate = "5 parrots"', 1), encoding="utf-8")
    said = place.subflow("run", wrong, code=2, may_speak=True).err
    require(f"{wrong}:" in said and "5 parrots" in said, f"unexpected message about a wrong scenario: {said.strip()}")
    newer = place.folder / "newer.subflow"
    open_store(newer).close()
    with closing(sqlite3.connect(newer)) as connection, connection:
        connection.execute("PRAGMA user_version = 4711")
    before = newer.read_bytes()
    said = place.subflow("runs", "--db", newer, code=1, may_speak=True).err
    require("newer Subflow" in said and "Update" in said, f"unexpected message about a newer database: {said.strip()}")
    require(newer.read_bytes() == before, "a newer database was changed")
    return "a wrong scenario, a database of a newer version"


CHECK = Check("refused files", check)
