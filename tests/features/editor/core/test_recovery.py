"""Recovery files: written at once, removed without unsaved changes, offered only if they differ."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from pathlib import Path

import pytest
from tests.helpers.members import for_each

from subflow_app.features.editor.core.recovery import RecoveryFile, UnsavedText, find_orphans
from subflow_store.liveness import this_process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "recovery"


def refuse(reason: str) -> None:
    raise AssertionError(reason)


def unsaved(path: Path | None, text: str = "after", base: str = "before") -> UnsavedText:
    return UnsavedText("two-paths", path, text, base)


def leave_behind(folder: Path, left: UnsavedText) -> Path:
    """The recovery file of a process that no longer runs."""
    kept = RecoveryFile(refuse, folder)
    kept.keep(left)
    kept.close(keeps_file=True)
    entries = json.loads(kept.file.read_text())
    # No process has this start time.
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


@for_each("is_closed", [True, False], ids=["closed", "nothing is unsaved any more"])
def test_file_goes_when_there_is_nothing_to_lose(tmp_path: Path, is_closed: bool) -> None:
    kept = RecoveryFile(refuse, tmp_path)
    kept.keep(unsaved(None))
    kept.settle()
    assert kept.file.exists()
    assert find_orphans(tmp_path) == (), "its process lives"

    if not is_closed:
        kept.drop()
        kept.settle()
        assert list(tmp_path.iterdir()) == []
    kept.close()

    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_without_a_change(folder: Path) -> None:
    kept = RecoveryFile(refuse, folder)
    kept.drop()
    kept.close()

    assert not folder.exists()
    assert find_orphans(folder) == ()


@for_each(
    ("name", "content", "is_outdated", "difference"),
    [
        ("mine.toml", "before", False, "-before\n+after"),
        ("mine.toml", "changed by an editor", True, "-changed by an editor"),
        ("gone.toml", None, False, "-before\n+after"),
        (None, None, False, "+after"),
    ],
    ids=["as it was", "changed since", "gone", "never saved"],
)
def test_what_was_left_is_found(
    tmp_path: Path, name: str | None, content: str | None, is_outdated: bool, difference: str
) -> None:
    path = tmp_path / name if name else None
    if path is not None and content is not None:
        path.write_text(content)
    file = leave_behind(tmp_path / "recovery", unsaved(path))

    (orphan,) = find_orphans(tmp_path / "recovery")

    assert (orphan.file, orphan.unsaved, orphan.is_outdated) == (file, unsaved(path), is_outdated)
    assert difference in orphan.differences()


def test_nothing_is_offered_where_nothing_differs(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "two-paths.toml"
    path.write_bytes(b"\xef\xbb\xbfafter")  # a byte-order mark is not a difference
    file = leave_behind(folder, unsaved(path))

    assert find_orphans(folder) == ()
    assert not file.exists()


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
    orphans[0].discard()  # another window may have discarded it first

    assert [orphan.unsaved.text for orphan in find_orphans(folder)] == ["older"]


@for_each("content", ["", "[]", "{}", '{"process": 3}', "\x00\x01"])
def test_damaged_file_is_passed_over(tmp_path: Path, content: str) -> None:
    (tmp_path / "1-2.json").write_text(content)
    assert find_orphans(tmp_path) == ()


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
