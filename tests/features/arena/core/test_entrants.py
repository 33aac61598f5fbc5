"""Entrants: all controllers, agents twice, blind senders, and controllers named with options."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tests.helpers.scripts import CONTROLLER, SCHEDULER

from subflow_app.features.arena.core.entrants import BLIND_SUMMARIES, REFERENCE_SCRIPTS, chosen_entrants, entrants
from subflow_app.foundation.errors import ArenaError, InputError
from subflow_sim.arena.blind import BLIND
from subflow_sim.arena.networks import network
from subflow_sim.catalog import catalog
from subflow_sim.params import Algorithm
from subflow_sim.policy_library import PolicyLibrary, shipped_policies

NET = network("lossy", "validation", 1)


def test_everybody_is_entered_agents_a_second_time_without_what_they_learned() -> None:
    known = catalog()
    names = {each.name for each in entrants()}
    assert names == (
        {each.name for each in known.controllers if each.name != "uncoupled"}
        | {f"{name}:policy=neutral" for name in known.learners if name != "uncoupled"}
        | {"bdp", "shy"}
        | set(BLIND)
    )
    assert set(BLIND_SUMMARIES) == set(BLIND)


def test_scripts_that_are_references_are_entered_as_by_their_names() -> None:
    for name in REFERENCE_SCRIPTS:
        by_default = next(each for each in entrants() if each.name == name)
        (by_name,) = chosen_entrants([name])
        assert by_default.entry() == by_name.entry()
        assert by_default.script is not None
        assert by_default.scenario(NET).flows["user"].controller.script is not None


def test_a_controller_of_single_paths_runs_on_each_subflow() -> None:
    cubic, lia, mpcc = chosen_entrants(["cubic", "lia", "mpcc-loss"])
    flow = cubic.scenario(NET).flows["user"]
    assert (flow.controller.name, flow.controller.options["base"]) == ("uncoupled", "cubic")
    assert lia.scenario(NET).flows["user"].controller.name == "lia"
    assert mpcc.scenario(NET).flows["user"].scheduler.name == "mpcc-rate"


def test_options_are_entered_with_a_name() -> None:
    (found,) = chosen_entrants(["cubic:hystart=off"])
    assert found.name == "cubic:hystart=off"
    assert found.scenario(NET).flows["user"].controller.options["hystart"] == "off"
    assert found.entry() != chosen_entrants(["cubic"])[0].entry()


def test_a_policy_file_is_entered_as_what_it_is_for(tmp_path: Path) -> None:
    shipped = next(iter(sorted(shipped_policies().glob("mplibra*.safetensors"))))
    path = tmp_path / "mine.safetensors"
    path.write_bytes(shipped.read_bytes())
    by_path, by_option = chosen_entrants([str(path), f"mplibra:policy={path}"])
    assert (by_path.name, by_path.controller) == ("mine", "mplibra")
    policy = by_path.scenario(NET).flows["user"].controller.policy
    assert policy is not None
    assert by_option.scenario(NET).flows["user"].controller.policy == policy


def test_an_entry_is_known_by_what_its_policy_holds(tmp_path: Path) -> None:
    shipped = sorted(shipped_policies().glob("*.safetensors"))[:2]
    path = tmp_path / "mine.safetensors"
    found = []
    for each in shipped:
        path.write_bytes(each.read_bytes())
        found.append(chosen_entrants([str(path)])[0].entry())
    assert found[0] != found[1]


def test_a_script_is_entered_with_its_file_and_its_options(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(CONTROLLER)
    plain, eager = chosen_entrants([str(path), f"{path}:gain=3"])
    assert (plain.name, eager.name) == ("mine", "mine:gain=3")
    assert plain.summary == "So many packets more per round trip, half the window on loss"
    choice = eager.scenario(NET).flows["user"].controller
    assert (choice.name, choice.options) == ("mine", {"gain": 3.0})
    assert choice.script is not None
    assert choice.script.text == CONTROLLER
    path.write_text(CONTROLLER.replace("/ 2", "/ 3"))
    (other,) = chosen_entrants([str(path)])
    assert len({each.entry() for each in (plain, eager, other)}) == 3
    assert len({each.sends("linux") for each in (plain, eager, other)}) == 3


@for_each(
    ("name", "text", "options", "told"),
    [
        ("mine.py", CONTROLLER, ":gain=11", "gain: too large; allowed: a number from 0 to 10"),
        ("mine.py", CONTROLLER, ":gian=1", 'gian: unknown key, did you mean "gain"'),
        ("mine.py", CONTROLLER, ":gain", "not of the form KEY=VALUE"),
        ("mine.py", "def on_ack(w, ack):\n    w.cwnd = nobody\n", "", "mine.py:2:14: "),
        ("mine.py", SCHEDULER, "", "this is a scheduler; the arena takes controllers only"),
        ("lia.py", CONTROLLER, "", 'the controller "lia" is built in already'),
        ("my lia.py", CONTROLLER, "", '"my lia" is not a name'),
        ("mine.py", None, "", "mine.py: cannot be read"),
    ],
)
def test_a_script_may_be_refused(tmp_path: Path, name: str, text: str | None, options: str, told: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=re.escape(told)):
        chosen_entrants([f"{tmp_path / name}{options}"])


def test_a_new_controller_enters_by_existing() -> None:
    newcomer = Algorithm("newcomer", "Made up", "nowhere", (), is_coupled=True)
    known = replace(catalog(), controllers=(*catalog().controllers, newcomer))
    assert "newcomer" in {each.name for each in entrants(known)}


def test_without_its_policy_a_learner_stays_away_but_for_neutral() -> None:
    bare = replace(catalog(), policies=PolicyLibrary(()))
    learned, neutral = chosen_entrants(["mplibra", "mplibra:policy=neutral"], bare)
    assert "no policy" in learned.problem
    assert not neutral.problem


@for_each(
    ("name", "told"),
    [
        ("cubc", r'unknown controller "cubc".*did you mean "cubic"'),
        ("uncoupled", 'did you mean "coupled-cubic"?'),
        ("idle:rate=3", "idle has no options"),
        ("cubic:hystart", "not of the form KEY=VALUE"),
        ("cubic:speed=3", "speed"),
        ("mplibra:policy=nowhere", "nowhere"),
        ("nowhere.safetensors", r"nowhere\.safetensors: this policy file cannot be read"),
    ],
)
def test_what_cannot_be_entered_is_told(name: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        chosen_entrants([name])


def test_a_file_that_is_no_policy_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    path.write_bytes(b"no policy")
    with pytest.raises(ArenaError, match=r"mine\.safetensors"):
        chosen_entrants([str(path)])
