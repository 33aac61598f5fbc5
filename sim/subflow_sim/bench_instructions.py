"""Instructions per delivered packet, counted by callgrind: a measure independent of other load on the machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

from subflow_sim.errors import SimError

# Subtracting the shorter run excludes the start of Python, the imports and the construction of the simulation.
_SHARES = (0.1, 1.0)

_CHILD = """
import sys
from subflow_sim.bench import WORKLOADS
from subflow_sim.simulation import Simulation
simulation = Simulation(WORKLOADS[sys.argv[1]].scenario())
simulation.run_until(simulation.duration_s * float(sys.argv[2]))
print(simulation.packets)
"""


def has_valgrind() -> bool:
    """True if instructions can be counted: a frozen program contains no Python executable for valgrind to run."""
    return not getattr(sys, "frozen", False) and shutil.which("valgrind") is not None


def instructions_per_packet(name: str) -> float:
    """Instructions of the simulator per delivered data packet in a workload of the bench, without the start phase.

    Args:
        name: key of `subflow_sim.bench.WORKLOADS`.

    Raises:
        SimError: if valgrind is missing or does not report its count.
    """
    (short_instructions, short_packets), (long_instructions, long_packets) = (_count(name, share) for share in _SHARES)
    return (long_instructions - short_instructions) / (long_packets - short_packets)


def _count(name: str, share: float) -> tuple[int, int]:
    """Instructions of a process that simulates this share of the workload, and delivered packets."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise SimError("valgrind is not installed")
    command = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    # Each run starts alike: no randomised hashing, no bytecode files that a first run leaves to later runs, and no
    # threads of NumPy's BLAS, whose spinning adds up to 2 % of the count.
    env = os.environ | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, sys.executable, "-c", _CHILD, name, str(share)], capture_output=True, text=True, env=env, check=False
    )
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or collected is None:
        raise SimError(f"valgrind did not count: {done.stderr[-500:]}")
    return int(collected[1]), int(done.stdout)
