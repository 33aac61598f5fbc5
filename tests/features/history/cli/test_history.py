"""``subflow runs`` and ``show``: finding runs again, and managing them as the window does."""

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


def test_runs_are_listed_newest_first(subflow: Subflow, three_runs: Path) -> None:
    assert names(subflow, three_runs) == ["c", "b", "a"]
    assert names(subflow, three_runs, "--limit", 2) == ["c", "b"]


def test_the_newest_runs_are_listed_and_that_there_are_more_is_told(
    subflow: Subflow, three_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "_LISTED", 2)
    answer = subflow("runs", "--db", three_runs)
    assert len(answer.out.splitlines()) == 3 + 2
    assert answer.err == "These are the newest 2 runs; --limit 0 lists all of them.\n"
    answer = subflow("runs", "--db", three_runs, "--limit", 0)
    assert (len(answer.out.splitlines()), answer.err) == (3 + 3, "")
    assert len(names(subflow, three_runs)) == 3


def test_list_for_people_has_one_line_per_run(subflow: Subflow, three_runs: Path) -> None:
    answer = subflow("runs", "--db", three_runs)

    assert answer.code == 0
    heading, units, _, *rows = answer.out.splitlines()
    assert "Goodput" in heading
    assert "Mbit/s" in units
    assert [row.split()[:3] for row in rows if row.strip()] == [
        ["3", "c", "finished"],
        ["2", "b", "finished"],
        ["1", "a", "finished"],
    ]


def test_a_narrow_list_keeps_seeds_and_room_for_names(
    subflow: Subflow, three_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Seed" in subflow("runs", "--db", three_runs).out.splitlines()[0].split()
    monkeypatch.setattr("subflow_app.features.history.cli.output_width", lambda: 80)
    heading, *rows = subflow("runs", "--db", three_runs).out.splitlines()
    assert {"Seed", "Goodput", "Started"} < set(heading.split())
    assert not {"Status", "Simulated"} & set(heading.split())
    assert max(map(len, rows)) <= 80
    with open_store(three_runs) as store:
        store.start_run(RunStart(name="d", scenario_name="", scenario_text="", seed=4, duration_s=1.0), []).finish(
            "failed", {}
        )
    assert "Status" in subflow("runs", "--db", three_runs).out.splitlines()[0]


def test_a_new_machine_has_no_runs_and_says_how_to_make_one(subflow: Subflow) -> None:
    assert "subflow run" in subflow("runs").out
    assert subflow("runs", "--json").document == []


def test_runs_are_found_by_tag_status_and_words(subflow: Subflow, three_runs: Path) -> None:
    subflow("runs", "tag", 2, "lab", "--db", three_runs)
    subflow("runs", "note", 3, "with the new cable", "--db", three_runs)

    assert names(subflow, three_runs, "--tag", "lab") == ["b"]
    assert names(subflow, three_runs, "--search", "cable") == ["c"]
    assert names(subflow, three_runs, "--status", "stopped") == []
    assert names(subflow, three_runs, "--status", "finished") == ["c", "b", "a"]


@for_each(
    ("query", "expected"),
    [
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

    assert [run["name"] for run in subflow("runs", *query, "--db", three_runs, "--json").document] == expected
    assert names(subflow, three_runs, *query) == expected


def test_a_query_that_cannot_be_understood_says_where_and_what_is_allowed(subflow: Subflow, three_runs: Path) -> None:
    answer = subflow("runs", "lia godput>5Mbit/s", "--db", three_runs)
    assert answer.code == 2
    assert 'unknown field "godput"; did you mean "goodput"' in answer.err
    assert "at character 5" in answer.err

    slip = subflow("runs", "delte", 3, "--db", three_runs)
    assert slip.code == 2
    assert "delte" in slip.err


def test_unknown_status_names_the_allowed_ones(subflow: Subflow, three_runs: Path) -> None:
    answer = subflow("runs", "--db", three_runs, "--status", "done")

    assert answer.code == 2
    assert "finished" in answer.err


def test_run_is_renamed_tagged_and_noted(subflow: Subflow, three_runs: Path) -> None:
    for words in (["rename", 1, "first"], ["tag", 1, "x"], ["tag", 1, "y"], ["untag", 1, "x"], ["note", 1, "good"]):
        assert subflow("runs", *words, "--db", three_runs).code == 0

    shown = subflow("show", 1, "--db", three_runs, "--json").document
    assert (shown["name"], shown["tags"], shown["note"]) == ("first", ["y"], "good")


def test_deleted_runs_come_back_until_they_are_purged(subflow: Subflow, three_runs: Path) -> None:
    subflow("runs", "delete", 1, 3, "--db", three_runs)
    assert names(subflow, three_runs) == ["b"]
    assert names(subflow, three_runs, "--deleted") == ["c", "b", "a"]

    subflow("runs", "restore", 3, "--db", three_runs)
    assert names(subflow, three_runs) == ["c", "b"]

    subflow("runs", "purge", "--db", three_runs)
    assert names(subflow, three_runs, "--deleted") == ["c", "b"]


def test_database_may_stand_before_the_sub_command(subflow: Subflow, three_runs: Path) -> None:
    assert subflow("runs", "--db", three_runs, "rename", 1, "first").code == 0

    assert names(subflow, three_runs) == ["c", "b", "first"]


def test_show_answers_with_the_document_that_run_printed(
    subflow: Subflow, stored_run: dict[str, Any], database: Path
) -> None:
    shown = subflow("show", 1, "--db", database, "--json").document

    assert {key: shown[key] for key in stored_run} == stored_run
    assert shown["name"] == "Two paths"
    assert shown["tags"] == []


def test_show_for_people_says_what_run_said(subflow: Subflow, scenario: Path, database: Path) -> None:
    ran = subflow("run", scenario, "--db", database).out.splitlines()
    shown = subflow("show", "last", "--db", database).out.splitlines()

    # All tables, line by line, are in both.
    tables = [line for line in ran if "Goodput" in line or "wifi" in line or "cross" in line]
    assert len(tables) > 3
    assert set(tables) <= set(shown)


@pytest.mark.parametrize("words", [["show", 9], ["export", 9], ["runs", "rename", 9, "x"], ["runs", "delete", 1, 9]])
def test_unknown_run_is_bad_input(subflow: Subflow, three_runs: Path, words: list[object]) -> None:
    answer = subflow(*words, "--db", three_runs)

    assert answer.code == 2
    assert "9" in answer.err
    assert answer.out == ""
    assert names(subflow, three_runs) == ["c", "b", "a"]


@pytest.mark.parametrize("text", ["first", "1.5", "²", "9" * 30])
def test_what_is_no_run_number_is_said(subflow: Subflow, three_runs: Path, text: str) -> None:
    answer = subflow("show", text, "--db", three_runs)

    assert answer.code == 2
    assert f'"{text}"' in answer.err


@pytest.mark.parametrize(
    "words", [["runs", "tag", 1, " "], ["runs", "untag", 1, ""], ["run", "{scenario}", "--tag", ""]]
)
def test_blank_tag_is_bad_input(subflow: Subflow, three_runs: Path, scenario: Path, words: list[object]) -> None:
    answer = subflow(*(str(word).format(scenario=scenario) for word in words), "--db", three_runs)

    assert answer.code == 2
    assert "blank" in answer.err


def test_database_that_does_not_exist_is_not_made_by_looking(subflow: Subflow, tmp_path: Path) -> None:
    answer = subflow("runs", "--db", tmp_path / "typo.db")

    assert answer.code == 2
    assert "typo.db" in answer.err
    assert not (tmp_path / "typo.db").exists()


@pytest.mark.parametrize("command", ["runs", "run"])
def test_a_database_of_a_newer_version_is_refused_politely(
    subflow: Subflow, scenario: Path, database: Path, command: str
) -> None:
    open_store(database).close()
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA user_version = 9999")
    connection.close()
    before = database.read_bytes()

    answer = subflow(command, *([scenario] if command == "run" else []), "--db", database)

    assert answer.code == failures.FAILED
    (line,) = answer.err.splitlines()
    assert "newer" in line
    assert "Traceback" not in line
    assert database.read_bytes() == before
