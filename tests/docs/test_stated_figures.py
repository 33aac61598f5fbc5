"""Figures of simulations that the guide states: computed again, and compared with the text.

A row has the page, the words with the figure, and the function that computes it. The words must occur on the page, so
that a change of the figure leads here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.helpers.networks import column, run

from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_sim import Simulation
from subflow_sim.params import HEADER_BYTES
from subflow_sim.scenario import parse_scenario
from subflow_sim.transport_params import effective_transport

DOCS = Path(__file__).resolve().parents[2] / "docs"


def _flows(name: str, *overrides: str, seed: int | None = None) -> dict[str, dict[str, float]]:
    """Results of each flow of a shipped scenario."""
    summary = run(open_scenario(name, overrides=overrides, seed=seed).scenario).summary()
    return {flow["name"]: flow for flow in summary["flows"]}


def _goodput(name: str, *overrides: str, flow: str = "download", seed: int | None = None) -> float:
    return float(_flows(name, *overrides, seed=seed)[flow]["goodput_bps"])


def _of_best_path(*overrides: str) -> float:
    best = _goodput("lab-unlike-paths", 'flows.download.paths=[["wifi"]]')
    return 100 * _goodput("lab-unlike-paths", *overrides) / best


def _use(from_s: float) -> NDArray[np.float64]:
    """Share of the link's capacity that RL-explore uses from a time on, for each tenth of a second, %."""
    done = run(open_scenario("rlx-fixed").scenario, sample_interval_s=0.1)
    return 100 * column(done, "utilisation", "data/forward").astype(np.float64)[round(from_s / 0.1) :]


def _link_use(*overrides: str) -> float:
    done = run(open_scenario("rlx-fixed", overrides=overrides).scenario)
    return 100 * float(done.summary()["links"][0]["utilisation"])


def _over_cubic() -> float:
    return _goodput("rlx-alternating") / _goodput("rlx-alternating", "flows.download.controller=cubic")


def _over_tcp(subflows: int, choose: Callable[[list[float]], float]) -> float:
    """Goodput of LIA divided by the goodput of a TCP flow beside it: the least or the most of seeds 1 to 5."""
    path = '["mptcp-in", "bottleneck", "mptcp-out"]'
    paths = f"flows.mptcp.paths=[{', '.join([path] * subflows)}]"
    found = []
    for seed in range(1, 6):
        flows = _flows("t-1link", paths, "flows.mptcp.controller=lia", seed=seed)
        found.append(flows["mptcp"]["goodput_bps"] / flows["tcp"]["goodput_bps"])
    return choose(found)


def _data_share(kind: str) -> float:
    """Share of the bytes on the wire that are data, in a full packet of profile linux."""
    scenario = open_scenario("lab-two-paths").scenario
    option = effective_transport(scenario.profile, scenario.transport)["dss_option"] if kind == "mptcp" else 0
    return (scenario.mss_bytes - int(option)) / (scenario.mss_bytes + HEADER_BYTES)


_ONE_LINK = """
format = 1
name = "One link"
duration = "60s"
warmup = "20s"
nodes = { a = {}, b = {} }
[links.link]
ends = ["a", "b"]
rate = "40Mbit/s"
delay = "10ms"
queue = { discipline = "dualpi2", limit = "2000pkt" }
reverse.queue = "2000pkt"
[flows]
own = { kind = "tcp", from = "a", to = "b", controller = "prague", paths = [["link"]] }
"""


def _simulated(text: str, *overrides: str) -> dict[str, Any]:
    return run(parse_scenario(text, overrides=overrides)).summary()


def _prague_over(classic: str, rtt_ms: float) -> float:
    beside = _ONE_LINK.partition("[flows]\nown")[2].replace("prague", classic)
    delay = f"links.link.delay={rtt_ms / 2}ms"
    own, other = _simulated(f"{_ONE_LINK}classic{beside}", delay, "start_jitter=100ms")["flows"]
    return float(own["goodput_bps"] / other["goodput_bps"])


def _window_by_marks(profile: str) -> float:
    """Mean window of DCTCP times the share of marked packets: a long queue marks with nearly one probability."""
    queue = '{ discipline = "red", limit = "20000pkt", min = "1pkt", max = "20000pkt", max_p = 1, ecn = true }'
    link = ("links.link.rate=100Mbit/s", "links.link.delay=1ms", f"links.link.queue={queue}")
    (flow,) = _simulated(_ONE_LINK, f"profile={profile}", "flows.own.controller=dctcp", *link)["flows"]
    marked = flow["marked_packets"] / flow["packets_delivered"]
    return float(marked * flow["subflows"][0]["mean_cwnd_pkts"])


_LARGE_BUFFERS = [f"flows.download.{each}" for each in ("recv_buffer=3MB", "send_buffer=3MB", "scheduler=minrtt")]
STATED: tuple[tuple[str, str, Callable[[], float]], ...] = (
    ("schedulers/minrtt.md", "to {51} % with them", lambda: _of_best_path("flows.download.scheduler=minrtt")),
    ("schedulers/minrtt.md", "to {32} % without", _of_best_path),
    ("schedulers/minrtt.md", "they carry {28.5} Mbit/s", lambda: _goodput("lab-unlike-paths", *_LARGE_BUFFERS) / 1e6),
    ("algorithms/rl-explore.md", "it takes {1.0} s", lambda: 0.1 * (1 + int(np.argmax(_use(0.0) >= 90)))),
    ("algorithms/rl-explore.md", "it keeps {91} % of the link busy", lambda: float(np.mean(_use(2.0)))),
    ("algorithms/rl-explore.md", "it uses {98} %", lambda: _link_use("flows.download.controller=cubic")),
    ("algorithms/rl-explore.md", "the agent {87} %", _link_use),
    ("algorithms/rl-explore.md", "about {1.21} times the packets that CUBIC moves", _over_cubic),
    (
        "algorithms/rl-explore.md",
        "for a loss of {2.0} %",
        lambda: 100 * _flows("rlx-alternating")["download"]["loss_ratio"],
    ),
    ("simulator.md", "`subflow run lab-two-paths` gets {7.57} Mbit/s", lambda: _goodput("lab-two-paths") / 1e6),
    (
        "simulator.md",
        "with `--set transport.dss_option=0` it gets {7.70}",
        lambda: _goodput("lab-two-paths", "transport.dss_option=0") / 1e6,
    ),
    ("simulator.md", "a TCP flow therefore gets at most {7.72} Mbit/s", lambda: 8 * _data_share("tcp")),
    ("simulator.md", "and an MPTCP flow {7.59}.", lambda: 8 * _data_share("mptcp")),
    ("algorithms/dctcp.md", "= 2.73/p$; the simulator has {2.71}.", lambda: _window_by_marks("textbook")),
    ("algorithms/dctcp.md", "= 1.41/p$; the simulator has {1.40}.", lambda: _window_by_marks("linux")),
    ("algorithms/prague.md", "Prague has {0.50} times the rate of NewReno at 5 ms", lambda: _prague_over("newreno", 5)),
    ("algorithms/prague.md", "{1.54} times at 20 ms", lambda: _prague_over("newreno", 20)),
    ("algorithms/prague.md", "{2.1} times at 50 ms; beside CUBIC", lambda: _prague_over("newreno", 50)),
    ("algorithms/prague.md", "beside CUBIC it has {0.48}, 1.50 and 1.7 times", lambda: _prague_over("cubic", 5)),
    ("algorithms/prague.md", "beside CUBIC it has 0.48, {1.50} and 1.7 times", lambda: _prague_over("cubic", 20)),
    ("algorithms/prague.md", "beside CUBIC it has 0.48, 1.50 and {1.7} times", lambda: _prague_over("cubic", 50)),
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
    # To the last digit in the text.
    assert f"{made():.{decimals}f}" == written


def test_lost_syns_are_sent_again_when_the_guide_says() -> None:
    scenario = open_scenario("lab-two-paths", overrides=["links.wifi.loss=100%", "duration=140s", "warmup=0s"]).scenario
    simulation = Simulation(scenario, seed=1)
    times, lost = [], 0
    for second in range(140):
        # Each packet is sent at a whole second.
        simulation.run_until(second + 0.5)
        count = simulation.summary()["links"][0]["drops_random"]
        times += [second] * (count - lost)
        lost = count
    text = " ".join((DOCS / "simulator.md").read_text(encoding="utf-8").split())
    (listed, given_up) = re.findall(r"([\d, ]+ and \d+) s after the first\. After (\d+) s the flow gives up", text)[0]
    assert times == [0, *map(int, re.findall(r"\d+", listed))]
    assert "is sent again five times at intervals of 1 s, then after 2, 4, 8 s and so on" in text
    assert [round(mark.time_s) for mark in simulation.take_marks() if mark.kind == "closed"] == [int(given_up)]
