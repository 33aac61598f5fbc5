"""The options ``subflow explain --agent`` and ``subflow show --agent-steps``: observations, actions and rewards."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.helpers.command_line import SCENARIO, Subflow, call_subflow


@pytest.fixture(scope="module", params=["random", "neutral"])
def policy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory, policy: str) -> Path:
    """A database whose run 1 has an agent of the server and decisions; all tests share it."""
    text = SCENARIO.replace('controller = "lia"', f'controller = {{ name = "drl-cc", policy = "{policy}" }}')
    folder = tmp_path_factory.mktemp(policy)
    scenario, database = folder / "learned.toml", folder / "runs.db"
    scenario.write_text(text, encoding="utf-8")
    call_subflow("run", scenario, "--db", database, "--set", "duration=4s", "--decisions").check()
    return database


def test_what_an_agent_saw_did_and_earned_is_told(subflow: Subflow, learned: Path, policy: str) -> None:
    words = ("explain", 1, "--agent", "--at", "3s", "--previous", 1, "--next", 1, "--db", learned)
    document = subflow(*words, "--json").document
    text = subflow(*words).out

    assert (document["owner"], len(document["previous"]), len(document["next"])) == ("server", 1, 1)
    before, decision, after = document["previous"][0], document["decision"], document["next"][0]
    assert (decision["controller"], decision["policy"]) == ("drl-cc", policy)
    # The agent controls one MPTCP flow, every 100 ms.
    assert after["time_s"] - decision["time_s"] == pytest.approx(0.1)
    assert (before["outcome"], decision["outcome"]) == (decision["reward"], after["reward"])
    seen = {subflow["name"]: subflow for subflow in decision["subflows"]}
    assert list(seen) == ["download/1", "download/2", "cross/1"]
    assert [each["is_acting"] for each in seen.values()] == [True, True, False]
    action = seen["download/1"]["action"]["window_change"]
    assert (action == 0) == (policy == "neutral")
    assert -1 <= action <= 1
    assert seen["cross/1"]["action"] is None
    assert seen["cross/1"]["observation"][0]["is_mptcp"] == 0
    assert f"decision {decision['number']} of drl-cc, by {policy}" in text
    assert "cross/1 (only seen)" in text


def test_a_window_that_an_agent_set_is_explained_with_the_agent(subflow: Subflow, learned: Path) -> None:
    told = subflow("explain", 1, "--agent", "--at", "3s", "--db", learned, "--json").document["decision"]
    words = ("explain", 1, "download/1", "--at", f"{told['time_s']:.9f}s", "--db", learned)
    document = subflow(*words, "--json").document["decision"]
    text = subflow(*words).out

    assert (document["cause"], document["rule"]) == ("action", "agent_window_change")
    assert document["agent"] == told
    seen = next(each for each in told["subflows"] if each["name"] == "download/1")
    assert document["numbers"]["action"] == pytest.approx(seen["action"]["window_change"])
    assert document["cwnd_after_pkts"] == pytest.approx(seen["cwnd_after_pkts"])
    assert "w + action * max(w / 2, 2)" in text
    assert f"agent    server, decision {told['number']} of drl-cc" in text


def test_show_lists_agents_with_what_they_earned(subflow: Subflow, learned: Path, policy: str) -> None:
    text = subflow("show", 1, "--agent-steps", "--db", learned).out
    (agent,) = subflow("show", 1, "--agent-steps", "--db", learned, "--json").document["agents"]

    assert (agent["name"], agent["scope"], agent["policy"]) == ("server", "host", policy)
    assert [feature["name"] for feature in agent["features"]][:2] == ["sending_rate", "goodput"]
    assert agent["decisions"] == pytest.approx(40, abs=3)
    assert "Learning agents" in text
    assert "decisions of the learning agent server: `subflow explain 1 AGENT --agent --at TIME`" in text
    assert "Learning agents" not in subflow("show", 1, "--db", learned).out


def test_export_writes_what_agents_saw(subflow: Subflow, learned: Path, tmp_path: Path) -> None:
    subflow("export", 1, "--db", learned, "--out", tmp_path / "all").check()
    with (tmp_path / "all" / "agent_steps.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    agents = json.loads((tmp_path / "all" / "agents.json").read_text())

    assert {row["owner"] for row in rows} == {agents[0]["name"]} == {"server"}
    assert all(float(row["see:goodput"]) >= 0 for row in rows)
    assert all((row["do:window_change"] == "") == (row["is_acting"] == "0") for row in rows)
    with (tmp_path / "all" / "flows.csv").open(encoding="utf-8", newline="") as file:
        last = list(csv.DictReader(file))[-1]
    assert float(last["download:reward"]) == pytest.approx(float(rows[-1]["reward"]), rel=1e-6)
    assert "cross:reward" not in last
    with (tmp_path / "all" / "marks.csv").open(encoding="utf-8", newline="") as file:
        actions = [row for row in csv.DictReader(file) if row["kind"] == "action"]
    assert len(actions) == sum(row["is_acting"] == "1" for row in rows)


def test_figures_show_the_number_that_is_named(subflow: Subflow, learned: Path, tmp_path: Path) -> None:
    figures = "reward,agent_action,agent_observation:rtt"
    words = ("export", 1, "--db", learned, "--out", tmp_path / "figures", "--format", "csv,svg", "--figure", figures)
    assert subflow(*words).code == 0
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    stems = ("reward", "agent_action", "agent_observation-rtt")
    assert names == {f"{stem}.{kind}" for stem in stems for kind in ("csv", "svg")}
    header = (tmp_path / "figures" / "agent_observation-rtt.csv").read_text().splitlines()[0]
    assert header == "time_s,download/1:rtt,download/2:rtt"

    for figure, part in (
        ("agent_observation:speed", '"speed" is not an observation of the agents'),
        ("cwnd:rtt", "must be one of throughput"),
        ("agent_action:", "must be one of throughput"),
    ):
        subflow("export", 1, "--db", learned, "--out", tmp_path / "x", "--figure", figure).check_refusal(part)
