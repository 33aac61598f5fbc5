"""Settings never prevent a start, and a crash or a bad value never loses them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.helpers.raising import raising

from subflow_app.foundation.errors import SettingsError
from subflow_app.foundation.paths import settings_path
from subflow_app.foundation.settings import RECENT_FILES_KEPT, Settings, load_settings, save_settings


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


def test_saved_settings_come_back() -> None:
    saved = (
        Settings(theme="dark", sample_interval_s=0.01, record_decisions=True, last_export_directory="/exports")
        .with_recent_file("/a.toml")
        .with_recent_lab("/lab.md")
    )

    save_settings(saved)

    assert load_settings() == saved


def test_without_a_file_the_defaults_hold() -> None:
    assert not settings_path().exists()
    assert load_settings() == Settings()


@pytest.mark.parametrize("content", [b"{ not json", b"\xff\xfe\x00", b"[1, 2]", b""])
def test_damaged_file_is_kept_aside(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture, path: Path
) -> None:
    path.write_bytes(content)

    assert load_settings(path) == Settings()

    assert (tmp_path / "settings.json.damaged").read_bytes() == content
    assert "damaged" in caplog.text


def test_one_bad_value_does_not_cost_the_others(caplog: pytest.LogCaptureFixture, path: Path) -> None:
    path.write_text(
        json.dumps({"theme": "pink", "sample_interval_s": True, "record_decisions": "yes", "recent_files": ["/a.toml"]})
    )

    assert load_settings(path) == Settings(recent_files=("/a.toml",))
    assert "'pink'" in caplog.text


def test_entries_of_a_newer_version_survive_saving(path: Path) -> None:
    path.write_text(json.dumps({"theme": "light", "from_the_future": {"x": 1}}))

    save_settings(load_settings(path), path)

    assert json.loads(path.read_text())["from_the_future"] == {"x": 1}


def test_unreadable_settings_mean_defaults(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "settings.json"
    folder.mkdir()

    assert load_settings(folder) == Settings()
    assert "cannot be read" in caplog.text


def test_failed_save_says_where_and_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    save_settings(Settings(theme="dark"), path)
    monkeypatch.setattr(os, "fsync", raising(OSError(28, "No space left on device")))
    with pytest.raises(SettingsError, match=r"settings\.json: No space left"):
        save_settings(Settings(theme="light"), path)

    assert load_settings(path).theme == "dark"
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["settings.json"]


def test_recent_files_are_unique_and_few() -> None:
    settings = Settings()
    for number in range(RECENT_FILES_KEPT + 3):
        settings = settings.with_recent_file(f"/s/{number}.toml")
    settings = settings.with_recent_file("/s/5.toml")

    assert settings.recent_files[0] == "/s/5.toml"
    assert len(settings.recent_files) == len(set(settings.recent_files)) == RECENT_FILES_KEPT
    assert "/s/5.toml" not in settings.without_recent_file("/s/5.toml").recent_files


def test_a_budget_that_no_computer_has_is_not_used(path: Path) -> None:
    for value, expected in ((512, 512), (0, 256), (1 << 30, 256), (True, 256), ("much", 256)):
        path.write_text(json.dumps({"replay_budget_mb": value}))
        assert load_settings(path).replay_budget_mb == expected


@pytest.mark.parametrize("text", ["[" * 100_000, '{"theme": ' * 100, '{"recent_files": ["\\ud800"]}', "x" * 2_000_000])
def test_settings_that_no_parser_survives_do_not_keep_the_window_from_starting(text: str, path: Path) -> None:
    path.write_text(text)
    assert load_settings(path) == Settings()


def test_settings_that_are_a_pipe_are_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    assert load_settings(path) == Settings()
