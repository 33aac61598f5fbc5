"""Measurements of the simulator's cost exist and are plausible; no test asserts their size."""

from __future__ import annotations

from tests.helpers.members import for_each

from subflow_sim.bench_scale import DRL_CC_ENVIRONMENT, SERIES, environment_rate, mesh_text
from subflow_sim.scenario import parse_scenario


@for_each("name", SERIES)
def test_the_smallest_size_of_each_can_be_measured(name: str) -> None:
    series = SERIES[name]
    assert series.sizes == tuple(sorted(series.sizes))
    point = series.measure(series.sizes[0], 0.001)
    assert point.size == series.sizes[0]
    assert point.value > 0
    assert (point.fresh_bytes is not None) == (name == "flows")


def test_memory_is_that_of_a_flow_and_grows_while_it_runs() -> None:
    one, ten = (SERIES["flows"].measure(size, 0.001) for size in (1, 10))
    assert one.fresh_bytes is not None
    assert ten.fresh_bytes is not None
    assert ten.running_bytes is not None
    assert 1024 < ten.fresh_bytes < one.fresh_bytes
    assert ten.fresh_bytes < ten.running_bytes
    assert ten.sampled_bytes is not None
    assert 4096 < ten.sampled_bytes < 11 * 4 * 1000
    assert ten.fresh_resident_bytes is None


def test_the_mesh_has_the_links_of_a_square_and_flows_between_different_nodes() -> None:
    scenario = parse_scenario(mesh_text(4, 10), file="<mesh>")
    assert (len(scenario.nodes), len(scenario.links), len(scenario.flows)) == (32, 2 * 4 * 3 + 16, 10)
    assert all(flow.source != flow.destination for flow in scenario.flows.values())


def test_a_step_of_many_environments_counts_as_many() -> None:
    one, many = (environment_rate(DRL_CC_ENVIRONMENT, "drl-cc", envs, min_cpu_s=0.05) for envs in (1, 8))
    # A step of eight environments takes at most as long as eight steps of one; the factor of a half allows for other
    # load.
    assert many > one / 2
