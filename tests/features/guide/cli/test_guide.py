from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from subflow_app.features.guide import core as guide
from subflow_app.shell.commands import app


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "algorithms").mkdir()
    for page in ("index", "algorithms/lia", "command-line"):
        (tmp_path / f"{page}.html").write_text("a page")
    monkeypatch.setattr(guide, "guide_folder", lambda: tmp_path)
    return tmp_path


def test_it_prints_the_address_of_a_page(folder: Path) -> None:
    said = CliRunner().invoke(app, ["guide", "lia"])
    assert said.exit_code == 0
    assert said.stdout.strip() == (folder / "algorithms/lia.html").as_uri()


def test_json_has_file_and_anchor(folder: Path) -> None:
    told = json.loads(CliRunner().invoke(app, ["guide", "command/run", "--json"]).stdout)
    assert told["path"] == str(folder / "command-line.html")
    assert told["anchor"] == "command-run"


def test_what_it_does_not_have_is_bad_input(folder: Path) -> None:
    said = CliRunner().invoke(app, ["guide", "renno"])
    assert said.exit_code == 2
    assert 'no page on "renno"' in said.stderr
