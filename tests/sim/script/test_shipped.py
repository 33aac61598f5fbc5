"""The shipped scripts: each has a description, and PCC, which equals no built-in to the bit, fills a link."""

from __future__ import annotations

from statistics import median

import pytest
from tests.helpers.members import for_each
from tests.helpers.networks import goodputs, run

from subflow_sim.scenario import parse_scenario
from subflow_sim.script import compile_script, kind_of
from subflow_sim.script_reader import read_script, shipped_scripts

_LINK = """\
format = 1
duration = "40s"
warmup = "20s"
nodes = {{ a = {{}}, b = {{}} }}
links.x = {{ ends = ["a", "b"], rate = "{rate}", delay = "20ms", queue = "{queue}", loss = "{loss}" }}
controllers.mine = {{ script = "pcc" }}
flows.f = {{ kind = "tcp", from = "a", to = "b", paths = [["x"]], controller = "mine" }}
"""


@for_each("name", shipped_scripts())
def test_a_script_says_what_it_is_and_what_its_options_are(name: str) -> None:
    text = read_script(name, None)
    script = compile_script(text, name, kind_of(text))
    assert script.algorithm.summary
    assert "as text" in script.algorithm.summary
    assert script.algorithm.source
    assert all(option.help.endswith(".") for option in script.algorithm.options)


@pytest.mark.parametrize(("rate", "least"), [("5Mbit/s", 4.4e6), ("50Mbit/s", 43e6)])
@pytest.mark.parametrize("loss", ["0%", "1%"])
@pytest.mark.parametrize("queue", ["10pkt", "167pkt"])
def test_pcc_fills_a_link_with_and_without_loss_and_leaves_its_queue_empty(
    rate: str, least: float, loss: str, queue: str
) -> None:
    scenario = parse_scenario(_LINK.format(rate=rate, loss=loss, queue=queue))
    # The median: ACKs that wait for others after a loss hide the slope of the RTT from some intervals.
    assert median(goodputs(run(scenario, seed=seed))["f"] for seed in range(1, 6)) > least
