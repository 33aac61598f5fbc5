"""A sweep on a Ray cluster of two workers on this machine, one of which is killed half-way, in a separate process.

    python -m tests.helpers.ray_sweep FOLDER [head:|gcs:]KILL_AFTER WORDS...

starts the cluster with its files in FOLDER and calls `subflow WORDS... --cluster ADDRESS`. After so many runs it kills
the process of one worker with SIGKILL, then prints the output of the command and ends the cluster. On stderr it prints
the killed process and the time until the end of the command. With `head:` it kills the processes of the cluster's head
instead of a worker, and with `gcs:` only the process that keeps the state of the cluster.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Before Ray is imported.
os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DISABLE_IMPORT_WARNING": "1", "RAY_DEDUP_LOGS": "0"}

_OBJECT_STORE_BYTES = 80 << 20


def workers(pids: set[int]) -> list[int]:
    """The workers with a running task, below any of these processes."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            title = (entry / "cmdline").read_bytes()
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent in pids and title.startswith(b"ray::carry_out"):
            found.append(int(entry.name))
    return found


def main() -> int:
    folder, when, *words = sys.argv[1:]
    whom, _, kill_after = when.rpartition(":")
    # Ray writes the address of the cluster below this folder regardless of its temp_dir, and requires the folder.
    os.environ["RAY_TMPDIR"] = folder
    Path(folder, "ray").mkdir()
    from ray.cluster_utils import Cluster

    from subflow_app.foundation.jobs.cluster import RayCluster
    from subflow_app.foundation.jobs.tasks import Answer
    from subflow_app.shell.commands import app

    options: dict[str, Any] = {"num_cpus": 1, "object_store_memory": _OBJECT_STORE_BYTES}
    head = options | {
        "temp_dir": folder,
        "include_dashboard": False,
        "no_monitor": True,
        "include_log_monitor": False,
    }
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        nodes = [cluster.head_node, cluster.add_node(**options, include_log_monitor=False)]
        raylets = {info.process.pid for node in nodes for info in node.all_processes["raylet"]}
        assert cluster.head_node is not None
        of_head = cluster.head_node.all_processes
        kinds = {"head": ("gcs_server", "raylet"), "gcs": ("gcs_server",)}.get(whom, ())
        head_pids = [info.process.pid for kind in kinds for info in of_head[kind]]
        came, killed, killed_at_s = 0, 0, 0.0
        wait = RayCluster.wait

        def wait_and_kill(self: RayCluster, timeout_s: float) -> Sequence[Answer]:
            nonlocal came, killed, killed_at_s
            answers = wait(self, timeout_s)
            came += len(answers)
            if killed or came < int(kill_after):
                return answers
            killed_at_s = time.monotonic()
            for pid in head_pids or workers(raylets)[:1]:
                killed = pid
                os.kill(killed, signal.SIGKILL)
            return answers

        RayCluster.wait = wait_and_kill
        try:
            app([*words, "--cluster", cluster.address], prog_name="subflow")
        except SystemExit as end:
            sys.stderr.write(f"killed {killed}\n")
            if killed:
                sys.stderr.write(f"ended after {time.monotonic() - killed_at_s:.1f} s\n")
            return int(end.code or 0)
        return 0
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    sys.exit(main())
