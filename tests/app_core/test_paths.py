"""Places of files: in the user's folders, and always one for a run that needs rescue."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from subflow_app.core import paths
from subflow_app.core.errors import ExportError


def test_files_are_in_the_users_folders() -> None:
    assert paths.default_database() == Path(os.environ["XDG_DATA_HOME"], "subflow", "subflow.db")
    assert paths.settings_path().parent == Path(os.environ["XDG_CONFIG_HOME"], "subflow")


def test_rescue_directories_are_new_each_time_and_named_after_the_run() -> None:
    first, second = paths.new_rescue_directory("Two paths: 1/2"), paths.new_rescue_directory("Two paths: 1/2")

    assert first.is_dir()
    assert second.is_dir()
    assert first != second
    assert first.name.startswith("two-paths-1-2-")


def test_rescue_falls_back_to_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "a-file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(blocked))
    monkeypatch.chdir(tmp_path)

    assert paths.new_rescue_directory("x").is_relative_to(tmp_path / "subflow-rescued")


def test_rescue_without_any_place_says_what_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "a-file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(blocked))
    monkeypatch.setattr(Path, "cwd", lambda: blocked)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(blocked))

    with pytest.raises(ExportError, match="a-file"):
        paths.new_rescue_directory("x")
