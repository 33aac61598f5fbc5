"""Policies of the controllers of a scenario, and the problems of unsuitable policies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.helpers.members import for_each
from tests.helpers.networks import run
from tests.helpers.policies import Plan, write_random_policy

from subflow_sim.catalog import catalog, catalog_with, resolved
from subflow_sim.errors import ParamError, PolicyError, ScenarioError
from subflow_sim.policy import Policy
from subflow_sim.policy_library import PolicyLibrary, is_policy_name, read_policy_file
from subflow_sim.scenario import Choice, Scenario, load_scenario, parse_scenario
from subflow_sim.scenario_model import OptionValue, PolicyFile
from subflow_sim.vec_env import with_learner

TEXT = """\
format = 1
duration = "3s"
nodes = { a = {}, b = {} }
links.x = { ends = ["a", "b"], rate = "8Mbit/s", delay = "20ms" }
links.y = { ends = ["a", "b"], rate = "8Mbit/s", delay = "20ms" }
[flows.f]
kind = "mptcp"
from = "a"
to = "b"
paths = [["x"], ["y"]]
count = 2
controller = """
LINE = TEXT.count("\n") + 1


def _library(tmp_path: Path) -> PolicyLibrary:
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    write_random_policy(tmp_path / "first" / "trained.safetensors", Plan("drl-cc", "lstm", "target", "action"))
    write_random_policy(
        tmp_path / "second" / "slow.safetensors", Plan("drl-cc", history=2), options={"epoch_time": 0.5, "epoch": "rtt"}
    )
    write_random_policy(tmp_path / "second" / "trained.safetensors", Plan("dql-mptcp"))
    return PolicyLibrary((tmp_path / "first", tmp_path / "second", tmp_path / "absent"))


def _parse(controller: str, library: PolicyLibrary, folder: Path | None = None) -> Scenario:
    return parse_scenario(TEXT + controller, file="s.toml", algorithms=catalog_with(library), folder=folder)


def _policy(controller: str, library: PolicyLibrary) -> PolicyFile:
    """The policy that decides for the flow."""
    policy = _parse(controller, library).flows["f"].controller.policy
    assert policy is not None
    return policy


def summary_of(scenario: Scenario) -> dict[str, Any]:
    return run(scenario).summary()


def _problem(controller: str, library: PolicyLibrary, folder: Path | None = None) -> str:
    with pytest.raises(ScenarioError) as caught:
        _parse(controller, library, folder)
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == ("s.toml", LINE)
    return str(problem)


def test_a_policy_is_found_by_name_in_the_first_folder_that_has_it(tmp_path: Path) -> None:
    library = _library(tmp_path)
    assert list(library.paths()) == ["slow", "trained"]
    content = _policy('{ name = "drl-cc", policy = "trained" }', library).content
    assert content == (tmp_path / "first" / "trained.safetensors").read_bytes()


def test_a_policy_lies_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    content_hash = write_random_policy(tmp_path / "nets" / "mine.safetensors", Plan("drl-cc"))
    file = tmp_path / "s.toml"
    file.write_text(TEXT + '{ name = "drl-cc", policy = "nets/mine.safetensors" }')
    choice = load_scenario(file).flows["f"].controller
    assert choice.policy is not None
    assert (choice.policy.name, choice.policy.content_hash) == ("nets/mine.safetensors", content_hash)


def test_a_policy_lies_anywhere_by_its_whole_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    content_hash = write_random_policy(path, Plan("drl-cc"))
    assert _policy(f'{{ name = "drl-cc", policy = "{path}" }}', PolicyLibrary()).content_hash == content_hash


def test_options_are_as_the_policy_was_trained_with_where_the_scenario_says_nothing(tmp_path: Path) -> None:
    library = _library(tmp_path)
    options = _parse('{ name = "drl-cc", policy = "slow" }', library).flows["f"].controller.options
    assert (options["epoch_time"], options["epoch"], options["history"]) == (0.5, "rtt", 2)
    own = _parse('{ name = "drl-cc", policy = "slow", epoch_time = "200ms" }', library).flows["f"].controller.options
    assert (own["epoch_time"], own["epoch"], own["history"]) == (0.2, "rtt", 2)


def test_who_decides_makes_a_difference_and_the_same_policy_none(tmp_path: Path) -> None:
    library = _library(tmp_path)
    runs = {
        name: [summary_of(_parse(f'{{ name = "drl-cc", policy = "{name}" }}', library))["signature"] for _ in range(2)]
        for name in ("neutral", "random", "trained", "slow")
    }
    assert all(first == second for first, second in runs.values())
    assert len({first for first, _ in runs.values()}) == 4


def test_a_summary_says_which_policy_decided(tmp_path: Path) -> None:
    library = _library(tmp_path)
    scenario = _parse('{ name = "drl-cc", policy = "trained" }', library)
    content_hash = Policy.load(tmp_path / "first" / "trained.safetensors").content_hash
    flows = summary_of(scenario)["flows"]
    assert [flow["policy"] for flow in flows] == [{"name": "trained", "content_hash": content_hash}] * 2
    others = summary_of(_parse('{ name = "drl-cc", policy = "random" }', library))["flows"]
    assert [flow["policy"] for flow in others] == [None] * 2
    # the hash detects another file of the same name
    write_random_policy(tmp_path / "first" / "trained.safetensors", Plan("drl-cc"), seed=2)
    assert _policy('{ name = "drl-cc", policy = "trained" }', library).content_hash != content_hash


def test_without_a_policy_the_one_that_ships_decides_or_none() -> None:
    for algorithm in catalog().controllers:
        param = next((option for option in algorithm.options if option.key == "policy"), None)
        if param is None:
            continue
        # `uncoupled` has the option of the learning base.
        learner = param.applies_to[0] if param.applies_to else algorithm.name
        ships = learner in catalog().policies.paths()
        assert param.default == (learner if ships else "neutral")
        base: dict[str, OptionValue] = {"base": learner} if param.applies_to else {}
        choice = resolved(Choice(algorithm.name, base), "linux")
        assert (choice.policy is not None) == ships


def test_one_policy_object_serves_all_flows_with_its_content(tmp_path: Path) -> None:
    library = _library(tmp_path)
    content = _policy('{ name = "drl-cc", policy = "trained" }', library).content
    assert Policy.from_bytes(content) is Policy.from_bytes(bytes(bytearray(content)))


def test_a_flow_that_is_to_learn_is_not_decided_by_a_policy(tmp_path: Path) -> None:
    scenario = _parse('{ name = "drl-cc", policy = "slow" }', _library(tmp_path))
    choice = with_learner(scenario, "drl-cc", {"history": 5}).flows["f"].controller
    assert (choice.options["policy"], choice.options["history"], choice.policy) == ("neutral", 5, None)


def test_a_policy_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    problem = _problem('{ name = "drl-cc", policy = "traned" }', _library(tmp_path))
    assert 'flows.f.controller.policy = "traned": no policy of that name, did you mean "trained"?' in problem
    assert 'allowed: "slow", "trained", "neutral" or "random", or a file beside the scenario' in problem


@for_each(
    ("policy", "reason"),
    [
        ("3", "this is a whole number, not text in quotes"),
        ('""', "empty"),
        ('"no.safetensors"', "no such file"),
        ('"../s/first/trained.safetensors"', "not within the folder of the scenario"),
        ('"/nowhere/x.safetensors"', "/nowhere/x.safetensors: no such file"),
        (r"'c:\x.safetensors'", "not within the folder of the scenario"),
        ('"first"', "no policy of that name"),
        ('"first/trained"', "no policy of that name"),
        ('"dir.safetensors"', "Is a directory"),
        ('"torch.safetensors"', "as torch.save writes"),
        ('"other.safetensors"', "was trained for dql-mptcp; allowed: a policy for drl-cc"),
        ('"one.safetensors"', "its policy acts on at most 1 subflows, and this flow has 2"),
        ('"slow", history = 3', "was trained with history = 2, not 3"),
        ('"typo.safetensors"', 'the option "epoch_tme", which drl-cc does not have, did you mean'),
        ('"long.safetensors"', "was trained with epoch_time = 1000.0: too large"),
    ],
)
def test_a_policy_that_cannot_decide_is_a_problem_of_its_line(tmp_path: Path, policy: str, reason: str) -> None:
    library = _library(tmp_path)
    (tmp_path / "dir.safetensors").mkdir()
    (tmp_path / "torch.safetensors").write_bytes(b"PK\x03\x04" + bytes(100))
    write_random_policy(tmp_path / "other.safetensors", Plan("dql-mptcp"))
    write_random_policy(tmp_path / "typo.safetensors", Plan("drl-cc"), options={"epoch_tme": 1})
    write_random_policy(tmp_path / "long.safetensors", Plan("drl-cc"), options={"epoch_time": 1000.0})
    write_random_policy(tmp_path / "one.safetensors", Plan("drl-cc", input="target", slots=1))
    assert reason in _problem(f'{{ name = "drl-cc", policy = {policy} }}', library, tmp_path)
    assert "unknown key" in _problem('{ name = "lia", policy = "trained" }', library)


def test_a_file_needs_a_scenario_with_a_folder(tmp_path: Path) -> None:
    problem = _problem('{ name = "drl-cc", policy = "mine.safetensors" }', _library(tmp_path))
    assert "cannot be found, because this scenario has no folder" in problem


def test_a_choice_made_by_hand_is_checked_when_it_is_resolved() -> None:
    with pytest.raises(ParamError, match="no policy of that name"):
        resolved(Choice("drl-cc", {"policy": "nobody"}), "linux")


def test_names_of_policies() -> None:
    assert all(is_policy_name(name) for name in ("drl-cc", "a", "Mine.v2", "x_1"))
    assert not any(is_policy_name(name) for name in ("", "neutral", "random", "a/b", ".a", "a b", "x.safetensors", "ä"))


@pytest.mark.parametrize("what", ["missing", "folder", "null", "large"])
def test_files_that_cannot_be_read_say_so(tmp_path: Path, what: str) -> None:
    large = tmp_path / "large.safetensors"
    with large.open("wb") as file:
        file.truncate((64 << 20) + 1)
    path = {"missing": tmp_path / "no.safetensors", "folder": tmp_path, "null": Path("a\0b"), "large": large}[what]
    with pytest.raises(PolicyError, match=r"no such file|not a regular file|cannot be read|larger than 64 MiB"):
        read_policy_file(path)
