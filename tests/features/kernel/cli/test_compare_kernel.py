"""The command ``subflow compare-kernel``: output, stored runs and refused input; a fake worker replaces the kernel."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.features.kernel.core.test_compare import FakeWorker
from tests.helpers.command_line import Subflow
from tests.helpers.fake_kernel import ONE_PATH, install
from tests.helpers.members import for_each

from subflow_app.features.kernel.core import probe
from subflow_app.features.kernel.core.probe import Machine


@pytest.fixture
def one_path(tmp_path: Path) -> Path:
    path = tmp_path / "one.toml"
    path.write_text(ONE_PATH, encoding="utf-8")
    return path


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> FakeWorker:
    """The worker of a machine with all kernel features."""
    return install(monkeypatch)


def test_people_get_a_table_with_both_sides(subflow: Subflow, one_path: Path, kernel: FakeWorker) -> None:
    answer = subflow("compare-kernel", one_path, "--no-store", "--seeds", 2)

    assert answer.code == 0, answer.err
    assert "One path" in answer.out
    assert "2 simulations, 3 runs on Linux 6.18.1" in answer.out
    row = next(line.split() for line in answer.out.splitlines() if line.startswith("bulk"))
    assert row[:2] == ["bulk", "newreno"]
    assert row[3] == "5.000"  # the fake kernel's goodput
    assert len(kernel.jobs) == 1


def test_programs_get_one_document(subflow: Subflow, one_path: Path, kernel: FakeWorker) -> None:
    answer = subflow("compare-kernel", one_path, "--no-store", "--json", "--seed", 4, "--seeds", 2, "--repetitions", 1)

    document = answer.document
    assert (document["scenario"], document["seeds"], document["repetitions"]) == ("One path", [4, 5], 1)
    assert document["run_ids"] is None
    assert document["kernel"]["release"] == "6.18.1"
    goodput = document["flows"][0]["goodput_bps"]
    assert goodput.keys() == {"simulated", "kernel", "difference"}
    assert kernel.jobs[0]["networks"][0]["seed"] == 4


def test_duration_and_overrides_hold_for_both_sides(subflow: Subflow, one_path: Path, kernel: FakeWorker) -> None:
    words = ("--duration", "3s", "--set", "links.wire.rate=6Mbit/s", "--socket-buffer", "2MB")
    answer = subflow("compare-kernel", one_path, "--no-store", "--json", "--repetitions", 1, *words)

    assert answer.document["duration_s"] == 3.0
    (network,) = kernel.jobs[0]["networks"]
    assert (network["duration_s"], network["socket_buffer_bytes"]) == (3.0, 2_000_000)
    assert network["links"][0]["rate_bps"] == 6e6
    assert answer.document["flows"][0]["goodput_bps"]["simulated"]["mean"] < 6e6


def test_both_runs_are_kept_and_tagged(subflow: Subflow, one_path: Path, kernel: FakeWorker, database: Path) -> None:
    document = subflow("compare-kernel", one_path, "--db", database, "--json").document
    runs = subflow("runs", "--db", database, "--json").document

    assert document["run_ids"] == {"simulated": 1, "kernel": 2}
    tags = {run["run_id"]: run["tags"] for run in runs}
    assert (tags[1], tags[2]) == ([], ["kernel"])
    shown = subflow("show", 2, "--db", database, "--json").document
    assert shown["kernel"]["release"] == "6.18.1"


def test_traces_of_both_have_equal_columns(
    subflow: Subflow, one_path: Path, kernel: FakeWorker, tmp_path: Path
) -> None:
    answer = subflow("compare-kernel", one_path, "--no-store", "--repetitions", 2, "--out", tmp_path / "out")

    assert answer.code == 0, answer.err
    files = [tmp_path / "out" / side / "subflows.csv" for side in ("simulated", "kernel-1", "kernel-2")]
    (head,) = {file.read_text(encoding="utf-8").splitlines()[0] for file in files}
    assert "bulk/1:cwnd_pkts" in head


def test_the_grid_is_one_table_of_the_chosen_cases(subflow: Subflow, kernel: FakeWorker) -> None:
    words = ("--grid", "--only", "newreno 5Mbit/s 20ms", "--duration", "6s", "--seeds", 1)
    document = subflow("compare-kernel", *words, "--json").document
    answer = subflow("compare-kernel", *words)

    assert [case["scenario"] for case in document["cases"]] == ["newreno 5Mbit/s 20ms 0%"]
    assert "within 10 % of the kernel's goodput" in answer.out


def test_a_machine_that_cannot_says_why(subflow: Subflow, one_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "probe_machine", lambda: Machine("", (), {"namespace": "no namespaces here"}))
    answer = subflow("compare-kernel", one_path, "--no-store")

    assert (answer.code, answer.out) == (1, "")
    assert "no namespaces here" in answer.err


@for_each(
    ("words", "said"),
    [
        ((), "give either a scenario or --grid"),
        (("demo", "--grid"), "give either a scenario or --grid"),
        (("demo", "--set", "flows.download.controller=wvegas"), "flows.download: controller"),
        (("demo", "--only", "x"), "--only goes with --grid"),
        (("demo", "--cases", "coupled"), "--cases goes with --grid"),
        (("--grid", "--only", "nothing like it"), "no case of the grid"),
        (("reno-bernoulli", "--socket-buffer", "1kB"), "64kB to 1GB"),
        (("reno-bernoulli", "--socket-buffer", "much"), "--socket-buffer"),
        (("reno-bernoulli", "--duration", "soon"), "duration"),
    ],
)
def test_bad_input_is_exit_code_2(subflow: Subflow, kernel: FakeWorker, words: tuple[str, ...], said: str) -> None:
    answer = subflow("compare-kernel", *words, "--no-store")

    assert answer.code == 2
    assert said in answer.err
    assert kernel.jobs == []
