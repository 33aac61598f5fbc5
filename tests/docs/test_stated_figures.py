"""Figures of simulations that the guide states: computed again, and compared with the text.

A row has the page, the words with the figure, and the function that computes it. The words must occur on the page, so
that a change of the figure leads here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer.main
from numpy.typing import NDArray
from tests.helpers.networks import column, run

from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_app.shell.commands import app
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


# Figures of speed and accuracy depend on version and machine. In the README and the guide, a link to a section of the
# page of origins follows them in the same paragraph.

_NUMBER = r"\d[\d\u00a0.,  ]*"
_SPEED = re.compile(
    rf"{_NUMBER} ?(?:thousand |million )?(?:data )?(?:packets|decisions|steps|events) (?:per|a) (?:CPU-)?second"
    rf"|{_NUMBER} ?(?:s|seconds|minutes|hours) of (?:CPU|processor) time"
    rf"|\b(?:{_NUMBER}(?:to {_NUMBER})?|(?:two|three|five|half)(?: to three)? )(?:minutes?|hours?)\b"
    r"|\b(?:takes?|took) (?:about )?an hour"
)
_ACCURACY = re.compile(rf"within {_NUMBER}%|within a factor of {_NUMBER}|{_NUMBER}of (?:its |the )?{_NUMBER}cases")
_COMPARED = re.compile(r"Linux|kernel|in the simulator")
_ORIGIN = re.compile(r"\]\((?:[./\w-]*/)?origins\.md#([\w-]+)\)")
_TREE: Any = typer.main.get_command(app)

# Minutes and hours of people and of simulations, and hidden notes.
_OF_OTHERS = re.compile(
    r"lab takes 30 to 45 minutes|30 to 45 minutes of work|Thirty to forty-five minutes|a plan for three hours"
    r"|(?:slots|epochs) take [\d.]+ hours at a round trip|<!--.*?-->"
)


def _paragraphs(page: Path) -> list[str]:
    """Paragraphs and entries of lists on one line each, without listings; a table belongs to the paragraph above it."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    blocks: list[str] = []
    for block in re.split(r"\n\s*\n|\n(?=- |\d+\. )", text):
        if block.lstrip().startswith("|") and blocks:
            blocks[-1] += f" {block}"
        else:
            blocks.append(block)
    return [" ".join(block.split()) for block in blocks]


def _stated(paragraph: str) -> list[str]:
    """Figures of speed, and figures of accuracy beside Linux, in a paragraph."""
    text = _OF_OTHERS.sub("", paragraph)
    return _SPEED.findall(text) + (_ACCURACY.findall(text) if _COMPARED.search(text) else [])


PAGES_WITH_FIGURES = [
    DOCS.parent / "README.md",
    # The report is made from stored runs, and names the version of each.
    *(page for page in sorted(DOCS.rglob("*.md")) if page.name not in ("origins.md", "report.md")),
]


def test_a_figure_of_speed_or_accuracy_links_to_its_origin() -> None:
    sections = set(_origins())
    without, used = [], set()
    for page in PAGES_WITH_FIGURES:
        for paragraph in _paragraphs(page):
            links = set(_ORIGIN.findall(paragraph))
            assert links <= sections, page
            used |= links
            if not links and (figures := _stated(paragraph)):
                without.append(f"{page.relative_to(DOCS.parent)}: {figures[0]} in: {paragraph[:100]}")
    assert without == []
    assert used == sections


def test_the_finder_sees_figures_and_leaves_those_of_simulations_alone() -> None:
    assert _stated("14 to 26 million packets per second") == ["26 million packets per second"]
    assert _stated("took an hour (495 s of CPU time)") == ["took an hour", "495 s of CPU time"]
    assert _stated("A training takes two to three minutes.") == ["two to three minutes"]
    assert _stated("goodput is within 10 % of Linux in 67 of the 68 cases") == ["within 10 %", "67 of the 68 cases"]
    for text in ("a round trip of 40 ms", "it loses 2 % after 10 s", "They share within 5 %.", "shown in ten minutes"):
        assert _stated(text) == [], text


def _origins() -> dict[str, dict[str, str]]:
    """Entries of each section of the page of origins, by the anchor of the section."""
    _, *parts = re.split(r"^## (.+)$", (DOCS / "origins.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {
        heading.lower().replace(" ", "-"): dict(re.findall(r"^- (\w+): (.+)$", text, re.MULTILINE))
        for heading, text in zip(parts[::2], parts[1::2], strict=True)
    }


def test_an_origin_names_version_machine_and_command() -> None:
    version = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    for section, entries in _origins().items():
        assert [*entries] == ["Version", "Machine", "Command"], section
        assert re.match(r"\d+\.\d+\.\d+ \([0-9a-f]{8}\)", entries["Version"]), section
        # A release needs measurements of its own, or a reason to keep those of an earlier one.
        assert entries["Version"].startswith(version), section
        assert "virtual machine" in entries["Machine"], section
        words = entries["Command"].strip("`").split()
        assert words[0] == "subflow", section
        assert words[1] in _TREE.commands, section
