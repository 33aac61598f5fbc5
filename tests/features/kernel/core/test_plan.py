"""The part of a scenario that the kernel can run, its mapping, and the refused parts by name."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from typing import Any

import pytest
from tests.helpers.members import for_each

from subflow_app.features.kernel.core.compare import Case
from subflow_app.features.kernel.core.kernel_script import kernel_script
from subflow_app.features.kernel.core.network_plan import NetworkPlan, PathChange
from subflow_app.features.kernel.core.plan import kernel_scripts, plan_network
from subflow_app.foundation.errors import InputError
from subflow_sim.scenario import Flow, parse_scenario
from subflow_sim.script import compile_script
from subflow_sim.script_reader import read_script

SCENARIO = """\
format = 1
duration = "10s"
warmup = "2s"
nodes = { server = {}, router = { kind = "router" }, client = {} }
[links]
access = { ends = ["client", "router"], rate = "20Mbit/s", delay = "5ms", queue = "40pkt" }
[links.core]
ends = ["router", "server"]
rate = "10Mbit/s"
delay = "15ms"
queue = "60kB"
loss = "1%"
reverse = { queue = "1000pkt", loss = 0 }
[links.lte]
ends = ["server", "client"]
rate = "4Mbit/s"
delay = "40ms"
queue = "30pkt"
[flows.bulk]
kind = "mptcp"
from = "server"
to = "client"
controller = "uncoupled"
paths = [["core", "access"], ["lte"]]
[flows.other]
kind = "tcp"
from = "server"
to = "client"
controller = "newreno"
paths = [["lte"]]
count = 2
start = "1s"
stop = "8s"
size = "1MB"
recv_buffer = "500kB"
"""


def plan_of(*overrides: str) -> NetworkPlan:
    return plan_network(parse_scenario(SCENARIO, overrides=overrides), seed=7)


def test_paths_follow_the_links_in_the_direction_of_the_data() -> None:
    plan = plan_of()
    # Directions are numbered forward, reverse, link by link: access 0 1, core 2 3, lte 4 5. The data runs from server
    # to client: against core (router to server) and access (client to router), along lte (server to client).
    assert [link.name for link in plan.links][:3] == ["access/forward", "access/reverse", "core/forward"]
    first, second = plan.flows[0].paths
    assert (first.data, first.acks) == ((3, 1), (0, 2))
    assert (second.data, second.acks) == ((4,), (5,))
    assert plan.base_rtt_s(first) == pytest.approx(0.040)


def test_links_and_flows_keep_their_values() -> None:
    plan = plan_of()
    core = plan.links[2]
    assert (core.name, core.rate_bps, core.delay_s, core.loss) == ("core/forward", 10e6, 0.015, 0.01)
    emulated = json.loads(plan.document)["scenario"]
    assert [link["name"] for link in emulated["links"]] == [link.name for link in plan.links]
    assert (emulated["links"][2]["queue_limit_bytes"], emulated["links"][3]["queue_limit_pkts"]) == (60000, 1000)
    assert emulated["flows"] == []
    bulk, *others = plan.flows
    assert (bulk.is_mptcp, bulk.congestion_control, bulk.controller) == (True, "reno", "uncoupled newreno")
    assert [flow.name for flow in others] == ["other.1", "other.2"]
    for flow in others:
        assert (flow.start_s, flow.stop_s, flow.size_bytes, flow.recv_buffer_bytes) == (1.0, 8.0, 1_000_000, 500_000)
    assert (plan.duration_s, plan.warmup_s, plan.mtu_bytes, plan.seed) == (10.0, 2.0, 1500, 7)


def test_changes_of_links_and_paths_are_mapped() -> None:
    plan = plan_of(
        "flows.bulk.late=[2]",
        'links.lte.queue={ discipline = "codel" }',
        'links.lte.jitter={ spread = "2ms" }',
        'events=[{at = "1s", link = "lte", direction = "forward", up = false},'
        ' {at = "2s", flow = "bulk", subflow = 2, open = true}, {at = "3s", flow = "bulk", subflow = 2, backup = true},'
        ' {at = "5s", link = "core", rate = "30Mbit/s", delay = "1ms", loss = "5%"}]',
    )
    emulated = json.loads(plan.document)["scenario"]
    assert [(event["at"] // 10**9, event["link"]) for event in emulated["events"]] == [(1, 4), (5, 2), (5, 3)]
    assert {"discipline", "jitter"} <= set(emulated["links"][4])
    assert [link.rate_bps for link in plan.links[2:4]] == [30e6, 30e6]
    bulk = plan.flows[0]
    assert (bulk.late, bulk.backup) == ((1,), ())
    assert bulk.changes == (PathChange(2.0, 1, is_there=True, is_backup=False), PathChange(3.0, 1, True, True))
    assert NetworkPlan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_traffic_is_estimated_by_the_slowest_links() -> None:
    # core (10 Mbit/s) and lte (4 Mbit/s, shared by three flows) are the bottlenecks; without loss they fill up.
    assert plan_of("links.core.loss=0").total_rate_bps == pytest.approx(14e6)
    # The data crosses core in reverse, which has no loss; with 1 % there Reno has 4 / sqrt(0.01) = 40 packets of
    # 12 000 bits per 40 ms, 12 Mbit/s, which is no less than the link; at 4 % it has 20, 6 Mbit/s.
    assert plan_of("links.core.reverse.loss=0.01").total_rate_bps == pytest.approx(14e6)
    assert plan_of("links.core.reverse.loss=0.04").total_rate_bps == pytest.approx(10e6)


@for_each(
    ("overrides", "named"),
    [
        (["flows.bulk.controller=wvegas"], ('flows.bulk: controller = "wvegas"', "uncoupled", "lia, olia, balia")),
        (['flows.bulk.controller={ name = "lia", arithmetic = "kernel" }'], ("lia with arithmetic = kernel",)),
        (["flows.bulk.controller=confluence"], ('flows.bulk: controller = "confluence"',)),
        (['flows.other.controller={ name = "cubic", fast_convergence = false }'], ("cubic with fast_convergence =",)),
        (['flows.bulk.scheduler={ name = "minrtt", penalisation = false }'], ("minrtt with penalisation = false",)),
        (
            ['events=[{at = "1s", flow = "bulk", controller = "lia"}]'],
            ("events[0]: controller", "changes of links, open and backup"),
        ),
        (['links.lte.drops=["other.1/1:3"]'], ("links.lte: drops by packet number", "random")),
        (['events=[{at = "1s", flow = "bulk", subflow = 1, open = false}]'], ("events[0]: subflow 1", "from 2 on")),
        (["flows.bulk.backup=[1]"], ("flows.bulk: backup = 1", "from 2 on")),
        (["start_jitter=1s"], ("start_jitter = 1 s", "0")),
        (["mss=9500"], ("mss = 9500", "524 to 8948")),
        (["flows.other.count=64"], ("65 flows", "up to 64")),
        ([f"flows.bulk.paths={[['lte']] * 9}"], ("9 subflows",)),
        # All problems are reported at once.
        (["flows.bulk.controller=wvegas", "start_jitter=1s"], ("flows.bulk", "start_jitter")),
        (["links.access.rate=1Gbit/s", "links.core.rate=197Mbit/s"], ("201 Mbit/s together", "200 Mbit/s")),
    ],
)
def test_what_has_no_counterpart_is_refused_by_name(overrides: list[str], named: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="the kernel cannot run this scenario") as refused:
        plan_of(*overrides)
    assert [part for part in named if part not in str(refused.value)] == []


def test_a_constant_rate_flow_is_refused() -> None:
    cbr = f'{SCENARIO}[flows.noise]\nkind = "cbr"\nfrom = "server"\nto = "client"\nrate = "1Mbit/s"\n'
    with pytest.raises(InputError, match=r'flows\.noise: kind = "cbr"; supported: tcp, mptcp'):
        plan_network(parse_scenario(cbr), seed=1)


def test_new_fields_of_flows_are_refused_until_they_are_mapped() -> None:
    @dataclass(frozen=True)
    class NewFlow(Flow):
        lifetime_s: float | None = None

    scenario = parse_scenario(SCENARIO)
    other = scenario.flows["other"]
    flow = NewFlow(**{one.name: getattr(other, one.name) for one in fields(other)}, lifetime_s=3.0)
    with pytest.raises(InputError, match=r"flows\.other: lifetime_s = 3\.0; supported: controller, paths"):
        plan_network(replace(scenario, flows={**scenario.flows, "other": flow}), seed=1)


@for_each(("key", "value"), [("send_buffer_bytes", 64_000), ("subflow_limit", 2)])
def test_what_the_kernel_has_no_counterpart_of_is_refused(key: str, value: Any) -> None:
    scenario = parse_scenario(SCENARIO)
    changed = replace(scenario.flows["other"], **{key: value})
    with pytest.raises(InputError, match=rf"flows\.other: {key} = "):
        plan_network(replace(scenario, flows={**scenario.flows, "other": changed}), seed=1)


def test_scripts_and_coupled_controllers_are_loaded() -> None:
    scenario = parse_scenario(
        SCENARIO + '[controllers.mine]\nscript = "vegas"\n', overrides=["flows.bulk.controller=olia"]
    )
    own = parse_scenario(
        SCENARIO + '[controllers.mine]\nscript = "vegas"\n',
        overrides=['flows.other.controller={ name = "mine", beta = 6 }'],
    )
    plan = plan_network(scenario, seed=1)
    assert [flow.congestion_control for flow in plan.flows if flow.name == "bulk"] == ["script of bulk"]
    assert plan.flows[0].controller == "olia"
    (olia,) = kernel_scripts(scenario).values()
    assert (olia.word, olia.is_coupled, olia.governs_rate) == ("olia", True, False)
    (mine,) = kernel_scripts(own).values()
    usual = kernel_script(compile_script(read_script("vegas", None), "mine", "controller"))
    assert mine.blob != usual.blob  # another beta
    assert kernel_script(compile_script(read_script("vegas", None), "mine", "controller"), {"beta": 6}) == mine


def test_the_script_of_a_monitoring_controller_is_refused_with_its_line() -> None:
    scenario = parse_scenario(
        SCENARIO + '[controllers.mine]\nscript = "pcc"\n', overrides=["flows.other.controller=mine"]
    )
    with pytest.raises(InputError, match="mine line 38: plan: the kernel reports no monitor intervals"):
        Case.of(scenario, seed=1, socket_buffer_bytes=1 << 20)
