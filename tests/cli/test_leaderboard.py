"""``subflow leaderboard``: listed, carried out, shown, and told when it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.app_core.leaderboard.tiny_contest import write_tiny
from tests.cli.conftest import Subflow

from subflow_app.core.experiments import cost
from subflow_app.core.leaderboard.contest import contest_ids


def test_contests_are_listed(subflow: Subflow) -> None:
    listed = subflow("leaderboard", "--list", "--json").document
    assert [each["id"] for each in listed] == list(contest_ids())
    assert "lia" in listed[0]["controllers"]


def test_contests_are_carried_out_and_shown(
    subflow: Subflow, tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "LEAST_CPU_S", 0.0)
    several, single = write_tiny(tmp_path)
    command = ("leaderboard", "--contest", several, "--contest", single, "--quick", "--jobs", 1, "--db", database)
    answer = subflow(*command, "--controllers", "newreno, lia", "--out", tmp_path / "out")
    assert answer.code == 0, answer.err
    assert "2 controllers in 2 contests: 6 runs and measurements" in answer.err
    assert "Scores: 1 is the best of each contest" in answer.out
    assert "Overall weighs goodput 1" in answer.out
    assert "CPU time: Measured on" in answer.out
    assert (tmp_path / "out" / "values.csv").read_text(encoding="utf-8").startswith("contest,controller,metric")
    one = subflow("leaderboard", "--contest", several, "--quick", "--stored", "--db", database)
    assert "Goodput (Mbit/s)" in one.out
    again = subflow(*command, "--controllers", "newreno,lia", "--weights", "rtt=2", "--json").document
    assert (again["runs"], again["finished"], again["weights"]["rtt"]) == (4, 4, 2)
    assert again["standings"][0]["rank"] == 1
    table = subflow(*command[:-4], "--stored", "--db", database, "--metric", "rtt")
    assert "RTT (ms)" in table.out
    assert subflow(*command[:-4], "--stored", "--db", database, "--csv").out.count("goodput") == 3


def test_what_ships_is_shown_where_nothing_was_run(subflow: Subflow) -> None:
    answer = subflow("leaderboard", "--stored")
    assert "Scores: 1 is the best of each contest" in answer.out
    assert "Shipped with Subflow, not run here" in answer.out
    assert subflow("leaderboard", "--stored", "--json").document["shipped"]["version"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--contest", "nowhere"), "no such contest"),
        (("--controllers", "cubc"), "did you mean cubic"),
        (("--metric", "speed"), "allowed are goodput"),
        (("--weights", "speed=1"), "there is no metric"),
        (("--seeds", "0"), "at least 1"),
        (("--csv", "--json"), "choose one"),
        (("--stored", "--no-store"), "does not go with"),
    ],
)
def test_what_is_wrong_is_told(subflow: Subflow, options: tuple[str, ...], told: str) -> None:
    answer = subflow("leaderboard", *options)
    assert answer.code == 2
    assert told in answer.err


def test_a_file_is_no_folder(subflow: Subflow, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("", encoding="utf-8")
    answer = subflow("leaderboard", "--out", path)
    assert (answer.code, "this is a file" in answer.err) == (2, True)
