"""The same sweep in one process, on all cores, and on a cluster that loses a worker: byte for byte the same."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.features.gallery.core.tiny import write_tiny
from tests.features.sweeps.core.plans import SCENARIO
from tests.helpers.command_line import Subflow
from tests.helpers.present import present

pytest.importorskip("ray")
pytestmark = [pytest.mark.full("starts Ray"), pytest.mark.timeout(300)]

RUNS = 200
# Seeds of a sweep longer than the timeout after which a cluster counts as lost.
SEEDS = 200
TIMEOUT_S = 280


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder with a short path: names of sockets must be shorter than in the test's own folder."""
    folder = Path(tempfile.mkdtemp(prefix="sf-ray-"))
    yield folder
    for pid in processes_of(folder):
        with contextlib.suppress(ProcessLookupError):  # the process may have ended
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def on_cluster(folder: Path, killed: object, *words: object) -> subprocess.CompletedProcess[str]:
    """Runs a command on its own cluster and kills a part of the cluster after so many runs; all its processes end."""
    command = [sys.executable, "-m", "tests.helpers.ray_sweep", folder, killed, *words]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert processes_of(folder) == {}
    return done


def processes_of(folder: Path) -> dict[int, str]:
    """Command lines of the processes that name a folder; other workers end together with these."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(folder) in words:
                found[int(entry.name)] = words
    return found


def test_results_are_the_same_wherever_runs_are_made(subflow: Subflow, tmp_path: Path, short_folder: Path) -> None:
    (tmp_path / "short.toml").write_text(SCENARIO.replace('"1s"', '"300ms"'), encoding="utf-8")
    # 10 losses x 2 controllers x 10 seeds
    plan = 'format = 1\nscenario = "short.toml"\nseeds = "1..10"\n[axes]\n"links.wifi.loss" = "0%..9%/10"\n'
    plan += '"flows.download.controller" = ["lia", "olia"]\n'
    (tmp_path / "a.sweep.toml").write_text(plan, encoding="utf-8")

    def words(name: str) -> list[object]:
        return ["sweep", tmp_path / "a.sweep.toml", "--db", tmp_path / f"{name}.db", "--out", tmp_path / f"{name}.csv"]

    one = subflow(*words("one"), "--jobs", "1", "--json")
    cores = subflow(*words("cores"), "--jobs", "all", "--json")
    assert (one.code, one.err, cores.code, cores.err) == (0, "", 0, "")
    made = on_cluster(short_folder, RUNS // 2, *words("ray"), "--json")

    assert made.returncode == 0, made.stderr
    killed = re.search(r"^killed (\d+)$", made.stderr, re.MULTILINE)
    assert killed is not None, made.stderr
    assert int(killed[1]) > 0
    document = json.loads(made.stdout)
    assert (document["finished"], document["failed"], document["state"]) == (RUNS, 0, "finished")
    assert one.out == cores.out == made.stdout
    tables = {(tmp_path / f"{name}.csv").read_bytes() for name in ("one", "cores", "ray")}
    assert len(tables) == 1


@pytest.mark.parametrize("whom", ["head", "gcs"])
def test_a_killed_head_ends_the_sweep(subflow: Subflow, tmp_path: Path, short_folder: Path, whom: str) -> None:
    (tmp_path / "short.toml").write_text(SCENARIO.replace('"1s"', '"300ms"'), encoding="utf-8")
    words = ["sweep", tmp_path / "short.toml", "--axis", "links.wifi.loss=0%..9%/10", "--seeds", f"1..{SEEDS}"]
    words += ["--db", tmp_path / "ray.db", "--json"]
    lost = on_cluster(short_folder, f"{whom}:5", *words)

    assert lost.returncode == 1, lost.stderr
    assert re.search(r"^subflow: the Ray cluster at .* was lost: .*; what has ended is kept", lost.stderr, re.MULTILINE)
    assert "`subflow sweeps resume 1` makes the runs that are missing, with --cluster or without" in lost.stderr
    assert "terminate" not in lost.stderr  # Ray's own last message
    ended = present(re.search(r"^ended after (.*) s$", lost.stderr, re.MULTILINE))
    assert float(ended[1]) < 30
    document = json.loads(lost.stdout)
    assert (document["state"], document["failed"]) == ("failed", 0)
    assert 5 <= document["finished"] < 10 * SEEDS
    resumed = subflow("sweeps", "resume", 1, "--db", tmp_path / "ray.db", "--json")
    assert (resumed.code, resumed.document["reused"]) == (0, document["finished"])
    assert resumed.document["finished"] == 10 * SEEDS


def test_an_experiment_is_the_same_on_a_cluster(subflow: Subflow, tmp_path: Path, short_folder: Path) -> None:
    recipe = write_tiny(tmp_path)
    one = subflow("reproduce", recipe, "--no-store", "--jobs", "1", "--json")
    made = on_cluster(short_folder, 2, "reproduce", recipe, "--no-store", "--json")

    assert made.returncode == one.code == 0, made.stderr
    assert json.loads(made.stdout) == one.document


def test_an_evaluation_is_the_same_on_a_cluster(subflow: Subflow, tmp_path: Path, short_folder: Path) -> None:
    (tmp_path / "short.toml").write_text(SCENARIO, encoding="utf-8")
    words = ["evaluate", "lia", "--scenario", str(tmp_path / "short.toml"), "--seeds", "1-4", "--json"]
    one = subflow(*words)
    made = on_cluster(short_folder, 5, *words)

    assert made.returncode == one.code == 0, made.stderr
    assert {**json.loads(made.stdout), "wall_s": 0} == {**one.document, "wall_s": 0}
