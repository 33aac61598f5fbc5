"""The version that the program states."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from subflow_app import distribution

ROOT = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def test_the_version_is_that_of_the_build() -> None:
    assert distribution.application_version() == metadata.version(distribution.DISTRIBUTION) == VERSION


def test_an_installed_program_reads_the_version_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distribution, "__file__", str(tmp_path / "subflow_app/distribution.pyc"))
    (tmp_path / "subflow_workbench-1.2.3rc1.dist-info").mkdir()
    (tmp_path / "subflow_simulator-9.0.dist-info").mkdir()
    assert distribution.application_version() == "1.2.3rc1"

    # The folder of another version, which an interrupted upgrade has left behind.
    (tmp_path / "subflow_workbench-1.0.dist-info").mkdir()
    assert distribution.application_version() == VERSION
