"""The option `--cluster` in the terminal: a wrong address, signals while Ray hangs, and a lost head."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.features.sweeps.core.plans import LOSS
from tests.helpers.command_line import Subflow
from tests.helpers.fake_cluster import FAKE_RAY, head
from tests.helpers.waiting import wait_until

from subflow_app.foundation.jobs import cluster_address


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "ray.py").write_text(FAKE_RAY, encoding="utf-8")
    return folder


def test_an_address_is_refused_before_anything_is_begun(
    subflow: Subflow, short: Path, tmp_path: Path, modules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(modules)
    monkeypatch.setattr(cluster_address, "ANSWER_S", 0.1)
    database = tmp_path / "runs.db"
    words = ("sweep", short, "--axis", f"{LOSS}=0%,1%", "--db", database)
    wrong = subflow(*words, "--cluster", "nonsense")
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)
    assert 'subflow: --cluster = "nonsense": must be the address of a Ray cluster' in wrong.err
    with head(None) as address:
        silent = subflow(*words, "--cluster", address)
    assert (silent.code, silent.out) == (1, "")
    assert silent.err.count("\n") == 1
    assert f"at {address} cannot be reached: no answer within 0.1 s" in silent.err
    client = subflow(*words, "--cluster", f"ray://{address}")
    assert client.code == 1  # refused, or Ray's client is not installed
    assert subflow("sweeps", "--db", database, "--json").document == []
    # An estimate needs no cluster.
    assert subflow(*words, "--cluster", address, "--estimate").code == 0


def is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_what_hangs(short: Path, tmp_path: Path, modules: Path, number: signal.Signals, code: int) -> None:
    words = ["--axis", f"{LOSS}=0%,1%", "--db", str(tmp_path / "runs.db")]
    joining = tmp_path / "joining"
    (modules / "ray.py").write_text(f"open({str(joining)!r}, 'w').close()\n{FAKE_RAY}", encoding="utf-8")
    with head() as address:
        process = subprocess.Popen(
            [sys.executable, "-m", "subflow_app", "sweep", str(short), *words, "--cluster", address],
            env=os.environ | {"PYTHONPATH": str(modules), "FAULT": "join-hangs"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            wait_until(lambda: joining.exists() or process.poll() is not None)
            process.send_signal(number)
            _, told = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == code, told
    assert told == "stopped; `subflow sweeps resume 1` makes the runs that are missing\n"
    # No process of its session remains: the client has ended with it, and the helper process of Python ends at once.
    wait_until(lambda: not is_there(process.pid), "no process remains", 10)


def test_a_lost_head_is_told(
    subflow: Subflow, short: Path, tmp_path: Path, modules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(modules)
    monkeypatch.setenv("FAULT", "ends:3")
    words = ("--axis", f"{LOSS}=0%,1%,2%", "--db", tmp_path / "runs.db")
    with head() as address:
        lost = subflow("sweep", str(short), *words, "--cluster", address, "--json")
    assert (lost.code, lost.document["state"], lost.document["finished"]) == (1, "failed", 2)
    problem, way_on = lost.err.splitlines()
    assert problem.startswith(
        f"subflow: the Ray cluster at {address} was lost: Ray ended its client (code 1); what has"
    )
    assert way_on == "`subflow sweeps resume 1` makes the runs that are missing, with --cluster or without"
    resumed = subflow("sweeps", "resume", 1, "--db", tmp_path / "runs.db", "--jobs", 1, "--json")
    assert (resumed.code, resumed.document["reused"], resumed.document["finished"]) == (0, 2, 3)
