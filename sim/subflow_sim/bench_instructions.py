"""Instructions per delivered packet or per crossing of a link, counted by callgrind: independent of other load."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

from subflow_sim.errors import SimError

# Subtracting the shorter run excludes the start of Python, the imports and the construction of the simulation.
_SHARES = (0.1, 1.0)
_MESH_SHARES = (0.005, 0.01)

_CHILD = """
import sys
from subflow_sim.bench import WORKLOADS
from subflow_sim.simulation import Simulation
simulation = Simulation(WORKLOADS[sys.argv[1]].scenario())
simulation.run_until(simulation.duration_s * float(sys.argv[2]))
print(simulation.packets)
"""
_MESH_CHILD = """
import sys
from subflow_sim.bench_scale import mesh_scenario
from subflow_sim.simulation import Simulation
simulation = Simulation(mesh_scenario())
simulation.run_until(simulation.duration_s * float(sys.argv[1]))
print(simulation.link_crossings)
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
    return _ratio(*(_count(_CHILD, name, share) for share in _SHARES))


def instructions_per_crossing() -> float:
    """Instructions of the simulator per packet and link in the mesh of `subflow_sim.bench_scale`, from 0.5 to 1 s.

    Raises:
        SimError: if valgrind is missing or does not report its count.
    """
    return _ratio(*(_count(_MESH_CHILD, share) for share in _MESH_SHARES))


def _ratio(short: tuple[int, int], long: tuple[int, int]) -> float:
    """Instructions per unit in the part of the longer run that the shorter run lacks."""
    return (long[0] - short[0]) / (long[1] - short[1])


def _count(child: str, *arguments: object) -> tuple[int, int]:
    """Instructions of a Python process that runs `child`, and the number that it prints."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise SimError("valgrind is not installed")
    command = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    # Each run starts alike: no randomised hashing, no bytecode files that a first run leaves to later runs, and no
    # threads of NumPy's BLAS, whose spinning adds up to 2 % of the count.
    env = os.environ | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, sys.executable, "-c", child, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or collected is None:
        raise SimError(f"valgrind did not count: {done.stderr[-500:]}")
    return int(collected[1]), int(done.stdout)
