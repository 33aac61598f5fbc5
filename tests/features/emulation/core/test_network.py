"""A scenario as namespaces: addresses, routes, rules, endpoints, names of nodes, and the parts that are refused."""

from __future__ import annotations

from typing import Any

import pytest
from tests.helpers.emulations import TWO_PATHS

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_app.features.emulation.core.links_process import wire_fields
from subflow_app.features.emulation.core.network import plan_emulation
from subflow_app.foundation.errors import InputError
from subflow_sim.scenario import parse_scenario


@pytest.fixture(scope="module")
def demo() -> dict[str, dict[str, Any]]:
    """Nodes of the shipped demo, as the worker gets them: server - two routers - phone."""
    document = plan_emulation(open_scenario("demo", use=Use.EMULATE).scenario).document()
    assert document["links"] == ["dsl", "wifi", "backhaul", "lte"]
    return {node["name"]: node for node in document["nodes"]}


def test_nodes_have_interfaces_addresses_and_settings(demo: dict[str, dict[str, Any]]) -> None:
    dsl, backhaul = demo["server"]["interfaces"]
    assert (dsl["name"], dsl["cable"], backhaul["name"], backhaul["cable"]) == ("dsl", "a0", "backhaul", "a2")
    assert dsl["addresses"] == (("10.0.0.1", 28), ("fd00:0:0:1::1", 64))
    # Both ends of a link have one MAC address, so that frames are passed unchanged.
    assert dsl["mac"] == demo["dsl-router"]["interfaces"][0]["mac"] != backhaul["mac"]
    assert demo["dsl-router"]["settings"]["net.ipv4.ip_forward"] == "1"
    assert demo["dsl-router"]["settings"]["net.ipv6.conf.all.forwarding"] == "1"
    assert "net.ipv4.ip_forward" not in demo["server"]["settings"]
    assert demo["server"]["settings"]["net.ipv4.conf.all.rp_filter"] == "0"
    wires = wire_fields({"links": ["dsl", "wifi"]})
    assert wires == [("a0", "b0", 0), ("b0", "a0", 1), ("a1", "b1", 2), ("b1", "a1", 3)]


def test_each_path_has_rules_and_tables_from_either_end(demo: dict[str, dict[str, Any]]) -> None:
    rules = {(rule["source"], rule["destination"]): rule["table"] for rule in demo["server"]["rules"]}
    routes = {(route["table"], route["destination"]): route for route in demo["server"]["routes"]}
    # Opened by the server: both addresses of its own, to the phone's on Wi-Fi. Opened by the phone: the other way.
    for own, other, interface in (
        ("10.0.0.1", "10.0.0.18", "dsl"),
        ("10.0.0.33", "10.0.0.18", "backhaul"),
        ("10.0.0.1", "10.0.0.50", "backhaul"),
    ):
        route = routes[rules[own, other], "0.0.0.0/0"]
        assert route["interface"] == interface
    assert rules["fd00:0:0:3::1", "fd00:0:0:2::2"] == rules["10.0.0.33", "10.0.0.18"]
    # The router between them leads the packets of the second path.
    lte = {(rule["source"], rule["destination"]) for rule in demo["base-station"]["rules"]}
    assert {("10.0.0.33", "10.0.0.18"), ("10.0.0.18", "10.0.0.33")} <= lte
    for node in ("server", "phone"):
        assert demo[node]["subflow_limit"] == 1
        endpoints = [(each["number"], each["address"]) for each in demo[node]["endpoints"]]
        assert endpoints == [
            (1, "10.0.0.33" if node == "server" else "10.0.0.50"),
            (2, "fd00:0:0:3::1" if node == "server" else "fd00:0:0:4::2"),
        ]


def test_names_resolve_to_the_address_of_the_first_path(demo: dict[str, dict[str, Any]]) -> None:
    lines = demo["server"]["hosts"].splitlines()
    assert "10.0.0.18 phone" in lines
    assert "fd00:0:0:2::2 phone" in lines
    assert "10.0.0.34 base-station" in lines
    assert "127.0.0.1 localhost" in lines
    assert "10.0.0.1 server" in demo["phone"]["hosts"].splitlines()


CHAIN = """
format = 1
duration = "5s"
[nodes]
client = {}
router = { kind = "router" }
server = {}
[links]
near = { ends = ["client", "router"], rate = "20Mbit/s", delay = "5ms" }
far = { ends = ["router", "server"], rate = "8Mbit/s", delay = "10ms" }
[flows]
upload = { kind = "tcp", from = "client", to = "server", controller = "cubic", paths = [["near", "far"]] }
"""


def test_the_default_route_of_a_node_with_an_uplink_leads_outside() -> None:
    scenario = parse_scenario(CHAIN)
    for uplink, destinations in ((None, ["0.0.0.0/0", "::/0"]), ("client", ["10.0.0.0/16", "fd00::/48"])):
        client = plan_emulation(scenario, uplink).nodes[0]
        found = [route.destination for route in client.routes if not route.table and not route.source]
        assert found == destinations


def test_refused_parts_are_listed_together() -> None:
    text = TWO_PATHS.replace('delay = "20ms"', 'delay = "20ms"\ndrops = ["upload/1:5"]')
    text = text.replace('delay = "30ms"', 'delay = "30ms"\naccess = { medium = "air" }')
    with pytest.raises(InputError) as refusal:
        plan_emulation(parse_scenario(text))
    first, *lines = str(refusal.value).splitlines()
    assert first == "programs cannot run on this scenario:"
    assert lines == [
        "  links.wifi: scripted drops of single packets; supported: loss by probability, model or trace",
        '  links.lte: access to the medium "air"; supported: links without `access`',
    ]


def test_notes_name_controllers_that_linux_lacks_and_fast_networks() -> None:
    notes = plan_emulation(parse_scenario(TWO_PATHS)).notes
    assert notes == ()
    fast = TWO_PATHS.replace('"8Mbit/s"', '"800Mbit/s"').replace('{ name = "uncoupled", base = "cubic" }', '"lia"')
    notes = plan_emulation(parse_scenario(fast)).notes
    assert "because Linux has no lia" in notes[0]
    assert "flows.upload could carry 1600 Mbit/s" in notes[1]


def test_events_of_subflows_change_endpoints_at_both_ends() -> None:
    text = (
        TWO_PATHS.replace("paths =", "late = [2]\npaths =")
        + """
[[events]]
at = "2s"
flow = "upload"
subflow = 2
open = true
"""
    )
    network = plan_emulation(parse_scenario(text))
    assert all(endpoint.is_late for node in network.nodes for endpoint in node.endpoints)
    assert {(change.at_s, change.node, change.is_there, change.is_new) for change in network.changes} == {
        (2.0, "client", True, True),
        (2.0, "server", True, True),
    }
