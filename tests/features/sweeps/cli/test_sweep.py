"""The commands ``subflow sweep`` and ``subflow sweeps``: by options or files, listed, shown, resumed, deleted."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.features.sweeps.core.plans import CONTROLLER, LOSS
from tests.helpers.command_line import Answer, Subflow
from tests.helpers.members import for_each
from tests.helpers.waiting import wait_until

from subflow_app.foundation.resources import scenario_names, sweep_names
from subflow_store import open_store

TIMEOUT_S = 90
AXES = ("--axis", f"{LOSS}=0%,2%", "--axis", f"{CONTROLLER}=lia,olia", "--seeds", "1..2")


@pytest.fixture
def swept(subflow: Subflow, short: Path, database: Path) -> Answer:
    answer = subflow("sweep", short, *AXES, "--db", database, "--jobs", 1, "--json").check()
    return answer


def test_a_sweep_prints_one_document(swept: Answer) -> None:
    document = swept.document
    assert {key: document[key] for key in ("sweep_id", "state", "runs", "finished", "reused", "failed")} == {
        "sweep_id": 1,
        "state": "finished",
        "runs": 8,
        "finished": 8,
        "reused": 0,
        "failed": 0,
    }
    assert (document["keys"], document["seeds"], len(document["points"])) == ([LOSS, CONTROLLER], [1, 2], 4)
    goodput = document["points"][3]["figures"]["goodput_bps"]
    assert (goodput["n"], len(goodput["values"])) == (2, 2)
    assert goodput["mean"] == pytest.approx(sum(goodput["values"]) / 2)
    assert swept.err == ""


def test_no_run_is_made_twice(subflow: Subflow, swept: Answer, short: Path, database: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    answer = subflow("sweep", short, *AXES, "--db", database, "--jobs", 1, "--out", out, "--name", "Again").check()
    assert "±" in answer.out
    assert "sweep 2, 8 of 8 runs, 8 of them existed already" in answer.out
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert [row[f"{LOSS} [ratio]"] for row in rows] == ["0", "0", "0.02", "0.02"]
    assert float(rows[0]["goodput_bps mean [bit/s]"]) == swept.document["points"][0]["figures"]["goodput_bps"]["mean"]
    assert len(subflow("runs", "--db", database, "--json").document) == 8


def test_seeds_that_change_nothing_count_once_as_in_compare(subflow: Subflow, short: Path, database: Path) -> None:
    axes = ("--axis", f"{LOSS}=0%", "--axis", f"{CONTROLLER}=lia,olia", "--seeds", "1..3")
    answer = subflow("sweep", short, *axes, "--db", database, "--jobs", 1)
    assert "±" not in answer.out
    note = "All 3 seeds gave the same run: nothing in this scenario is random. Add a loss or a start_jitter.\n"
    assert note in answer.out
    assert note in subflow("sweeps", "show", "last", "--db", database).out
    compared = subflow("compare", "1-6", "--db", database)
    heading, _, *groups = compared.out.splitlines()[:4]
    assert heading.split() == ["group", "condition", "runs", "n"]
    assert [line.split()[-1] for line in groups] == ["1", "1"]
    assert "only one distinct run: no test" in compared.out
    assert "identical to others" in compared.out


def test_sweeps_are_listed_shown_and_deleted(subflow: Subflow, swept: Answer, database: Path, tmp_path: Path) -> None:
    (listed,) = subflow("sweeps", "--db", database, "--json").document
    assert (listed["id"], listed["name"], listed["state"], listed["finished"]) == (1, "Short", "finished", 8)
    assert "Short" in subflow("sweeps", "--db", database).out
    shown = subflow("sweeps", "show", "last", "--db", database, "--json").document
    assert shown["points"] == swept.document["points"]
    by_figure = subflow("sweeps", "show", 1, "--figure", "links.wifi/forward.utilisation", "--db", database)
    assert "links.wifi/forward.utilisation" in by_figure.out
    out = tmp_path / "long.csv"
    printed = subflow("sweeps", "show", 1, "--csv", "--long", "--out", out, "--db", database)
    assert printed.out == out.read_text(encoding="utf-8")
    assert printed.out.startswith(f"point,{LOSS} [ratio],{CONTROLLER},seed,figure,unit,value\n")
    plan = subflow("sweeps", "show", 1, "--plan", "--db", database).out
    (tmp_path / "again.sweep.toml").write_text(plan, encoding="utf-8")
    again = subflow("sweep", tmp_path / "again.sweep.toml", "--db", database, "--json").document
    assert (again["reused"], again["points"]) == (8, swept.document["points"])
    assert subflow("sweeps", "rename", 1, "First", "--db", database).code == 0
    deleted = subflow("sweeps", "delete", 2, "--db", database)
    assert (deleted.code, deleted.err) == (0, "deleted: sweep 2; 8 runs stay\n")
    deleted = subflow("sweeps", "delete", 1, "--runs", "--db", database)
    assert deleted.err == "deleted: sweep 1, and 8 runs\n"
    assert subflow("sweeps", "--db", database).out.startswith("no sweeps yet")
    assert subflow("runs", "--db", database, "--json").document == []


@for_each(
    ("words", "problem"),
    [
        (["--axis", f"{LOSS}=150%"], "axis links.wifi.loss, value 150%: too large"),
        (["--axis", LOSS], "not of the form KEY=VALUES"),
        ([], "nothing to sweep over"),
        ([*AXES, "--seeds", "5..1"], "are not seeds"),
        ([*AXES, "--jobs", "many"], '--jobs = "many": must be a number from 1 to 1024, or all'),
        ([*AXES, "--out", "x.txt"], "must end in .csv or .json"),
        ([*AXES, "--out", "nowhere/x.csv"], "its folder does not exist"),
        ([*AXES, "--max-runs", "3"], "8 runs (4 points x 2 seeds), more than the limit of 3"),
    ],
)
def test_bad_input_is_told(subflow: Subflow, short: Path, database: Path, words: list[str], problem: str) -> None:
    subflow("sweep", short, *words, "--db", database).check_refusal(problem)
    assert not database.exists() or subflow("sweeps", "--db", database, "--json").document == []


def test_bad_numbers_and_figures_of_sweeps(subflow: Subflow, swept: Answer, database: Path) -> None:
    for words, problem in (
        (["show", "9"], "unknown sweep 9"),
        (["show", "x"], '"x" is not a sweep'),
        (["show", "1", "--figure", "speed"], 'no figure "speed"; allowed: goodput_bps'),
        (["show", "1", "--csv", "--json"], "exclude one another"),
    ):
        subflow("sweeps", *words, "--db", database).check_refusal(problem)


def test_an_estimate_runs_nothing(subflow: Subflow, short: Path, database: Path) -> None:
    answer = subflow("sweep", short, *AXES, "--estimate", "--jobs", 2, "--db", database).check()
    assert answer.out.startswith("8 runs: 4 points x 2 seeds.\n")
    assert subflow("sweep", short, *AXES, "--estimate", "--json").document["runs"] == 8
    assert not database.exists()


def test_without_a_store_there_is_a_result_and_nothing_else(subflow: Subflow, short: Path) -> None:
    answer = subflow("sweep", short, "--axis", f"{LOSS}=0%", "--no-store", "--jobs", 1, "--json")
    assert (answer.code, answer.document["finished"]) == (0, 1)
    assert subflow("sweeps", "--json").document == []


def test_a_cluster_needs_ray(subflow: Subflow, short: Path, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    subflow("sweep", short, *AXES, "--cluster", "10.0.0.1:6379", "--db", database).check_refusal(
        'a cluster needs Ray, which is not installed: pip install "subflow-workbench[cluster]"', code=1
    )


# Ended by signals

KILLED_AT_THE_FIFTH = """
    import multiprocessing, os, signal, sys
    from pathlib import Path
    from subflow_store.run_writer import RunWriter

    finish, calls = RunWriter.finish, []

    def finish_or_die(self, *words, **named):
        calls.append(self.run_id)
        if len(calls) == 5:
            self.flush()  # half-written: listed, tagged, with samples, but not closed
            children = [child.pid for child in multiprocessing.active_children()]
            Path(sys.argv.pop()).write_text(" ".join(map(str, children)))
            os.kill(os.getpid(), signal.SIGKILL)
        return finish(self, *words, **named)

    if __name__ == "__main__":
        RunWriter.finish = finish_or_die
        children = sys.argv.pop(1)
        arguments = sys.argv[1:]
        sys.argv = ["subflow", children]
        from subflow_app.shell.commands import app
        app(arguments, prog_name="subflow")
"""


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_killed_sweep_ends_as_if_it_had_not_been(
    subflow: Subflow, short: Path, database: Path, tmp_path: Path
) -> None:
    script = tmp_path / "killed.py"
    script.write_text(textwrap.dedent(KILLED_AT_THE_FIFTH), encoding="utf-8")
    words = ["sweep", short, *AXES, "--db", database]
    command = [sys.executable, script, tmp_path / "children", *words, "--jobs", 2]
    killed = subprocess.run([str(word) for word in command], capture_output=True, timeout=TIMEOUT_S, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    # Its processes notice that their parent has ended.
    children = [int(pid) for pid in (tmp_path / "children").read_text().split()]
    assert len(children) == 2
    wait_until(lambda: not any(map(is_there, children)), "its processes have ended", TIMEOUT_S)

    (listed,) = subflow("sweeps", "--db", database, "--json").document
    assert (listed["state"], listed["finished"], listed["runs"]) == ("interrupted", 4, 8)
    with open_store(database, read_only=True) as store:
        kept = {run.id: run.signature for run in store.runs(status="finished")}
        (half,) = [run.id for run in store.runs(status="interrupted")]
    again = subflow(*words, "--jobs", 1, "--resume", "--json")
    assert again.code == 0, again.err
    assert (again.document["sweep_id"], again.document["finished"], again.document["reused"]) == (1, 8, 4)
    with open_store(database, read_only=True) as store:
        runs = {run.id: run.signature for run in store.runs()}
        assert store.run(half).deleted
    assert len(runs) == 8
    assert kept.items() <= runs.items()
    whole = subflow("sweep", short, *AXES, "--no-store", "--jobs", 1, "--json")
    assert again.document["points"] == whole.document["points"]


def test_ctrl_c_keeps_what_has_ended(short: Path, database: Path, subflow: Subflow) -> None:
    # 10^6 s of the last point would take minutes: the signal arrives during that point.
    points = short.with_name("points.csv")
    points.write_text("duration,links.wifi.loss\n1s,1%\n1000000s,2%\n", encoding="utf-8")
    command = [sys.executable, "-m", "subflow_app", "sweep", short, "--points", points, "--db", database]
    command += ["--jobs", 1, "--sample-interval", "1s", "--set", "links.wifi.rate=100kbit/s"]
    command += ["--set", "links.lte.rate=100kbit/s"]
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        wait_until(lambda: database.exists() and has_finished_a_run(database), "a run has ended", TIMEOUT_S)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT_S)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert b"`subflow sweeps resume 1` makes the runs that are missing" in err
    assert b"1 of 2 runs" in out
    (listed,) = subflow("sweeps", "--db", database, "--json").document
    assert (listed["state"], listed["finished"]) == ("stopped", 1)
    assert [run["status"] for run in subflow("runs", "--db", database, "--json").document] == ["finished"]


def has_finished_a_run(database: Path) -> bool:
    answer = subprocess.run(
        [sys.executable, "-m", "subflow_app", "sweeps", "--db", str(database), "--json"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )
    return answer.returncode == 0 and any(row["finished"] for row in json.loads(answer.stdout))


def test_the_shipped_plans_are_listed_found_by_name_and_can_be_run(subflow: Subflow) -> None:
    listed = subflow("sweeps", "plans", "--json").document
    assert [each["name"] for each in listed] == list(sweep_names())
    assert not set(sweep_names()) & set(scenario_names())
    once = ["--seeds", "1", "--jobs", 1, "--no-store", "--json"]
    shortened = ["--set", "duration=2s", "--set", "warmup=500ms", *once]
    told = subflow("sweeps", "plans").out.splitlines()
    assert told == [f"{each['name']}: {each['title']} ({each['runs']} runs)" for each in listed]
    for each in listed:
        # The events of late paths cover the whole run, and the scenario draws no random numbers.
        is_whole = each["name"].startswith("late-path")
        document = subflow("sweep", each["name"], *(once if is_whole else shortened)).document
        assert (document["name"], document["finished"]) == (each["title"], len(document["points"]))
        assert each["runs"] == document["finished"] * (1 if is_whole else 3)
        # The values of the sweep take effect in the runs.
        (flow,) = {"flows.mptcp.goodput_bps", "flows.phone.goodput_bps"} & document["points"][0]["figures"].keys()
        goodputs = {point["figures"][flow]["mean"] for point in document["points"]}
        assert len(goodputs) >= 3
