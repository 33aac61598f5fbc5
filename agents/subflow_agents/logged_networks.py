"""The networks on which the log of DDPG-MPCC is recorded.

Source: DDPG-MPCC (Future Internet 2024), figure 2 and sections 2.3 and 3: two paths of 100 Mbit/s, 40 ms and 400
packets of queue; runs with varying bandwidths and losses. The losses are those of the published logs. The paper gives
no bandwidths: here they are drawn from a quarter of 100 Mbit/s to all of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from subflow_sim import Scenario, parse_scenario
from subflow_sim.buffered_text import with_buffers
from subflow_sim.draws import uniform
from subflow_sim.scenario_model import Choice

# Flows of each network: kind, paths and start.
PAPER_NETWORKS: Mapping[str, Mapping[str, tuple[str, str, str]]] = {
    "a": {"mpcc": ("mptcp", '["path1"], ["path2"]', "0s"), "tcp": ("tcp", '["path2"]', "0s")},
    "b": {
        "mpcc": ("mptcp", '["path1"], ["path2"]', "0s"),
        "tcp-1": ("tcp", '["path1"]', "0s"),
        "tcp-2": ("tcp", '["path2"]', "0s"),
    },
    "c": {
        "first": ("mptcp", '["path1"], ["path2"]', "0s"),
        "second": ("mptcp", '["path1"], ["path2"]', "5s"),
    },
}
"""Networks (a), (b) and (c) of figure 2: one MPTCP connection beside one TCP, beside two, and beside another."""

_RATES_MBPS = (25.0, 100.0)
_LOSSES_PERCENT = (0.0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 4.0, 6.0, 8.0, 10.0)


def paper_runs(base: str, runs: int, duration_s: float, seed: int) -> list[Scenario]:
    """Scenarios of MPCC on the three networks of the paper, network by network.

    The first run of a network has the paper's constants; rates and losses of the others are drawn.

    Args:
        base: MPCC variant of the connections, "loss" or "latency".
        runs: number of runs of each network, at least 1.
        duration_s: duration of a run, s.
        seed: seed of the draws and of the runs.
    """
    return [
        _drawn(name, number, run, base, duration_s, seed)
        for number, name in enumerate(PAPER_NETWORKS)
        for run in range(runs)
    ]


def with_mpcc(scenario: Scenario, base: str) -> Scenario:
    """A scenario whose MPTCP flows use MPCC, in the variant "loss" or "latency", with its scheduler."""
    flows = {
        name: replace(flow, controller=Choice(f"mpcc-{base}", {}), scheduler=Choice("mpcc-rate", {}))
        if flow.kind == "mptcp"
        else flow
        for name, flow in scenario.flows.items()
    }
    return replace(scenario, flows=flows)


def _drawn(name: str, number: int, run: int, base: str, duration_s: float, seed: int) -> Scenario:
    def of_path(path: str) -> str:
        rate_mbps, loss_percent = _RATES_MBPS[1], 0.0
        if run > 0:
            low, high = _RATES_MBPS
            rate_mbps = low * (high / low) ** uniform(seed, number, run, f"log: rate of {path}")
            chance = uniform(seed, number, run, f"log: loss of {path}")
            loss_percent = _LOSSES_PERCENT[int(chance * len(_LOSSES_PERCENT))]
        return (
            f'[links.{path}]\nends = ["client", "server"]\nrate = "{rate_mbps:.4f}Mbit/s"\ndelay = "20ms"\n'
            f'queue = "400pkt"\nloss = "{loss_percent}%"\n'
        )

    def of_flow(flow: str, kind: str, paths: str, start: str) -> str:
        controller = f"mpcc-{base}" if kind == "mptcp" else "newreno"
        scheduler = 'scheduler = "mpcc-rate"\n' if kind == "mptcp" else ""
        return (
            f'[flows.{flow}]\nkind = "{kind}"\nfrom = "client"\nto = "server"\ncontroller = "{controller}"\n'
            f'{scheduler}paths = [{paths}]\nstart = "{start}"\n'
        )

    text = (
        f'format = 1\nname = "DDPG-MPCC, network {name}"\nduration = "{duration_s}s"\n'
        "[nodes.client]\nat = [0, 0]\n[nodes.server]\nat = [500, 0]\n"
        + of_path("path1")
        + of_path("path2")
        + "".join(of_flow(flow, *parts) for flow, parts in PAPER_NETWORKS[name].items())
    )
    file = f"network {name}"
    return parse_scenario(with_buffers(text, file), file=file)
