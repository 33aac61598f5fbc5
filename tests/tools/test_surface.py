"""The surface of the program: formats of its output, names in a window, and the comparison of two collections."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot
from tests.helpers.every_command import COMMANDS
from tests.helpers.members import for_each
from tools.surface import __main__ as surface
from tools.surface import commands, shapes, window


def test_keys_of_a_document_are_paths() -> None:
    assert shapes.keys_of({"flows": [{"name": "a"}, {"rate": {"seed 12": 1}}], "x": None}) == [
        *("flows", "flows[].name", "flows[].rate", "flows[].rate.seed #", "x"),
    ]
    assert shapes.shape_of_output('{"a": 1}\n{"b": 2}\n') == {"keys": ["[].a", "[].b"]}
    assert shapes.shape_of_output("Ranks: 3\n") == shapes.shape_of_output("") == {}
    assert shapes.header_of("# a remark\nrun,time_s\n1,2\n") == ["run", "time_s"]
    assert shapes.header_of("") == []


@for_each(
    ("name", "plain"),
    [
        ("run-2.csv", "run-#.csv"),
        ("crashes/20261129-031500.json", "crashes/#-#.json"),
        ("library/5f2a9c01be77-0012.db", "library/#-#.db"),
        ("standings.csv", "standings.csv"),
        ("deadbeef/facade.toml", "deadbeef/facade.toml"),
    ],
)
def test_a_name_is_the_same_at_any_time(name: str, plain: str) -> None:
    assert shapes.plain_name(name) == plain


def test_files_are_seen_by_what_they_hold(tmp_path: Path) -> None:
    (tmp_path / "run-1.json").write_text('{"a": 1}')
    (tmp_path / "run-2.json").write_text('{"b": 1}')
    (tmp_path / "window.ini").write_text("[General]\nSize=@Size(3 4)\n[docks]\nhistory=true\n")
    (tmp_path / "values.csv").write_text("family,value\nslow,1\n")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("traces/run-7.csv", "")
    assert shapes.files_in(tmp_path) == {
        "all.zip": {"files": ["traces/run-#.csv"]},
        "run-#.json": {"keys": ["a", "b"]},
        "values.csv": {"header": ["family", "value"]},
        "window.ini": {"keys": ["General.size", "docks.history"]},
    }
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE runs (id INTEGER)")
        connection.execute("PRAGMA user_version = 3")
    assert shapes.schema_of(tmp_path / "a.db") == {
        "application_id": 0,
        "user_version": 3,
        "master": {"table runs": "CREATE TABLE runs (id INTEGER)"},
    }


def test_every_command_is_typed_with_json_where_that_is_possible() -> None:
    assert set(commands.MORE) <= set(COMMANDS)
    options = {"run": "--json ", "replay": "--json ", "export": "--json ", "train": "--json-lines "}
    helps = {f"subflow {name} --help": options.get(name, "") for name in COMMANDS}
    lines = commands.typed(helps)
    assert "run two.toml --decisions --seed 1 --json" in lines
    assert any(line.startswith("train ") and line.endswith(" --json-lines") for line in lines)
    assert "replay 1 --at 1s --packets --json" in lines
    assert "export 2 --page" in lines  # a later line reads the page
    assert "sweeps show last --csv" in lines
    assert "runs" in lines
    assert not any(line.startswith("guide") for line in lines)  # the guide may be missing


def test_commands_answer_in_a_home_of_their_own(tmp_path: Path) -> None:
    for name in ("work", "home"):
        (tmp_path / name).mkdir()
    printed = commands.outputs(["schedulers --json", "runs --json"], tmp_path / "work", tmp_path / "home")
    assert printed["runs --json"] == {"code": 0, "keys": []}
    assert "[].name" in printed["schedulers --json"]["keys"]
    assert (tmp_path / "home" / "data" / "subflow" / "subflow.db").exists()


def test_names_have_the_class_of_qt(qtbot: QtBot) -> None:
    class Own(QPushButton):
        pass

    parent = QWidget()
    qtbot.addWidget(parent)
    Own(parent).setObjectName("start")
    action = QAction("&Run", parent)
    action.setShortcut("Ctrl+R")
    action.setObjectName("run.toggle")
    assert window.object_names(parent) == ["run.toggle (QAction)", "start (QPushButton)"]
    assert window.actions(parent) == {"run.toggle": {"text": "&Run", "keys": ["Ctrl+R"], "is_checkable": False}}


def test_signatures_are_read() -> None:
    lines = [
        "0123456789abcdef  storm: lia, minrtt",
        "none any more     gone  was 00",
        "signatures.json: 1 signatures, 0 other",
    ]
    assert surface.golden("\n".join(lines)) == {"storm: lia, minrtt": "0123456789abcdef", "gone": "none any more"}


def test_all_that_came_went_or_changed_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {"help": {"run": "Run.\nFast.\n"}, "names": ["a", "b"], "schema": {"any": [1, {"x": 2}]}}
    after = {"help": {"run": "Run.\nSlow.\n", "sweep": ""}, "names": ["b", "c"], "schema": {"any": [1, {"x": 3}]}}
    files = [tmp_path / name for name in ("before.json", "after.json")]
    for file, document in zip(files, (before, after), strict=True):
        file.write_text(json.dumps(document))
    words = [str(file) for file in files]

    assert surface.main(["--compare", *words]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == ["went: names / a", "came: help / sweep", "came: names / c", "changed: help / run"]
    assert lines[4:6] == ["    -Fast.", "    +Slow."]
    assert "changed: schema / any" in lines
    assert surface.main(["--compare", words[0], words[0]]) == 0
    assert "nothing" in capsys.readouterr().out
