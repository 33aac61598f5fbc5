"""Matplotlib keeps its files in our cache folder, and logs no irrelevant messages."""

from __future__ import annotations

import logging
import os
import sys

import pytest

from subflow_app.features.paper.core.matplotlib_home import prepare_matplotlib
from subflow_app.foundation.paths import font_cache


def test_its_files_are_with_ours_unless_the_user_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLCONFIGDIR", "/his/own")
    prepare_matplotlib()
    assert os.environ["MPLCONFIGDIR"] == "/his/own"

    monkeypatch.delenv("MPLCONFIGDIR")
    prepare_matplotlib()
    assert os.environ["MPLCONFIGDIR"] == str(font_cache())
    # A frozen program sets a temporary folder at its start, where Matplotlib would scan all fonts each time.
    monkeypatch.setenv("MPLCONFIGDIR", "/made by the start")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    prepare_matplotlib()
    assert os.environ["MPLCONFIGDIR"] == str(font_cache())


def test_what_helps_nobody_is_not_said(caplog: pytest.LogCaptureFixture) -> None:
    prepare_matplotlib()

    logging.getLogger("matplotlib").warning("mkdir -p failed for path %s: %s", "/home", "Permission denied")
    logging.getLogger("matplotlib.font_manager").warning("findfont: Font family 'Times' not found.")

    assert [record.getMessage() for record in caplog.records] == ["findfont: Font family 'Times' not found."]
