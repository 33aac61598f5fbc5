"""Crash reports: their content, omitted private data, and their number."""

from __future__ import annotations

import getpass
import logging
from pathlib import Path

import pytest
from tests.helpers.present import present
from tests.helpers.raising import raising

from subflow_app.foundation import crash_reports as module
from subflow_app.foundation.crash_reports import (
    REPORTS_KEPT,
    crash_reports,
    remove_report,
    report_error,
    with_scenario,
    without_private,
    write_report,
)
from subflow_app.foundation.paths import crash_directory
from subflow_app.foundation.session_log import SESSION_LOG


@pytest.fixture(autouse=True)
def _nothing_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_told", set())


def bug(text: str = "ours") -> Exception:
    try:
        raise ZeroDivisionError(text)
    except ZeroDivisionError as error:
        return error


def test_a_report_says_what_happened_where_on_what_system() -> None:
    record = logging.LogRecord("subflow.test", logging.WARNING, "", 0, "just before", None, None)
    SESSION_LOG.emit(record)

    report = report_error(bug(), "subflow run")

    assert report is not None
    assert report.title == "ZeroDivisionError: ours"
    text = report.text()
    for part in ("Where:    subflow run", "Subflow:  ", "Python:   ", "System:   ", "raise ZeroDivisionError(text)"):
        assert part in text
    assert "WARNING subflow.test: just before" in text
    assert "Subflow sends nothing" in text
    assert report.file.stat().st_mode & 0o077 == 0


def test_the_same_bug_is_reported_once() -> None:
    assert report_error(bug("one"), "the window") is not None
    assert report_error(bug("two"), "the window") is None
    assert len(crash_reports()) == 1


def test_the_oldest_reports_make_room() -> None:
    for number in range(REPORTS_KEPT + 3):
        write_report(f"bug {number}", "the window", "", (), happened_at_s=1e9 + number)

    titles = [report.title for report in crash_reports()]

    assert titles == [f"bug {number}" for number in reversed(range(3, REPORTS_KEPT + 3))]
    remove_report(crash_reports()[0])
    remove_report(module.CrashReport(Path("gone"), 0.0, ""))
    assert len(crash_reports()) == REPORTS_KEPT - 1


def test_home_and_name_are_not_in_a_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "Zoë Müller"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(getpass, "getuser", lambda: "zoe")

    text = without_private(f"{home}/lab/x.toml {home} /media/zoe/USB /media/zoew/USB zoe {home}2/x")

    assert text == f"~/lab/x.toml ~ /media/USER/USB /media/zoew/USB zoe {home}2/x"


def test_nobody_named_is_no_hindrance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", raising(KeyError("uid 4711")))

    assert without_private("/srv/x") == "/srv/x"


def test_what_was_typed_is_not_in_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["subflow", "run", "diary.toml"])

    report = report_error(bug(), "subflow run")

    assert "diary" not in present(report).text()


def test_a_scenario_comes_in_by_hand_alone() -> None:
    report = write_report("bug", "the window", "", ())

    text = with_scenario(present(report).text(), 'name = "mine"')

    assert "mine" not in present(report).text()
    assert text.endswith('Scenario, added by hand:\nname = "mine"')


def test_where_nothing_can_be_written_there_is_no_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))

    assert report_error(bug(), "the window") is None
    assert str(crash_directory()) in caplog.text
    assert crash_reports() == ()
