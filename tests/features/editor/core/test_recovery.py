"""Recovery files: written at once, gone when there is nothing to lose, offered only when they differ."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from pathlib import Path

import pytest

from subflow_app.features.editor.core.recovery import Orphan, RecoveryFile, UnsavedText, find_orphans
from subflow_store.liveness import this_process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "recovery"


def refuse(reason: str) -> None:
    raise AssertionError(reason)


def unsaved(path: Path | None, text: str = "after", base: str = "before") -> UnsavedText:
    return UnsavedText("two-paths", path, text, base)


def leave_behind(folder: Path, left: UnsavedText) -> Path:
    """The recovery file of a process that has died."""
    kept = RecoveryFile(refuse, folder)
    kept.keep(left)
    kept.close(keeps_file=True)
    entries = json.loads(kept.file.read_text())
    # No process has ever had this start time.
    entries["process"] = dataclasses.asdict(dataclasses.replace(this_process(), started="1"))
    kept.file.write_text(json.dumps(entries))
    return kept.file


def test_latest_text_is_on_the_disk(folder: Path) -> None:
    kept = RecoveryFile(refuse, folder)
    for number in range(50):
        kept.keep(unsaved(None, text=f"edit {number}"))
    kept.settle()

    assert json.loads(kept.file.read_text())["text"] == "edit 49"
    kept.close()


def test_file_goes_when_there_is_nothing_to_lose(folder: Path) -> None:
    kept = RecoveryFile(refuse, folder)
    kept.keep(unsaved(None))
    kept.settle()
    assert kept.file.exists()

    kept.drop()
    kept.settle()

    assert list(folder.iterdir()) == []
    kept.close()


def test_closing_removes_the_file(folder: Path) -> None:
    kept = RecoveryFile(refuse, folder)
    kept.keep(unsaved(None))
    kept.settle()

    kept.close()

    assert list(folder.iterdir()) == []


def test_nothing_is_written_without_a_change(folder: Path) -> None:
    kept = RecoveryFile(refuse, folder)
    kept.drop()
    kept.close()

    assert not folder.exists()


def test_what_a_dead_process_left_is_found(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "two-paths.toml"
    path.write_text("before")
    file = leave_behind(folder, unsaved(path))

    (orphan,) = find_orphans(folder)

    assert orphan.file == file
    assert orphan.unsaved == unsaved(path)
    assert not orphan.is_outdated
    assert "-before\n+after" in orphan.differences()


def test_scenario_without_a_file_is_found(folder: Path) -> None:
    leave_behind(folder, unsaved(None))

    (orphan,) = find_orphans(folder)

    assert orphan.unsaved.path is None
    assert "+after" in orphan.differences()


def test_living_process_is_left_alone(folder: Path) -> None:
    kept = RecoveryFile(refuse, folder)
    kept.keep(unsaved(None))
    kept.settle()

    assert find_orphans(folder) == ()
    assert kept.file.exists()
    kept.close()


def test_nothing_is_offered_where_nothing_differs(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "two-paths.toml"
    path.write_bytes(b"\xef\xbb\xbfafter")  # a byte-order mark is not a difference
    file = leave_behind(folder, unsaved(path))

    assert find_orphans(folder) == ()
    assert not file.exists()


def test_file_that_somebody_changed_since_is_said(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "two-paths.toml"
    path.write_text("changed by an editor")
    leave_behind(folder, unsaved(path))

    (orphan,) = find_orphans(folder)

    assert orphan.is_outdated
    assert "-changed by an editor" in orphan.differences()


def test_file_that_is_gone_can_be_recovered(folder: Path, tmp_path: Path) -> None:
    leave_behind(folder, unsaved(tmp_path / "gone.toml"))

    (orphan,) = find_orphans(folder)

    assert not orphan.is_outdated
    assert "-before\n+after" in orphan.differences()


def test_bytes_that_are_no_text_come_back(folder: Path) -> None:
    text = b"# caf\xe9\n".decode("utf-8", "surrogateescape")
    leave_behind(folder, unsaved(None, text=text))

    (orphan,) = find_orphans(folder)

    assert orphan.unsaved.text == text


def test_latest_comes_first_and_discarding_is_for_good(folder: Path) -> None:
    for age_s, name in ((100, "older"), (10, "newer")):
        file = leave_behind(folder, unsaved(None, text=name))
        os.utime(file, (time.time() - age_s,) * 2)
    orphans = find_orphans(folder)
    assert [orphan.unsaved.text for orphan in orphans] == ["newer", "older"]

    orphans[0].discard()
    orphans[0].discard()  # another window may have been faster

    assert [orphan.unsaved.text for orphan in find_orphans(folder)] == ["older"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"process": 3}', "\x00\x01"])
def test_damaged_file_is_passed_over(folder: Path, content: str) -> None:
    folder.mkdir()
    (folder / "1-2.json").write_text(content)

    assert find_orphans(folder) == ()


def test_writing_that_was_cut_off_is_cleared_away(folder: Path) -> None:
    folder.mkdir()
    fresh, old = folder / ".1.json.1.a.part", folder / ".2.json.2.b.part"
    for part in (fresh, old):
        part.touch()
    os.utime(old, (time.time() - 7200,) * 2)

    assert find_orphans(folder) == ()
    assert list(folder.iterdir()) == [fresh]


def test_failure_to_write_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "recovery").write_text("a file where the folder should be")
    told: list[str] = []
    kept = RecoveryFile(told.append, tmp_path / "recovery")

    for text in ("first", "second"):
        kept.keep(unsaved(None, text=text))
        kept.settle()
    kept.close()

    assert len(told) == 1
    assert str(tmp_path / "recovery") in told[0]


def test_orphans_of_nobody_are_none(folder: Path) -> None:
    nothing: tuple[Orphan, ...] = find_orphans(folder)
    assert nothing == ()
