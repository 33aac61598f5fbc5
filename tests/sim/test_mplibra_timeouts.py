"""MPLibra after timeouts: its agent acts again after the path returns, whatever stage the timeout interrupted."""

from tests.helpers.networks import link, mptcp, outage, run, scenario

from subflow_sim.scenario_model import Choice

LEARNED = mptcp("learned", ["one"], Choice("mplibra", {"policy": "random"}))
LINK = link("one", rate_bps=5e6, delay_s=0.02, queue_pkts=20)


def test_agents_act_again_after_a_timeout_in_any_stage() -> None:
    # A cycle takes two to four round trips of 40 to 90 ms: thirty outages, 13 ms apart, begin in all of its stages.
    stopped = []
    for number in range(30):
        down_s = 3 + 0.013 * number
        events = outage("one", down_s, down_s + 1.5, "both")
        marks = run(scenario([LINK], [LEARNED], duration_s=8, profile="linux", events=events)).take_marks()
        assert any(mark.kind == "rto" for mark in marks)
        if not any(mark.kind == "action" and mark.time_s > 7 for mark in marks):
            stopped.append(down_s)
    assert stopped == []
