"""Databases and scenarios are distinguished by name and by content."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.helpers.members import for_each

from subflow_app.foundation.file_kinds import is_database_file


@for_each(
    ("name", "is_database"),
    [
        ("Übung 1.subflow", True),
        ("RUNS.DB", True),
        ("My lab.subflow.toml", False),
        ("lab.toml", False),
        ("subflow", False),
        (".", False),
    ],
)
def test_the_name_tells_what_a_file_is(tmp_path: Path, name: str, is_database: bool) -> None:
    assert is_database_file(tmp_path / name) is is_database


def test_a_database_under_any_name_is_one(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "saved by mail.bin") as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    (tmp_path / "short").write_bytes(b"SQLite")

    assert is_database_file(tmp_path / "saved by mail.bin")
    assert not is_database_file(tmp_path / "short")
