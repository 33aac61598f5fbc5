"""The page on extending, followed to the letter: the files that it gives to begin with do what it says they do."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.core_program import copied_core, said_by
from tests.helpers.skeletons import SKELETONS, loaded_skeleton
from tests.helpers.window import TWO_PATHS

from subflow_agents import agent, registry
from subflow_agents.config import TrainingConfig
from subflow_agents.registry import AgentInfo
from subflow_agents.reports import NoControl, TrainingState
from subflow_agents.training import run_training
from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_sim import agent_spec
from subflow_sim.scenario import parse_scenario
from subflow_store import open_store

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")

# A small network with both, run to its end: what a user would do from a scenario.
_PROGRAM = """
#include <cstdio>
#include "scenarios.h"
using namespace subflow;
using namespace subflow::literals;
int main() {
    Scenario scenario = testing::linux_profile(20_s);
    const PathSpec fast = testing::add_path(scenario, {.loss = 0.001});
    const PathSpec slow = testing::add_path(scenario, {.one_way = 10_ms, .loss = 0.001});
    FlowSpec& flow = testing::add_mptcp(scenario, {fast, slow}, "scalable");
    flow.scheduler.name = "leastloaded";
    const Network network = testing::finished(scenario);
    std::printf("%.3f\\n", network.flow_result(0).goodput_bps / 1e6);
    return 0;
}
"""


def test_the_page_leads_to_each_of_them_and_to_files_that_are_there() -> None:
    assert set(re.findall(r"skeletons/([a-z0-9_.-]+)", PAGE)) == {
        path.name for path in SKELETONS.iterdir() if path.is_file()
    }
    named = re.findall(r"`((?:app|agents|sim|docs|assets|tests)/[\w./-]+)`", PAGE)
    assert len(named) > 15
    assert [path for path in named if not (ROOT / path).exists()] == []
    lists = (
        ("sim/core/cc/controllers.h", "using AnyController ="),
        ("agents/subflow_agents/registry.py", "_AGENTS: "),
        ("app/subflow_app/shell/features.py", "KINDS = "),
        ("app/subflow_app/toolkit/workspaces.py", "PANELS = "),
        ("app/subflow_app/toolkit/workspaces.py", "ARRANGEMENTS: "),
    )
    for path, line in lists:
        assert path in named
        assert line in (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.full("compiles the core")
def test_a_controller_and_a_scheduler_are_a_file_and_a_line(tmp_path: Path) -> None:
    core = copied_core(tmp_path)
    shutil.copyfile(SKELETONS / "scalable.h", core / "cc" / "scalable.h")
    shutil.copyfile(SKELETONS / "least_loaded.h", core / "sched" / "least_loaded.h")
    for path, header, name in (
        (core / "cc" / "controllers.h", "scalable", "Scalable"),
        (core / "sched" / "schedulers.h", "least_loaded", "LeastLoaded"),
    ):
        text = path.read_text(encoding="utf-8")
        listed = text.replace("std::variant<", f"std::variant<{name}, ", 1)
        included = listed.replace("#include <vector>\n", f'#include <vector>\n#include "{header}.h"\n', 1)
        path.write_text(included, encoding="utf-8")
    goodput_mbps = float(said_by(tmp_path, core, _PROGRAM, [ROOT / "tests" / "sim_core" / "scenarios.cpp"]))
    assert 5 < goodput_mbps < 20  # of two links of 10 Mbit/s


def test_a_plot_is_a_file_and_a_line() -> None:
    plot = loaded_skeleton("plot.py", "subflow_app.features.plots.core.queueing_delay").PLOT
    scenario = parse_scenario(TWO_PATHS)
    with open_store(":memory:") as store:
        result = RunJob(scenario, TWO_PATHS, seed=1, store=store, name="two").run()
        assert result.run_id is not None
        traces = StoredTraces(store, result.run_id)
        assert plot.is_in(traces)
        curves = plot.curves(traces)
    assert [curve.owner for curve in curves] == ["download/1", "download/2"]
    for curve in curves:
        known = curve.values[np.isfinite(curve.values)]
        assert known.size > 0
        assert known.min() >= 0
        assert known.max() < 0.3  # no queue of this network is longer


@pytest.fixture
def my_agent(monkeypatch: pytest.MonkeyPatch) -> AgentInfo:
    """The agent of the page, with its line in the list."""
    info: AgentInfo = loaded_skeleton("agent.py", "subflow_agents.my_agent").AGENT
    monkeypatch.setattr(registry, "_AGENTS", {**registry._AGENTS, info.name: ("my_agent", "AGENT")})
    return info


def test_an_agent_is_a_file_and_a_line(my_agent: AgentInfo) -> None:
    assert agent("my-agent") is my_agent
    assert {option.name: option.default for option in my_agent.options()}["history"] == 4
    spec = agent_spec(my_agent.controller, my_agent.controller_options(my_agent.config()))
    assert spec is not None
    assert spec.scope == my_agent.scope


@pytest.mark.full("loads PyTorch and trains")
def test_it_is_trained_and_leaves_a_policy(my_agent: AgentInfo, tmp_path: Path) -> None:
    text = (ROOT / "assets" / "scenarios" / "train-single-path.toml").read_text(encoding="utf-8")
    config = TrainingConfig("my-agent", text, steps=200, num_envs=2, evaluation_every=0, folder=str(tmp_path))
    result = run_training(config, NoControl(), lambda report: None)
    assert result.state is TrainingState.FINISHED
    assert (tmp_path / "policy.safetensors").is_file()
