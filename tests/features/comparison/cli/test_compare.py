"""The command ``subflow compare``: groups of stored runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.scripts import CONTROLLER, write_scenario


@pytest.fixture
def runs(subflow: Subflow, scenario: Path, database: Path) -> Path:
    """Runs 1 to 3 with LIA and 4 to 6 with OLIA, with the same seeds."""
    for controller in ("lia", "olia"):
        for seed in (1, 2, 3):
            changes = ("--set", "duration=3s", "--set", f"flows.download.controller={controller}")
            assert subflow("run", scenario, "--db", database, "--seed", seed, *changes).code == 0
    return database


def test_two_controllers_are_compared_over_their_seeds(subflow: Subflow, runs: Path) -> None:
    answer = subflow("compare", "1-3", "4-6", "--db", runs)
    assert answer.code == 0
    assert "A (reference)  lia" in answer.out
    assert "download: Goodput" in answer.out
    assert "Mean RTT" in answer.out
    assert "Welch's t test" in answer.out
    document = subflow("compare", "1-6", "--db", runs, "--json", "--reference", "olia").document
    assert document["reference"] == "B"
    assert document["groups"][0]["seeds"] == [1, 2, 3]
    goodput = next(each for each in document["figures"] if each["key"] == "goodput_bps")
    assert goodput["groups"][0]["n"] == 3
    assert goodput["groups"][0]["difference"]["p"] is not None


def test_the_table_can_be_written(subflow: Subflow, runs: Path, tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    answer = subflow("compare", 1, 2, 4, 5, "--db", runs, "--figures", "goodput_bps", "--paired", "--csv", target)
    assert answer.code == 0
    assert "paired t test by seed" in answer.out
    assert target.read_text().splitlines()[1].startswith("goodput_bps,2,")
    assert subflow("compare", 1, 2, 4, 5, "--db", runs, "--csv", tmp_path / "no" / "table.csv").code == 1


BAD = [
    (["1"], "two runs or more"),
    (["demo", "--seeds", "5"], "--seeds needs a scenario and --controllers"),
    (["1", "2", "--controllers", "lia"], "--controllers takes one scenario, not 2: 1, 2"),
    (["demo", "--controllers", "lia,olia", "--align", "manual"], "--align and --offset take stored runs"),
    (["nothing-here", "--controllers", "lia,olia"], "nothing-here"),
    (["demo", "--controllers", "lia,lia"], "lia is listed twice"),
    (["demo", "--controllers", "lia,nobody"], "nobody"),
    (["demo", "--controllers", "lia,olia", "--seeds", "0"], 'seeds = "0": must be a number from 1'),
    (["demo", "--controllers", "lia,olia", "--seeds", "x"], "is not a seed"),
    (["demo", "--controllers", "lia,olia", "--flow", "upload"], "the flows of demo are download"),
    (["demo", "--controllers", "lia,olia", "--vary", "links.wifi.loss"], "must be KEY=VALUES"),
    (["demo", "--controllers", "lia,olia", "--starts-apart", "long"], "--starts-apart"),
    (["1", "x"], '"x" is not a run'),
    (["1", "20-30"], '"20-30": unknown run'),
    (["1", "2", "--by", "colour"], '--by = "colour": must be one of condition, controller'),
    (["1", "4", "--figures", "speed"], 'no run has the figure "speed"'),
    (["1", "4", "--reference", "C"], '"C" names no single group'),
]


def test_bad_input_is_said(subflow: Subflow, runs: Path) -> None:
    for words, said in BAD:
        answer = subflow("compare", *words, "--db", runs)
        assert answer.code == 2, words
        assert said in answer.err


COMPARED = ("--controllers", "lia,olia", "--seeds", "3", "--set", "duration=3s")


def test_a_scenario_is_run_with_each_controller_and_seed(subflow: Subflow, scenario: Path, database: Path) -> None:
    estimated = subflow("compare", scenario, *COMPARED, "--db", database, "--estimate")
    assert estimated.code == 0
    assert estimated.out.startswith("6 runs: 6 to simulate: about ")
    answer = subflow("compare", scenario, *COMPARED, "--db", database)
    assert answer.code == 0
    assert "A (reference)  lia" in answer.out
    assert "lia against olia: 6 to simulate: about" in answer.err
    # All runs exist now, so that one more controller simulates its own only.
    document = subflow(
        "compare", scenario, *COMPARED, "--controllers", "lia,olia,balia", "--db", database, "--json", "--holm"
    ).document
    assert {key: document[key] for key in ("title", "flow", "runs", "finished", "reused", "failed", "state")} == {
        "title": "lia, olia, balia",
        "flow": "download",
        "runs": 9,
        "finished": 9,
        "reused": 6,
        "failed": 0,
        "state": "finished",
    }
    assert [group["label"] for group in document["groups"]] == ["lia", "olia", "balia"]
    assert all(len(group["run_ids"]) == 3 for group in document["groups"])
    assert (document["deterministic"], document["correction"]) == (False, "holm")
    assert subflow("sweeps", "--db", database, "--json").document[0]["name"] == "lia, olia, balia"


def test_versions_of_a_script_are_groups_with_names(subflow: Subflow, tmp_path: Path, database: Path) -> None:
    write_scenario(tmp_path)
    for share in (2, 3):
        (tmp_path / "mine.py").write_text(CONTROLLER.replace("w.cwnd / 2", f"w.cwnd / {share}"))
        words = ("--set", "duration=2s", "--set", "events=[]", "--db", database)
        assert subflow("run", tmp_path / "scenario.toml", *words).code == 0
    groups = subflow("compare", 1, 2, "--db", database, "--json").document["groups"]
    assert [group["label"] for group in groups] == ["mine, version 1", "mine, version 2"]


def test_that_seeds_are_one_run_is_told_before(subflow: Subflow, database: Path) -> None:
    words = ("compare", "demo", "--controllers", "lia,olia", "--no-store")
    answer = subflow(*words)
    assert answer.code == 0
    assert "Nothing in this scenario is random: 5 seeds are one run." in answer.err
    assert "--starts-apart 100ms" in answer.err
    document = subflow(*words, "--starts-apart", "100ms", "--seeds", "4,7", "--json").document
    assert document["deterministic"] is False
    assert [group["seeds"] for group in document["groups"]] == [[4, 7], [4, 7]]


def test_a_key_varies_too_and_the_table_is_written(subflow: Subflow, scenario: Path, tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    varied = ("--vary", "links.wifi.loss=0%,5%", "--by", "controller")
    answer = subflow("compare", scenario, *COMPARED, "--no-store", *varied, "--csv", target)
    assert answer.code == 0
    assert "lia against olia by loss" in answer.err
    assert "A group mixes runs of several conditions" in answer.out
    assert target.exists()


def test_traces_are_laid_on_the_time_of_the_first(subflow: Subflow, runs: Path, tmp_path: Path) -> None:
    assert subflow("export", 1, "--db", runs, "--out", tmp_path / "out").code == 0
    heading, *rows = (tmp_path / "out" / "subflows.csv").read_text().splitlines()
    later = tmp_path / "later.csv"
    # Half a second without data comes first, as on a clock that was started earlier.
    shifted = [",".join([f"{float(row.split(',')[0]) + 0.5:.1f}", *row.split(",")[1:]]) for row in rows]
    later.write_text("\n".join([heading, *shifted]))
    assert subflow("import-trace", later, "--db", runs).code == 0
    (found,) = subflow("compare", 1, 7, "--db", runs, "--align", "correlation", "--json").document["alignments"]
    assert found["offset_s"] == pytest.approx(-0.5, abs=0.05)
    answer = subflow("compare", 1, 7, "--db", runs, "--align", "manual", "--offset", "-500ms")
    assert 'run 7 "later" on the time of run 1 "' in answer.out
    assert "cwnd_pkts" in answer.out
    for words in (("--align", "guess"), ("--align", "manual"), ("--align", "correlation", "--offset", "1s")):
        assert subflow("compare", 1, 7, "--db", runs, *words).code == 2
