"""A run does not depend on its environment: hash seed, locale, threads, snapshots, recording of decisions.

Each is compared with the stored signatures of the shipped scenarios. `dev.py test --full` compares compilers and
optimisation levels as well (tests/sim_core/compare_signatures.py).
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.golden.update import SIGNATURES, kept_in, shipped, signature_of

from subflow_sim import Simulation
from subflow_sim.decisions import DecisionLimits

ROOT = Path(__file__).parents[2]
KEPT = kept_in(SIGNATURES)
# One scenario of each kind: several paths, random losses and agents, a managed queue, a rate trace, a learned policy.
NAMES = ("demo", "drlcc-sc1", "aqm-fq-codel", "lte-trace", "rlx-alternating")

_CHILD = """
import json, locale, sys
locale.setlocale(locale.LC_ALL, "")
from tests.golden.update import shipped, signature_of
scenarios = shipped()
print(json.dumps([format(0.5, "n"), {name: signature_of(scenarios[name]) for name in sys.argv[1:]}]))
"""


def _signatures_with(names: tuple[str, ...], **environment: str) -> tuple[str, dict[str, str]]:
    """The number 0.5 in the locale of another process, and the signatures that it computes."""
    words = [sys.executable, "-c", _CHILD, *names]
    said = subprocess.check_output(words, cwd=ROOT, env=os.environ | environment, text=True)
    half, signatures = json.loads(said)
    return half, signatures


def _kept(names: tuple[str, ...]) -> dict[str, str]:
    return {name: KEPT[name] for name in names}


def test_the_order_of_hashes_has_no_say() -> None:
    assert _signatures_with(NAMES, PYTHONHASHSEED="4294967295")[1] == _kept(NAMES)


def test_a_locale_that_writes_a_comma_has_no_say(tmp_path: Path) -> None:
    made = subprocess.run(
        ["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"], capture_output=True, check=False
    )
    if not (tmp_path / "de_DE.UTF-8" / "LC_NUMERIC").exists():
        pytest.skip(f"localedef has made no German locale here: {made.stderr.decode(errors='replace')[-200:]}")
    half, signatures = _signatures_with(NAMES, LOCPATH=str(tmp_path), LC_ALL="de_DE.UTF-8")
    assert half == "0,5"
    assert signatures == _kept(NAMES)


def test_runs_beside_each_other_in_threads_have_no_say() -> None:
    scenarios = shipped()
    with ThreadPoolExecutor(len(NAMES)) as threads:
        found = dict(zip(NAMES, threads.map(lambda name: signature_of(scenarios[name]), NAMES), strict=True))
    assert found == _kept(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_neither_snapshots_nor_recorded_decisions_have_a_say(name: str) -> None:
    draws = random.Random(f"snapshots of {name}")
    simulation = Simulation(shipped()[name], sample_interval_s=1.0, decisions=DecisionLimits())
    snapshots = []
    for time_s in sorted(draws.uniform(0, simulation.duration_s) for _ in range(3)):
        simulation.run_until(time_s)
        simulation.take_decisions()
        snapshots.append(simulation.snapshot())
    simulation.run_until(simulation.duration_s)
    assert simulation.signature() == KEPT[name]
    for snapshot in draws.sample(snapshots, 2):
        simulation.restore(snapshot)
        simulation.run_until(simulation.duration_s)
        assert simulation.signature() == KEPT[name]
