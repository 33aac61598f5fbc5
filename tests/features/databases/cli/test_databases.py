"""Database files on the command line: checked, salvaged, upgraded; every command recommends the one that helps."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard
from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each

VERSIONS = Path(__file__).parents[3] / "store" / "versions"


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A database of version 2."""
    path = tmp_path / "old.db"
    path.write_bytes(zstandard.ZstdDecompressor().decompress((VERSIONS / "v2.db.zst").read_bytes()))
    return path


def test_the_list_has_what_is_sound_and_says_what_it_lacks(subflow: Subflow, damaged: Path) -> None:
    answer = subflow("runs", "--db", damaged, "--json")
    assert [run["run_id"] for run in answer.document] == [3, 1]
    assert answer.code == 1
    assert "run 2: run: " in answer.err
    assert f"`subflow salvage {damaged} -o NEW`" in answer.err
    assert subflow("show", "1", "--db", damaged).code == 0
    shown = subflow("show", "2", "--db", damaged)
    assert shown.code == 1
    assert f"`subflow check {damaged}`" in shown.err


def test_a_damaged_database_is_checked_and_salvaged(subflow: Subflow, damaged: Path, tmp_path: Path) -> None:
    checked = subflow("check", damaged, "--json")
    assert checked.code == 1
    assert checked.document["is_sound"] is False
    assert {(each["table"], each["kind"], each["number"]) for each in checked.document["damage"]} >= {("run", "run", 2)}
    assert "run 2" in subflow("check", damaged).out
    new = tmp_path / "new.db"
    salvaged = subflow("salvage", damaged, "-o", new)
    assert salvaged.code == 0
    assert f"wrote {new}: 3 runs" in salvaged.out
    assert "run 2" in salvaged.out
    assert [run["name"] for run in subflow("runs", "--db", new, "--json").document] == ["Third", "Second", "First"]
    sound = subflow("check", new, "--json")
    assert (sound.code, sound.document["is_sound"], sound.document["runs"]) == (0, True, [1, 2, 3])
    again = subflow("salvage", damaged, "-o", new)
    assert again.code == 1
    assert "exists already" in again.err


@for_each("command", [("check",), ("upgrade",), ("salvage", "-o", "new.db")])
def test_a_file_that_is_missing_or_empty_is_refused(subflow: Subflow, tmp_path: Path, command: tuple[str, ...]) -> None:
    name, *options = command
    (tmp_path / "empty.db").touch()
    for file, reason in (("none.db", "no such file"), ("empty.db", "the file is empty")):
        answer = subflow(name, tmp_path / file, *options)
        assert (answer.code, reason in answer.err) == (2, True), answer.err
    assert [entry.name for entry in tmp_path.glob("*.db")] == ["empty.db"]


@for_each("command", [("runs",), ("show", "1"), ("export", "1"), ("sweeps",), ("explain", "1", "x", "--at", "1s")])
def test_every_command_names_the_one_that_upgrades(subflow: Subflow, older: Path, command: tuple[str, ...]) -> None:
    answer = subflow(*command, "--db", older)
    assert answer.code == 1
    assert f"`subflow upgrade {older}` does it" in answer.err


def test_older_databases_are_upgraded_and_kept_as_they_were(subflow: Subflow, older: Path, tmp_path: Path) -> None:
    before = older.read_bytes()
    answer = subflow("upgrade", older, "--json")
    (told,) = answer.document
    assert (told["version_before"], told["kept_as"]) == (2, str(tmp_path / "old.v2.db"))
    assert len(subflow("runs", "--db", older, "--json").document) == 2
    assert len(before) <= (tmp_path / "old.v2.db").stat().st_size
    assert "already of this version" in subflow("upgrade", older).out
    assert sorted(entry.name for entry in tmp_path.glob("*.db")) == ["old.db", "old.v2.db"]
