"""Starts programs on a drawn network again and again, and kills a random part of them with SIGKILL at a random moment.

``python -m tests.helpers.killed_emulations ROUNDS [SEED]`` prints what remained of each round.
"""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.helpers.emulations import TWO_PATHS

from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.emulation.core.emulation import Emulation, EmulationJob, job_document
from subflow_app.features.emulation.core.job_text import Program
from subflow_app.features.emulation.core.network import plan_emulation

_MARK = "SUBFLOW_KILLED_EMULATION"
_LONGEST_LIFE_S = 5.0
_PATIENCE_S = 10.0


def marked(mark: str) -> list[int]:
    """Ids of the processes with this mark in their environment."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if f"{_MARK}={mark}".encode() in (place / "environ").read_bytes():
                found.append(int(place.name))
        except OSError:
            continue
    return found


def machine() -> dict[str, list[str]]:
    """Things outside of the namespaces that an emulation could leave: interfaces and mounts."""
    return {
        "interfaces": sorted(entry.name for entry in Path("/sys/class/net").iterdir()),
        "mounts": Path("/proc/self/mounts").read_text().splitlines(),
    }


def namespaces_of(processes: Iterable[int]) -> set[str]:
    """Namespaces that processes are in, or hold open."""
    found = set()
    for pid in processes:
        for place in (*Path(f"/proc/{pid}/ns").glob("*"), *Path(f"/proc/{pid}/fd").glob("*")):
            try:
                target = str(place.readlink())
            except OSError:
                continue
            if re.match(r"(net|mnt|pid|user|uts|ipc|cgroup|time):\[", target):
                found.add(target)
    return found


def all_processes() -> list[int]:
    """Ids of all processes of this machine."""
    return [int(place.name) for place in Path("/proc").glob("[0-9]*")]


def kill_one(job: EmulationJob, mark: str, chance: random.Random) -> tuple[int, list[str]]:
    """One round; return the number of processes at the kill, and a line for each thing that remained."""
    before, others = machine(), namespaces_of(all_processes())
    command = os.fork()
    if command == 0:
        os.environ[_MARK] = mark
        emulation = Emulation(job)
        emulation.start()
        emulation.wait()
        os._exit(0)
    time.sleep(chance.uniform(0.0, _LONGEST_LIFE_S))
    parts = [command, *marked(mark)]
    own = namespaces_of(parts) - others
    present = all_processes()  # later ones may have new namespaces with the numbers of those that are gone
    os.kill(chance.choice(parts), signal.SIGKILL)
    time.sleep(chance.uniform(0.0, 0.2))
    os.kill(command, signal.SIGKILL)
    os.waitpid(command, 0)
    end_s = time.monotonic() + _PATIENCE_S
    left: list[str] = []
    while time.monotonic() < end_s:
        after = machine()
        left = [f"{kind}: {before[kind]} -> {after[kind]}" for kind in before if after[kind] != before[kind]]
        left += [f"process {pid}" for pid in marked(mark)]
        left += [f"namespace {each}" for each in own & namespaces_of(present)]
        if not left:
            break
        time.sleep(0.05)
    return len(parts), left


def main(rounds: int, seed: int) -> int:
    """Print and return the number of rounds after which something remained."""
    network = plan_emulation(read_scenario(Use.EMULATE, TWO_PATHS))
    programs = (Program("server", ("iperf3", "-s")), Program("client", ("iperf3", "-c", "server", "-t", "60")))
    job = EmulationJob(network, 1, programs, ends_with=1, uses_mptcp=True)
    job_document(job)  # loads what every round needs
    chance = random.Random(seed)
    sizes: Counter[int] = Counter()
    failures = 0
    for number in range(rounds):
        size, left = kill_one(job, f"{os.getpid()}-{number}", chance)
        sizes[size] += 1
        failures += bool(left)
        for line in left:
            sys.stdout.write(f"round {number}: {line}\n")
    found = ", ".join(f"{count} with {size}" for size, count in sorted(sizes.items()))
    sys.stdout.write(f"{rounds} rounds, {failures} with leftovers; processes at the kill: {found}\n")
    return failures


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1) else 0)
