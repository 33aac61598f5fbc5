"""Figures of simulations that the guide states: made again, and compared with what is written.

A row has the page, the words with the figure in it, and what makes it. Both the words and the figure have to be there:
whoever changes one finds the other here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from subflow_app.core.scenarios.scenario_source import open_scenario
from subflow_sim import Simulation

DOCS = Path(__file__).resolve().parents[2] / "docs"


def _flows(name: str, *overrides: str, seed: int | None = None) -> dict[str, dict[str, float]]:
    """What each flow of a shipped scenario came to."""
    scenario = open_scenario(name, overrides=overrides, seed=seed).scenario
    simulation = Simulation(scenario, seed=scenario.seed)
    simulation.run_until(scenario.duration_s)
    return {flow["name"]: flow for flow in simulation.summary()["flows"]}


def _goodput(name: str, *overrides: str, flow: str = "download", seed: int | None = None) -> float:
    return float(_flows(name, *overrides, seed=seed)[flow]["goodput_bps"])


def _of_best_path(*overrides: str) -> float:
    best = _goodput("lab-unlike-paths", 'flows.download.paths=[["wifi"]]')
    return 100 * _goodput("lab-unlike-paths", *overrides) / best


def _over_cubic() -> float:
    return _goodput("rlx-alternating") / _goodput("rlx-alternating", "flows.download.controller=cubic")


def _over_tcp(subflows: int, choose: Callable[[list[float]], float]) -> float:
    """What LIA gets over what a TCP beside it gets, the least or the most of seeds 1 to 5."""
    path = '["mptcp-in", "bottleneck", "mptcp-out"]'
    paths = f"flows.mptcp.paths=[{', '.join([path] * subflows)}]"
    found = []
    for seed in range(1, 6):
        flows = _flows("t-1link", paths, "flows.mptcp.controller=lia", seed=seed)
        found.append(flows["mptcp"]["goodput_bps"] / flows["tcp"]["goodput_bps"])
    return choose(found)


STATED: tuple[tuple[str, str, Callable[[], float]], ...] = (
    ("schedulers/minrtt.md", "to {52} % with them", lambda: _of_best_path("flows.download.scheduler=minrtt")),
    ("schedulers/minrtt.md", "to {32} % without", _of_best_path),
    ("algorithms/rl-explore.md", "about {1.21} times the packets that CUBIC moves", _over_cubic),
    (
        "algorithms/rl-explore.md",
        "for a loss of {1.8} %",
        lambda: 100 * _flows("rlx-alternating")["download"]["loss_ratio"],
    ),
    ("algorithms/lia.md", "{1.05} to 1.25 for two", lambda: _over_tcp(2, min)),
    ("algorithms/lia.md", "1.05 to {1.25} for two", lambda: _over_tcp(2, max)),
    ("algorithms/lia.md", "{1.8} to 2.3 for five", lambda: _over_tcp(5, min)),
    ("algorithms/lia.md", "1.8 to {2.3} for five", lambda: _over_tcp(5, max)),
)


@pytest.mark.parametrize(("page", "words", "made"), STATED, ids=[f"{page}: {words}" for page, words, _ in STATED])
def test_a_stated_figure_is_what_the_simulator_gives(page: str, words: str, made: Callable[[], float]) -> None:
    text = " ".join((DOCS / page).read_text(encoding="utf-8").split())
    assert words.replace("{", "").replace("}", "") in text
    (written,) = re.findall(r"\{([\d.]+)\}", words)
    decimals = len(written.partition(".")[2])
    # To the last digit that is written.
    assert f"{made():.{decimals}f}" == written
