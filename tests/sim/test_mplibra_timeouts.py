"""MPLibra after timeouts: whatever stage they fall into, its agent acts again once the path is back."""

from subflow_sim import Simulation, parse_scenario

SCENARIO = """
format = 1
name = "An outage"
duration = "8s"
[nodes.a]
[nodes.b]
[links.one]
ends = ["a", "b"]
rate = "5Mbit/s"
delay = "20ms"
queue = "20pkt"
[flows.learned]
kind = "mptcp"
from = "a"
to = "b"
controller = {{ name = "mplibra", policy = "random" }}
paths = [["one"]]
[[events]]
at = {down}
link = "one"
up = false
[[events]]
at = {up}
link = "one"
up = true
"""


def test_agents_act_again_after_a_timeout_in_any_stage() -> None:
    # A cycle takes two to four round trips of 40 to 90 ms: thirty outages, 13 ms apart, begin in all of its stages.
    stopped = []
    for number in range(30):
        down_s = 3 + 0.013 * number
        scenario = parse_scenario(SCENARIO.format(down=down_s, up=down_s + 1.5))
        simulation = Simulation(scenario)
        simulation.run_until(8.0)
        marks = simulation.take_marks()
        assert any(mark.kind == "rto" for mark in marks)
        if not any(mark.kind == "action" and mark.time_s > 7 for mark in marks):
            stopped.append(down_s)
    assert stopped == []
