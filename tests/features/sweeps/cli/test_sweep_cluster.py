"""The same sweep in one process, on all cores and on a cluster of which a worker is killed: byte by byte the same."""

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

pytest.importorskip("ray")

RUNS = 200
# Of a sweep that is longer than the time after which a cluster is lost.
SEEDS = 200
TIMEOUT_S = 280


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Names of sockets must be short, which those of the test's own folder are not."""
    folder = Path(tempfile.mkdtemp(prefix="sf-ray-"))
    yield folder
    for pid in processes_of(folder):
        with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def processes_of(folder: Path) -> dict[int, str]:
    """Command lines of the processes that name a folder in theirs; workers that do not, end with those that do."""
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


@pytest.mark.full("starts Ray")
@pytest.mark.timeout(300)
def test_results_are_the_same_bytes_whoever_makes_the_runs(
    subflow: Subflow, tmp_path: Path, short_folder: Path
) -> None:
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
    command = [sys.executable, "-m", "tests.helpers.ray_sweep", short_folder, RUNS // 2, *words("ray"), "--json"]
    on_cluster = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )

    assert on_cluster.returncode == 0, on_cluster.stderr
    killed = re.search(r"^killed (\d+)$", on_cluster.stderr, re.MULTILINE)
    assert killed is not None, on_cluster.stderr
    assert int(killed[1]) > 0
    document = json.loads(on_cluster.stdout)
    assert (document["finished"], document["failed"], document["state"]) == (RUNS, 0, "finished")
    assert one.out == cores.out == on_cluster.stdout
    tables = {(tmp_path / f"{name}.csv").read_bytes() for name in ("one", "cores", "ray")}
    assert len(tables) == 1
    assert processes_of(short_folder) == {}


@pytest.mark.full("starts Ray")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("whom", ["head", "gcs"])
def test_a_head_that_is_killed_ends_the_sweep_with_the_way_on(
    subflow: Subflow, tmp_path: Path, short_folder: Path, whom: str
) -> None:
    (tmp_path / "short.toml").write_text(SCENARIO.replace('"1s"', '"300ms"'), encoding="utf-8")
    words = ["sweep", tmp_path / "short.toml", "--axis", "links.wifi.loss=0%..9%/10", "--seeds", f"1..{SEEDS}"]
    words += ["--db", tmp_path / "ray.db", "--json"]
    command = [sys.executable, "-m", "tests.helpers.ray_sweep", short_folder, f"{whom}:5", *words]
    lost = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )

    assert lost.returncode == 1, lost.stderr
    assert re.search(r"^subflow: the Ray cluster at .* was lost: .*; what has ended is kept", lost.stderr, re.MULTILINE)
    assert "`subflow sweeps resume 1` makes the runs that are missing, with --cluster or without" in lost.stderr
    assert "terminate" not in lost.stderr  # Ray's own last words
    ended = re.search(r"^ended after (.*) s$", lost.stderr, re.MULTILINE)
    assert ended is not None
    assert float(ended[1]) < 30
    document = json.loads(lost.stdout)
    assert (document["state"], document["failed"]) == ("failed", 0)
    assert 5 <= document["finished"] < 10 * SEEDS
    assert processes_of(short_folder) == {}
    resumed = subflow("sweeps", "resume", 1, "--db", tmp_path / "ray.db", "--json")
    assert (resumed.code, resumed.document["reused"]) == (0, document["finished"])
    assert resumed.document["finished"] == 10 * SEEDS


@pytest.mark.full("starts Ray")
@pytest.mark.timeout(300)
def test_an_experiment_is_the_same_on_a_cluster(subflow: Subflow, tmp_path: Path, short_folder: Path) -> None:
    recipe = write_tiny(tmp_path)
    one = subflow("reproduce", recipe, "--no-store", "--jobs", "1", "--json")
    command = [sys.executable, "-m", "tests.helpers.ray_sweep", short_folder, 2, "reproduce", recipe]
    on_cluster = subprocess.run(
        [*map(str, command), "--no-store", "--json"], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )

    assert on_cluster.returncode == one.code == 0, on_cluster.stderr
    assert json.loads(on_cluster.stdout) == one.document
    assert processes_of(short_folder) == {}


@pytest.mark.full("starts Ray")
@pytest.mark.timeout(300)
def test_an_evaluation_is_the_same_on_a_cluster(subflow: Subflow, tmp_path: Path, short_folder: Path) -> None:
    (tmp_path / "short.toml").write_text(SCENARIO, encoding="utf-8")
    words = ["evaluate", "lia", "--scenario", str(tmp_path / "short.toml"), "--seeds", "1-4", "--json"]
    one = subflow(*words)
    command = [sys.executable, "-m", "tests.helpers.ray_sweep", str(short_folder), "5", *words]
    on_cluster = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)

    assert on_cluster.returncode == one.code == 0, on_cluster.stderr
    assert {**json.loads(on_cluster.stdout), "wall_s": 0} == {**one.document, "wall_s": 0}
    assert processes_of(short_folder) == {}
