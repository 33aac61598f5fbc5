"""The commands ``subflow runs`` and ``show``: finding runs and managing them like the window."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each

from subflow_app.features.history import cli as history
from subflow_app.terminal import failures
from subflow_store import RunStart, open_store


@pytest.fixture
def three_runs(subflow: Subflow, scenario: Path, database: Path) -> Path:
    """Runs 1 to 3, named a, b and c."""
    for name in "abc":
        subflow("run", scenario, "--db", database, "--name", name, "--set", "duration=3s")
    return database


def names(subflow: Subflow, database: Path, *words: object) -> list[str]:
    answer = subflow("runs", "--db", database, "--json", *words)
    assert answer.code == 0
    return [run["name"] for run in answer.document]


def test_runs_are_listed_newest_first(subflow: Subflow, three_runs: Path, tmp_path: Path) -> None:
    assert names(subflow, three_runs) == ["c", "b", "a"]
    assert names(subflow, three_runs, "--limit", 2) == ["c", "b"]
    heading, units, _, *rows = subflow("runs", "--db", three_runs).out.splitlines()
    assert ("Goodput" in heading, "Mbit/s" in units) == (True, True)
    assert [row.split()[:3] for row in rows] == [[n, name, "finished"] for n, name in zip("321", "cba", strict=True)]
    # A new machine has no runs, and the command explains how to make one; listing creates no database.
    assert ("subflow run" in subflow("runs").out, subflow("runs", "--json").document) == (True, [])
    answer = subflow("runs", "--db", tmp_path / "typo.db")
    assert (answer.code, "typo.db" in answer.err, (tmp_path / "typo.db").exists()) == (2, True, False)


def test_older_runs_left_out_are_told(subflow: Subflow, three_runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST_LISTED", 2)
    answer = subflow("runs", "--db", three_runs)
    assert (len(answer.out.splitlines()), "newest 2 runs; --limit 0" in answer.err) == (3 + 2, True)
    answer = subflow("runs", "--db", three_runs, "--limit", 0)
    assert (len(answer.out.splitlines()), answer.err) == (3 + 3, "")
    assert len(names(subflow, three_runs)) == 3


def test_a_narrow_list_keeps_seeds_and_names(
    subflow: Subflow, three_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Seed" in subflow("runs", "--db", three_runs).out.splitlines()[0].split()
    monkeypatch.setattr("subflow_app.features.history.cli.output_width", lambda: 80)
    heading, *rows = subflow("runs", "--db", three_runs).out.splitlines()
    assert {"Seed", "Goodput", "Started"} < set(heading.split())
    assert not {"Status", "Simulated"} & set(heading.split())
    assert max(map(len, rows)) <= 80
    with open_store(three_runs) as store:
        store.start_run(RunStart("d", "", "", 4, 1.0), []).finish("failed", {})
    assert "Status" in subflow("runs", "--db", three_runs).out.splitlines()[0]


@for_each(
    ("query", "expected"),
    [
        (["--tag", "lab"], ["b"]),
        (["--search", "cable"], ["c"]),
        (["--status", "stopped"], []),
        (["--status", "finished"], ["c", "b", "a"]),
        (["tag:lab"], ["b"]),
        (["goodput>1kbit/s -tag:lab"], ["c", "a"]),
        ([" -tag:lab"], ["c", "a"]),
        (["lia", "tag:lab"], ["b"]),
        (["links.wifi.loss>0"], ["c", "b", "a"]),
        (["flows.download.controller=olia"], []),
        (["matching"], []),
    ],
)
def test_runs_are_found_by_a_query(subflow: Subflow, three_runs: Path, query: list[str], expected: list[str]) -> None:
    subflow("runs", "tag", 2, "lab", "--db", three_runs)
    subflow("runs", "note", 3, "with the new cable", "--db", three_runs)

    assert [run["name"] for run in subflow("runs", *query, "--db", three_runs, "--json").document] == expected
    assert names(subflow, three_runs, *query) == expected


def test_run_is_renamed_tagged_and_noted(subflow: Subflow, three_runs: Path) -> None:
    for words in (["rename", 1, "first"], ["tag", 1, "x"], ["tag", 1, "y"], ["untag", 1, "x"], ["note", 1, "good"]):
        assert subflow("runs", *words, "--db", three_runs).code == 0

    shown = subflow("show", 1, "--db", three_runs, "--json").document
    assert (shown["name"], shown["tags"], shown["note"]) == ("first", ["y"], "good")
    # The database may precede the command.
    assert subflow("runs", "--db", three_runs, "rename", 2, "second").code == 0
    assert names(subflow, three_runs) == ["c", "second", "first"]


def test_deleted_runs_come_back_until_they_are_purged(subflow: Subflow, three_runs: Path) -> None:
    subflow("runs", "delete", 1, 3, "--db", three_runs)
    assert names(subflow, three_runs) == ["b"]
    assert names(subflow, three_runs, "--deleted") == ["c", "b", "a"]

    subflow("runs", "restore", 3, "--db", three_runs)
    assert names(subflow, three_runs) == ["c", "b"]

    subflow("runs", "purge", "--db", three_runs)
    assert names(subflow, three_runs, "--deleted") == ["c", "b"]


def test_show_prints_what_run_did(subflow: Subflow, stored_run: dict[str, Any], scenario: Path, database: Path) -> None:
    shown = subflow("show", 1, "--db", database, "--json").document

    assert {key: shown[key] for key in stored_run} == stored_run
    assert (shown["name"], shown["tags"]) == ("Two paths", [])
    # The text output contains all tables of the run, line by line.
    ran = subflow("run", scenario, "--db", database).out.splitlines()
    tables = [line for line in ran if "Goodput" in line or "wifi" in line or "cross" in line]
    assert len(tables) > 3
    assert set(tables) <= set(subflow("show", "last", "--db", database).out.splitlines())


@for_each(
    ("words", "said"),
    [
        *((["show", 9], "9"), (["export", 9], "9"), (["runs", "rename", 9, "x"], "9"), (["runs", "delete", 1, 9], "9")),
        *((["show", text], f'"{text}"') for text in ("first", "1.5", "²", "9" * 30)),
        *((["runs", "tag", 1, " "], "blank"), (["runs", "untag", 1, ""], "blank")),
        (["run", "{scenario}", "--tag", ""], "blank"),
        (["runs", "--status", "done"], "finished"),
        (["runs", "delte", 3], "delte"),
        (["runs", "lia godput>5Mbit/s"], 'unknown field "godput"; did you mean "goodput"'),
        (["runs", "lia godput>5Mbit/s"], "at character 5"),
    ],
)
def test_bad_input_changes_nothing(
    subflow: Subflow, three_runs: Path, scenario: Path, words: list[object], said: str
) -> None:
    answer = subflow(*(str(word).format(scenario=scenario) for word in words), "--db", three_runs)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert names(subflow, three_runs) == ["c", "b", "a"]


def test_a_database_of_a_newer_version_is_refused_politely(subflow: Subflow, scenario: Path, database: Path) -> None:
    open_store(database).close()
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA user_version = 9999")
    connection.close()
    before = database.read_bytes()
    for words in (("runs",), ("run", scenario)):
        answer = subflow(*words, "--db", database)
        (line,) = answer.err.splitlines()
        assert (answer.code, "newer" in line) == (failures.FAILED, True)
        assert database.read_bytes() == before
