"""The command ``subflow fairness``: shares of runs and ideals of scenarios."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each

PAYLOAD = 1448 / 1500


def test_the_ideal_of_a_scenario_needs_no_run(subflow: Subflow) -> None:
    """T-10b: 2 x 5 Mbit/s for three connections."""
    document = subflow("fairness", "--scenario", "t-10b", "--json").document
    for key in ("max_min_bps", "proportional_bps"):
        assert [each[key] for each in document["connections"]] == pytest.approx([10e6 / 3 * PAYLOAD] * 3)
    assert {each["link"] for each in document["bottlenecks"]} == {"top/forward", "bottom/forward"}
    assert document["pooling"]["potential"] == pytest.approx(4 / 3)
    changed = subflow("fairness", "--scenario", "t-10b", "--set", "links.top.rate=8Mbit/s", "--json").document
    assert changed["connections"][0]["max_min_bps"] == pytest.approx(13e6 / 3 * PAYLOAD)
    assert "what would be fair" in subflow("fairness", "--scenario", "t-10b").out


def test_runs_are_compared_with_ideal_and_others(
    subflow: Subflow, scenario: Path, database: Path, tmp_path: Path
) -> None:
    for change in ((), ("--seed", 2), ("--set", "flows.download.controller=uncoupled")):
        subflow("run", scenario, "--db", database, *change)
    whole = subflow("fairness", 1, 2, "--db", database, "--json").document
    assert [run["run_id"] for run in whole["runs"]] == [1, 2]
    run = whole["runs"][0]
    assert (run["from_s"], run["to_s"]) == (2.0, 10.0)
    assert [each["name"] for each in run["connections"]] == ["download", "cross"]
    assert 0.3 < run["connections"][0]["of_max_min"] < 2.0
    part = subflow("fairness", 1, "--from", "3s", "--to", "4s", "--db", database, "--json").document["runs"][0]
    assert part["connections"][0]["goodput_bps"] != run["connections"][0]["goodput_bps"]
    text = subflow("fairness", "last", "--db", database).out
    assert "Run 3: Two paths, 2.0 s to 10.0 s, 2 connections" in text
    assert "Jain index" in text

    words = ("fairness", 1, 2, 3, "--db", database)
    document = subflow(*words, "--trade-off", "delay", "--json").document
    assert [point["run_ids"] for point in document["points"]] == [[1, 2], [3]]
    assert any(point["is_best"] for point in document["points"])
    assert 0.05 < document["points"][0]["delay_s"]["mean"] < 0.5
    table = subflow(*words, "--trade-off", "friendliness", "--csv", tmp_path / "points.csv").out
    assert "1, 2" in table
    assert (tmp_path / "points.csv").read_text().startswith("title,runs,is_best,friendliness,")


@for_each(
    ("words", "said"),
    [
        ((), "give either numbers of runs or"),
        (("1", "--scenario", "t-10b"), "give either numbers of runs or"),
        (("1", "--set", "seed=2"), "--set requires --scenario FILE"),
        (("--scenario", "t-10b", "--from", "300s"), "between 0 s and 200 s"),
        (("--scenario", "t-10b", "--to", "soon"), '--to = "soon"'),
        (("--scenario", "nowhere"), "nowhere"),
        (("1", "--trade-off", "beauty"), "must be one of delay, transfer, friendliness"),
        (("1", "--csv", "x.csv"), "--csv requires --trade-off"),
        (("1", "--trade-off", "delay", "--from", "1s"), "do not combine it with --scenario, --from or --to"),
    ],
)
def test_what_makes_no_sense_is_refused(subflow: Subflow, database: Path, words: tuple[str, ...], said: str) -> None:
    answer = subflow("fairness", *words, "--db", database)
    assert answer.code == 2
    assert said in answer.err
