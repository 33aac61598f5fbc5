"""Races: the same scenario twice, with the policy and the classic controller in the same flows."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.policies import make_plan, write_random_policy
from tests.helpers.window import TWO_PATHS

from subflow_app.features.catalog.core.catalog import policy_library
from subflow_app.features.catalog.core.uses import policies_of
from subflow_app.features.editor.core.algorithm_choices import AlgorithmChoice
from subflow_app.features.policies.core import policy_origin, policy_records
from subflow_app.features.training.core.evaluations import is_raced, race_sources, race_texts, rivals
from subflow_app.features.training.core.training_progress import Training
from subflow_app.foundation.errors import InputError, TrainingError
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.toml_edit import read_toml
from subflow_sim.policy import Policy

POLICY = "raced-1.safetensors"
MORE_FLOWS = """
[flows.cross]
kind = "tcp"
from = "server"
to = "client"
controller = "cubic"
[flows.noise]
kind = "cbr"
from = "server"
to = "client"
rate = "1Mbit/s"
[flows.old]
kind = "mptcp"
from = "server"
to = "client"
controller = { name = "drl-cc", policy = "neutral" }
"""


def controllers(text: str) -> dict[str, object]:
    flows = read_toml(text)["flows"]
    assert isinstance(flows, dict)
    return {name: flow.get("controller") for name, flow in flows.items()}


OLIA = AlgorithmChoice("olia", "olia")
CUBIC = AlgorithmChoice("cubic", "cubic")


def race(text: str, controller: str = "drl-cc", rival: AlgorithmChoice = OLIA) -> tuple[str, str]:
    return race_texts(text, controller=controller, policy=POLICY, rival=rival, title="Two paths", entrant="drl-cc 1")


def test_both_entrants_use_the_same_flows() -> None:
    learned, classic = race(TWO_PATHS)
    assert controllers(learned) == {"download": {"name": "drl-cc", "policy": POLICY}}
    assert controllers(classic) == {"download": "olia"}
    assert read_toml(learned)["name"] == "Two paths: drl-cc 1"
    assert read_toml(classic)["name"] == "Two paths: olia"


def test_flows_that_have_the_controller_race_and_the_others_stay() -> None:
    learned, classic = race(TWO_PATHS + MORE_FLOWS)
    assert controllers(learned)["download"] == "lia"
    assert controllers(learned)["old"] == {"name": "drl-cc", "policy": POLICY}
    assert controllers(classic) == {"download": "lia", "cross": "cubic", "noise": None, "old": "olia"}


def test_a_controller_of_single_paths_races_on_tcp_too() -> None:
    learned, _classic = race(TWO_PATHS + MORE_FLOWS, "rl-explore", CUBIC)
    assert controllers(learned)["cross"] == {"name": "rl-explore", "policy": POLICY}
    assert controllers(learned)["noise"] is None


def test_a_scenario_without_a_flow_for_it_says_what_is_needed() -> None:
    with pytest.raises(InputError, match="needs a flow of kind mptcp"):
        race(TWO_PATHS.replace('kind = "mptcp"', 'kind = "tcp"'))


def test_rivals_are_all_controllers_of_the_same_kind() -> None:
    found = rivals("drl-cc", TWO_PATHS, None)
    assert found[0].is_own
    values = [each.value for each in found]
    # The classic controllers first, then every controller and policy that a connection accepts.
    assert values[1:5] == ["lia", "olia", "balia", "wvegas"]
    assert {"bbr3", "confluence"} <= {each for each in values if isinstance(each, str)}
    assert {"name": "mplibra", "policy": "mplibra-even"} in values
    alone = [each.value for each in rivals("cubic", TWO_PATHS, None)]  # the same for any single-path controller
    assert "newreno" in alone
    assert "lia" not in alone


def test_text_that_is_no_toml_is_refused() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        race("not = = toml")


def test_a_raced_policy_is_found_wherever_policies_are_listed(tmp_path: Path, subflow: Subflow) -> None:
    write_random_policy(tmp_path / "policy.safetensors", make_plan("drl-cc"))
    training = Training("1", "One", "drl-cc", "drl-cc", "demo", folder=tmp_path, state=JobState.RUNNING)

    learned, _ = race_sources(TWO_PATHS, None, training, OLIA, title="Two paths")

    (name,) = {policy.name for _flow, policy in policies_of(learned.scenario)}
    assert is_raced(name)
    # The list of agents, the choices of controllers, the rivals of the next race
    assert name in {record.name for record in policy_records()}
    assert name in {entry["name"] for entry in subflow("agents", "--json").document}
    assert {"name": "drl-cc", "policy": name} in [each.value for each in rivals("drl-cc", TWO_PATHS, None)]
    # The reasons for its decisions
    assert "raced" in policy_origin(name)
    assert Policy.from_bytes(policy_library().read(name).content).controller == "drl-cc"

    # The file is copied once for each content, and training may overwrite its own.
    race_sources(TWO_PATHS, None, training, OLIA, title="Two paths")
    write_random_policy(tmp_path / "policy.safetensors", make_plan("drl-cc", encoder="pool"))
    race_sources(TWO_PATHS, None, training, OLIA, title="Two paths")
    assert sum(is_raced(record.name) for record in policy_records()) == 2


def test_a_training_without_a_policy_cannot_race(tmp_path: Path) -> None:
    training = Training("1", "One", "drl-cc", "drl-cc", "demo", folder=tmp_path, state=JobState.RUNNING)
    with pytest.raises(TrainingError, match="no policy yet"):
        race_sources(TWO_PATHS, None, training, AlgorithmChoice("lia", "lia"), title="Two paths")
