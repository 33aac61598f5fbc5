"""The command ``subflow reproduce``: lists, runs, interruption, resumption, and errors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from tests.features.gallery.core.tiny import RECIPE, write_tiny
from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each

from subflow_app.features.gallery.core.recipe_reader import recipe_names
from subflow_app.features.gallery.core.results import Results
from subflow_store import open_store
from subflow_store.errors import StoreError


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_tiny(tmp_path)


def test_an_experiment_is_run_and_told(subflow: Subflow, tiny: Path, database: Path, tmp_path: Path) -> None:
    open_store(tmp_path / "empty.db").close()
    before = subflow("reproduce", tiny, "--page", "--db", tmp_path / "empty.db")
    assert before.code == 2
    assert "tiny: This experiment was not run here" in before.err
    assert "page of 1 experiment: about 400 ms on one core" in before.err
    answer = subflow("reproduce", tiny, "--quick", "--db", database, "--jobs", 1)
    assert answer.code == 0, answer.err
    assert "tiny: 2 runs, about" in answer.err
    assert "LIA loses with loss" in answer.out
    assert "claim holds" in answer.out
    assert "no policy of that name" in answer.out
    assert "tiny: Our runs are short." in answer.out
    assert "1 inside band, 1 outside band, 1 claim holds, 3 not measured; of 6 checks 2 met" in answer.out
    again = subflow("reproduce", tiny, "--quick", "--db", database, "--jobs", 1, "--json").document
    assert list(again["counts"].values()) == [1, 1, 1, 0, 3]
    assert list(again["counts"]) == ["inside band", "outside band", "claim holds", "claim fails", "not measured"]
    (experiment,) = again["experiments"]
    assert (experiment["id"], experiment["state"], experiment["reused"]) == ("tiny", "finished", 2)
    assert experiment["verdicts"][0]["verdict"] == "claim holds"
    assert experiment["values"][0]["mean"] > 1e6
    (sweep,) = subflow("sweeps", "--db", database, "--json").document
    assert sweep["name"] == "experiment tiny (quick)"
    told = subflow("reproduce", tiny, "--page", "--db", database, "--out", tmp_path / "pages", "--json").document
    assert told == {"experiments": ["tiny"], "files": [str(tmp_path / "pages" / "experiments.html")]}
    assert "LIA loses with loss" in Path(told["files"][0]).read_text(encoding="utf-8")


def test_a_cause_is_told_with_what_shows_it(subflow: Subflow, tmp_path: Path, database: Path) -> None:
    band = 'why = "a band that no run is in"\n'
    cause = """cause = { kind = "reading", says = "Other links.", variants = ["fast"] }
[variants.fast]
says = "Links of 80 Mbit/s."
set."links.top.rate" = "80Mbit/s"
set."links.bottom.rate" = "80Mbit/s"
set."flows.mptcp.recv_buffer" = "8MB"
set.duration = "2s"
quick = { set = { duration = "5s" } }
"""
    text = RECIPE.replace("50 Mbit/s .. 60 Mbit/s", "10 Mbit/s .. 160 Mbit/s").replace(band, band + cause)
    arguments = ("reproduce", write_tiny(tmp_path, text), "--quick", "--db", database, "--jobs", 1)
    answer = subflow(*arguments)
    assert answer.code == 0, answer.err
    for told in ("reading, shown", "fast: Links of 80 Mbit/s.", "of 6 checks 2 met, 1 reading, 3 not measured\n"):
        assert told in answer.out
    document = subflow(*arguments, "--json").document
    assert (document["settled"]["met"], document["settled"]["reading"]) == (2, 1)
    (found,) = [each["cause"] for each in document["experiments"][0]["verdicts"] if each["cause"]]
    assert (found["kind"], found["says"], found["shown"]) == ("reading", "Other links.", "shown")
    (trial,) = found["trials"]
    assert (trial["variant"], trial["holds"], trial["checks_met"]) == ("fast", True, 3)


def test_reports_go_where_they_shall(
    subflow: Subflow, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[str, str, Path]] = []

    def report(every: Sequence[Results], folder: Path) -> list[Path]:
        written.append(("report", every[0].recipe.name, folder))
        return [folder / "report.html"]

    def pages(every: Sequence[Results], folder: Path) -> list[Path]:
        written.append(("pages", every[0].recipe.name, folder))
        return [folder / "index.md"]

    monkeypatch.setattr("subflow_app.features.gallery.core.report.write_report", report)
    monkeypatch.setattr("subflow_app.features.gallery.core.report.write_pages", pages)
    out, docs = tmp_path / "out", tmp_path / "docs"
    answer = subflow("reproduce", tiny, "--quick", "--no-store", "--jobs", 1, "--out", out, "--docs", docs)
    assert answer.code == 0
    assert written == [("report", "tiny", out), ("pages", "tiny", docs)]
    refused = subflow("reproduce", tiny, "--quick", "--no-store", "--out", tiny)
    assert (refused.code, "this is a file, not a folder" in refused.err) == (2, True)


def test_more_seeds_and_nothing_kept(subflow: Subflow, tiny: Path) -> None:
    answer = subflow("reproduce", tiny, "--quick", "--seeds", 2, "--no-store", "--jobs", 1, "--json")
    assert answer.document["experiments"][0]["seeds"] == [1, 2]


def test_experiments_are_listed(subflow: Subflow, tiny: Path) -> None:
    listed = subflow("reproduce", "--list", "--json").document
    assert [each["id"] for each in listed] == list(recipe_names())
    assert "1 experiment: about 3 s on two cores, quick 667 ms" in subflow("reproduce", tiny, "--list").out


@for_each(
    ("arguments", "told"),
    [
        ((), "an experiment is missing"),
        (("gone",), "gone: no such experiment or paper"),
        (("gone.toml",), "gone.toml: no such recipe file"),
        (("--seeds", "0", "mplibra"), "--seeds 0: at least 1"),
        (("--seeds", "x", "mplibra"), '--seeds x: "x" is not a seed'),
        (("--jobs", "none", "mplibra"), "--jobs"),
        (("all", "--retrain-steps", "200"), "--retrain-steps goes with --retrain"),
    ],
)
def test_what_is_wrong_is_told(subflow: Subflow, arguments: tuple[str, ...], told: str) -> None:
    answer = subflow("reproduce", *arguments, "--no-store")
    assert (answer.code, told in answer.err) == (2, True), answer.err


def test_nothing_is_run_of_a_wrong_recipe_or_without_the_libraries_of_a_cluster(
    subflow: Subflow, tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_tiny(tmp_path, RECIPE.replace("title =", "titel ="))
    answer = subflow("reproduce", path, "--db", database)
    assert not database.exists()
    assert (answer.code, f"{path}:7: titel = " in answer.err) == (2, True)
    monkeypatch.setitem(sys.modules, "ray", None)
    answer = subflow("reproduce", write_tiny(tmp_path), "--no-store", "--cluster", "10.0.0.1:6379")
    assert (answer.code, "Ray" in answer.err) == (1, True)


def test_what_was_killed_or_interrupted_goes_on(tmp_path: Path, database: Path) -> None:
    long = RECIPE.replace('duration = "2s"', 'duration = "60s"').replace('seeds = "1..2"', 'seeds = "1..3"')
    path = write_tiny(tmp_path, long)
    command = [sys.executable, "-m", "subflow_app", "reproduce", str(path), "--db", str(database), "--jobs", "1"]

    def begin() -> subprocess.Popen[str]:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finished() -> int:
        with suppress(StoreError), open_store(database, read_only=True) as store:
            return sum(run.status == "finished" for run in store.runs())
        return 0

    def wait_for(runs: int) -> None:
        until = time.monotonic() + 30
        while time.monotonic() < until:
            if finished() >= runs:
                return
            time.sleep(0.05)
        raise AssertionError("no run has ended")

    killed = begin()
    wait_for(2)
    killed.kill()
    killed.communicate()
    # The first process may have made more runs than expected. The second is interrupted after its first run, because
    # Python itself may still be starting before that.
    there = finished()
    interrupted = begin()
    wait_for(min(there + 1, 18))
    os.kill(interrupted.pid, signal.SIGINT)
    out, err = interrupted.communicate(timeout=30)
    if interrupted.returncode != 0:  # unless it finished first
        assert interrupted.returncode == 130
        assert "the same command makes those that are missing" in err
        assert "not all of its runs have been made" in out
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    assert finished() == 18


def test_policies_are_trained_anew_beside_the_shipped_ones(subflow: Subflow, tmp_path: Path, database: Path) -> None:
    series = 'set = { "flows.download.controller" = "rl-explore" }'
    recipe = write_tiny(
        tmp_path,
        f"""
format = 1
paper = "rl-explore"
figure = "6"
title = "One agent"
claim = "It carries something."
scenario = "rlx-fixed"
seeds = "1"
panels = [{{ form = "bars", measure = "goodput" }}]
checks = [{{ says = "It carries something", holds = "goodput('Agent') > 1 Mbit/s" }}]
set = {{ duration = "2s" }}
series = {{ Agent = {{ {series} }} }}
measures = {{ goodput = {{ of = "goodput", unit = "Mbit/s" }} }}
""",
    )
    command = ("reproduce", recipe, "--retrain", "--retrain-steps", 200, "--db", database, "--jobs", 1)

    answer = subflow(*command)

    assert answer.code == 0, answer.err
    assert "training anew: rl-explore" in answer.err
    assert "Trained anew" in answer.out
    (again,) = subflow(*command, "--json").document["retrained"]
    assert (again["policy"], again["was_there"]) == ("rl-explore", True)
    assert again["shipped"]["goodput_bps"] > again["anew"]["goodput_bps"] > 0
