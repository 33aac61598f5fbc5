"""The plan of a testbed: addresses, routes of each path, MPTCP endpoints."""

from __future__ import annotations

import ipaddress
from dataclasses import replace

import pytest

from subflow_app.features.kernel.core.testbed_plan import MAX_ENDPOINTS, TestbedPlan, interface_names, plan_testbed
from subflow_app.foundation.errors import InputError
from subflow_sim.scenario import load_scenario, parse_scenario
from subflow_sim.shipped import shipped_scenarios

DIAMOND = """
format = 1
duration = "10s"
[nodes.client]
[nodes.r1]
kind = "router"
[nodes.r2]
kind = "router"
[nodes.server]
[links.wifi]
ends = ["client", "r1"]
rate = "20Mbit/s"
[links.lte]
ends = ["r2", "client"]
rate = "10Mbit/s"
[links.core1]
ends = ["r1", "server"]
rate = "100Mbit/s"
[links.core2]
ends = ["r2", "server"]
rate = "100Mbit/s"
[links.between]
ends = ["r1", "r2"]
rate = "100Mbit/s"
[flows.up]
kind = "mptcp"
from = "client"
to = "server"
paths = PATHS
"""
TWO = '[["wifi", "core1"], ["lte", "core2"]]'


def plan_of(paths: str, more: str = "") -> TestbedPlan:
    return plan_testbed(parse_scenario(DIAMOND.replace("PATHS", paths) + more))


def walk(plan: TestbedPlan, start: str, source: str, destination: str) -> list[str]:
    """Nodes that a packet visits, by the rules and tables of the plan alone."""
    tables = {}
    for route in plan.routes:
        there, back = route.hops, tuple(hop.back for hop in reversed(route.hops))
        for ends, chain in (((route.source, route.destination), there), ((route.destination, route.source), back)):
            for hop in chain:
                assert (hop.source, ends[0].ipv4, ends[1].ipv4) not in tables, "one rule for a pair of addresses"
                tables[hop.source, ends[0].ipv4, ends[1].ipv4] = hop.target
    visited = [start]
    while (key := (visited[-1], source, destination)) in tables and len(visited) < 20:
        visited.append(tables[key])
    return visited


def test_each_path_has_its_own_addresses_and_leads_over_its_links_there_and_back() -> None:
    plan = plan_of(TWO)
    first, second = (plan.route_of["up", number] for number in (1, 2))
    assert (first.source.ipv4, second.source.ipv4) == ("10.0.0.1", "10.0.0.18")
    assert first.destination == second.destination == plan.machines["server"].interface("core1").address
    assert walk(plan, "client", first.source.ipv4, first.destination.ipv4) == ["client", "r1", "server"]
    assert walk(plan, "client", second.source.ipv4, first.destination.ipv4) == ["client", "r2", "server"]
    assert walk(plan, "server", first.destination.ipv4, second.source.ipv4) == ["server", "r2", "client"]


def test_paths_with_the_same_first_link_get_further_addresses_of_its_network() -> None:
    plan = plan_of('[["wifi", "core1"], ["wifi", "between", "core2"], ["wifi", "core1"]]')
    sources = [plan.route_of["up", number].source for number in (1, 2, 3)]
    assert [address.ipv4 for address in sources] == ["10.0.0.1", "10.0.0.3", "10.0.0.5"]
    assert plan.machines["client"].interface("wifi").addresses == sources
    assert walk(plan, "client", "10.0.0.3", sources[0].ipv4.replace("0.1", "0.50"))[-1] == "client"
    destination = plan.route_of["up", 2].destination.ipv4
    assert walk(plan, "client", "10.0.0.3", destination) == ["client", "r1", "r2", "server"]
    assert [each.address.ipv4 for each in plan.machines["client"].endpoints] == ["10.0.0.3", "10.0.0.5"]


def test_addresses_are_unique_and_each_link_is_a_network() -> None:
    plan = plan_of(TWO)
    for family in ("ipv4", "ipv6"):
        bits = 28 if family == "ipv4" else 64
        seen: set[object] = set()
        for link in plan.scenario.links:
            ends = [getattr(each.address, family) for each in plan.ends(link)]
            networks = {ipaddress.ip_interface(f"{address}/{bits}").network for address in ends}
            assert len(networks) == 1
            assert networks.isdisjoint(seen)
            seen |= networks
            assert len(set(ends)) == 2


def test_backup_and_late_subflows_and_the_limit_of_endpoints() -> None:
    plan = plan_of(TWO + "\nbackup = [2]")
    (endpoint,) = plan.machines["client"].endpoints
    assert (endpoint.interface, endpoint.is_backup, endpoint.uses) == ("lte", True, ("up/2",))
    assert plan.machines["server"].subflow_limit == 1
    many = plan_of("[" + ", ".join(['["wifi", "core1"]'] * 4 + ['["lte", "core2"]'] * 7) + "]")
    assert len(many.machines["client"].endpoints) == MAX_ENDPOINTS
    assert sum("has no MPTCP endpoint" in text for text in many.shortcomings) == 2
    too_many = plan_of("[" + ", ".join(['["wifi", "core1"]'] * 8) + "]")
    assert "has no address left on the interface" in too_many.shortcomings[0]


def test_flows_of_a_host_share_its_endpoints_and_the_plan_says_so() -> None:
    plan = plan_of(TWO, '[flows.other]\nkind = "mptcp"\nfrom = "client"\nto = "server"\npaths = [["lte", "core2"]]\n')
    assert "up, other use each other's paths" in "".join(plan.shortcomings)


def test_any_two_nodes_reach_each_other() -> None:
    plan = plan_of(TWO)
    for name, machine in plan.machines.items():
        known = {ipaddress.ip_network(route.destination) for route in machine.routes if route.destination != "default"}
        adjacent = {interface.link for interface in machine.interfaces}
        for link in plan.scenario.links:
            network = ipaddress.ip_interface(f"{plan.ends(link)[0].address.ipv4}/28").network
            assert link in adjacent or network in known, (name, link)


@pytest.mark.parametrize("name", sorted(shipped_scenarios()))
def test_every_shipped_scenario_has_a_plan(name: str) -> None:
    plan = plan_testbed(load_scenario(name))
    for route in plan.routes:
        assert walk(plan, route.hops[0].source, route.source.ipv4, route.destination.ipv4)[-1] == route.hops[-1].target


def test_small_packets_have_no_ipv6() -> None:
    plan = plan_testbed(parse_scenario(DIAMOND.replace("PATHS", TWO).replace('"10s"', '"10s"\nmss = 500')))
    assert plan.machines["client"].interfaces[0].address.ipv6 == ""
    assert "no IPv6" in plan.shortcomings[0]


def test_names_of_interfaces_fit_linux() -> None:
    names = interface_names(["wifi", "all", "lo", "-x", "a-link-with-a-long-name", "a-link-with-a-long-nome", "l1-all"])
    assert names["wifi"] == "wifi"
    assert len(set(names.values())) == len(names)
    assert all(len(name) <= 15 and name[0].isalpha() for name in names.values())
    assert not {"all", "lo", "default"} & set(names.values())


def test_a_scenario_without_links_is_refused() -> None:
    scenario = plan_of(TWO).scenario
    with pytest.raises(InputError, match="at least one link"):
        plan_testbed(replace(scenario, links={}, flows={}))
