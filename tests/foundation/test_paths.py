"""Places of files: in the user's folders, and always a place for a run that must be rescued."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from subflow_app.foundation import paths


def test_files_are_in_the_users_folders() -> None:
    assert paths.default_database() == Path(os.environ["XDG_DATA_HOME"], "subflow", "subflow.db")
    assert paths.settings_path().parent == Path(os.environ["XDG_CONFIG_HOME"], "subflow")


def test_rescue_directories_are_new_each_time_and_named_after_the_run() -> None:
    first, second = (next(paths.rescue_directories("Two paths: 1/2")) for _ in range(2))

    assert first.is_dir()
    assert second.is_dir()
    assert first != second
    assert first.name.startswith("two-paths-1-2-")


def test_rescue_falls_back_to_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "a-file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(blocked))
    monkeypatch.chdir(tmp_path)

    assert next(paths.rescue_directories("x")).is_relative_to(tmp_path / "subflow-rescued")


def test_rescue_offers_one_place_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    offered = list(paths.rescue_directories("x"))

    assert [path.parent for path in offered] == list(paths.rescue_places())
    for path in offered:
        path.rmdir()


def test_rescue_without_any_place_offers_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "a-file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(blocked))
    monkeypatch.setattr(Path, "cwd", lambda: blocked)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(blocked))

    assert list(paths.rescue_directories("x")) == []


def test_a_working_directory_that_is_gone_is_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    assert paths.rescue_places() == (paths.default_database().parent / "rescued", Path(tempfile.gettempdir()))
    monkeypatch.chdir(tmp_path)
