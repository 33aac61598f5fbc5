"""Observed numbers and actions in words and physical units."""

from __future__ import annotations

import math

import pytest

from subflow_app.features.training.core.agent_numbers import action_sentence, action_text, seen_text
from subflow_sim.agent_steps import RunAgent, SeenSubflow
from subflow_sim.vec_env import AgentNumber, agent_spec

AGENTS = ("drl-cc", "dql-mptcp", "ddpg-mpcc", "mplibra", "rl-explore", "clean-slate", "confluence")
FIGURES = {
    "min_rtt_s": 0.05,
    "sending_rate_bps": 8e6,
    "goodput_bps": 4e6,
    "cwnd_before_pkts": 20.0,
    "cwnd_after_pkts": 24.2,
    "rate_before_bps": 0.0,
    "rate_after_bps": 0.0,
}


def feature(agent: str, name: str) -> AgentNumber:
    spec = agent_spec(agent)
    assert spec is not None
    return next(each for each in spec.features if each.name == name)


@pytest.mark.parametrize(
    ("agent", "name", "value", "said"),
    [
        ("drl-cc", "rtt", math.log(2), "1 × lowest RTT (50 ms)"),
        ("drl-cc", "rtt", math.log(11), "≥ 10 × lowest RTT (500 ms)"),
        ("drl-cc", "sending_rate", math.log(1.5), "0.5 × reference rate (8 Mbit/s)"),
        ("drl-cc", "goodput", math.log(1.5), "0.5 × reference rate (4 Mbit/s)"),
        ("drl-cc", "cwnd", math.log(3), "2 × reference rate × lowest RTT (20 pkt)"),
        ("drl-cc", "is_mptcp", 1.0, "yes"),
        ("dql-mptcp", "rtt_change", -0.2, "−0.2 × lowest RTT (−10 ms)"),
        ("dql-mptcp", "cwnd_change", 0.25, "25 %"),
        ("dql-mptcp", "schedule", 0.3, "30 %"),
        ("ddpg-mpcc", "rate", 0.5, "0.5 × the largest so far"),
        ("mplibra", "min_rtt", math.log(1.5), "50 ms"),
        ("mplibra", "loss", 0.02, "2 %"),
        ("rl-explore", "latency", math.log(1.5), "0.5 × lowest RTT in excess of it (25 ms)"),
        ("confluence", "loss", 0.1, "1 %"),
        ("confluence", "small_window", 0.25, "30 pkt"),
        ("confluence", "window_bdp", 0.25, "2 × delivered rate x lowest RTT (20 pkt)"),
        ("confluence", "share", 0.4, "40 %"),
    ],
)
def test_a_number_has_a_physical_value(agent: str, name: str, value: float, said: str) -> None:
    assert seen_text(feature(agent, name), value, FIGURES) == said


def test_an_earlier_epoch_has_only_the_ratio() -> None:
    assert seen_text(feature("drl-cc", "rtt"), math.log(2)) == "1 × lowest RTT"
    assert seen_text(feature("drl-cc", "rtt"), math.nan) == ""


@pytest.mark.parametrize("agent", AGENTS)
def test_every_feature_of_every_agent_has_a_meaning(agent: str) -> None:
    spec = agent_spec(agent)
    assert spec is not None
    known = {each.name: seen_text(each, 0.5, FIGURES) for each in spec.features}
    without = {name for name, text in known.items() if not text}
    # Positions, correlations and ratios of logarithms have no unit; their tool tips give the definition.
    assert without <= {"queue_place", "grip", "overload"}


def test_a_number_has_the_meaning_that_it_has_in_the_form_of_the_agent() -> None:
    own, model = (
        {each.name: each for each in spec.features}
        for window in ("own", "model")
        if (spec := agent_spec("confluence", {"window": window})) is not None
    )
    assert seen_text(own["overload"], math.log(2), FIGURES) == "2 × delivered rate"
    assert seen_text(model["overload"], 0.25, FIGURES) == "25 %"
    assert seen_text(model["marks"], 0.1, FIGURES) == "1 %"
    assert own["marks"].help != model["marks"].help


def acting(action: tuple[float, ...], **figures: float) -> SeenSubflow:
    return SeenSubflow("download/1", True, (), action, FIGURES | figures)


def test_an_action_is_told_with_its_effect() -> None:
    spec = agent_spec("drl-cc")
    assert spec is not None
    agent = RunAgent("a", "drl-cc", "host", "p", spec.features, spec.actions, (), 1, spec.reward)
    assert action_text(agent, acting((0.42,))) == "window_change +0.42: cwnd 20 → 24.2 pkt"
    assert action_text(agent, acting((0.0,), cwnd_after_pkts=20.0)) == "window_change +0: cwnd stays 20 pkt"
    assert action_text(agent, acting((0.42,), cwnd_after_pkts=math.nan)) == "window_change +0.42"
    paced = acting((0.1,), rate_before_bps=2e6, rate_after_bps=2.5e6)
    assert action_text(agent, paced).endswith("pacing rate 2 → 2.5 Mbit/s")
    chooser = RunAgent("a", "confluence", "subflow", "p", (), (), ("halve", "-0.1"), 1, "")
    assert action_text(chooser, acting((1.0,))) == "-0.1: cwnd 20 → 24.2 pkt"


def test_an_action_is_told_in_words() -> None:
    agent = RunAgent("a", "rl-explore", "subflow", "p", (), (), ("increase", "-0.1"), 1, "")
    seen = SeenSubflow("download/1", True, (), (0.0,), FIGURES)
    assert action_sentence(agent, seen) == "On download/1: raises the cwnd from 20 to 24.2 pkt (+21.0 %) (increase)."
    lowered = FIGURES | {"cwnd_after_pkts": 18.0, "rate_before_bps": 1e6, "rate_after_bps": 1e6}
    told = action_sentence(agent, SeenSubflow("download/1", True, (), (1.0,), lowered))
    assert "lowers the cwnd from 20 to 18 pkt" in told
    assert "10.0 %)" in told
    assert told.endswith("keeps the pacing rate at 1 Mbit/s (-0.1).")
    unknown = SeenSubflow("download/1", True, (), (1.0,), {})
    assert action_sentence(agent, unknown) == "On download/1: -0.1."
