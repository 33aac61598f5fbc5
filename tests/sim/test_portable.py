"""A scenario as one document is complete: the scenario read back from its text gives the same run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.golden.update import SIGNATURES, kept_in, shipped
from tests.helpers.networks import run
from tests.helpers.scripts import write_scenario

from subflow_sim import load_scenario
from subflow_sim.errors import SimulationError
from subflow_sim.portable import PortableScenario, portable, portable_choices, signature_of

KEPT = kept_in(SIGNATURES)
# At least one scenario each with traces, radio, arrivals, policies, marks, events and late paths.
ALSO_WITHOUT_FULL = {"demo", "wifi-conference", "late-path", "why-dualpi2", "lte-walk", "starlink", "drlcc-sc1"}


def named(name: str) -> object:
    marks = [] if name in ALSO_WITHOUT_FULL else [pytest.mark.full("tests/web runs all of them by their documents")]
    return pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", [named(name) for name in sorted(KEPT)])
def test_a_shipped_scenario_is_the_same_run(name: str) -> None:
    scenario = shipped()[name]
    assert signature_of(portable(scenario, scenario.seed), scenario.seed) == KEPT[name]


def test_what_is_no_document_is_refused() -> None:
    with pytest.raises(SimulationError, match="duration"):
        signature_of(PortableScenario({"scenario": {"duration": "long"}, "programs": []}, (), (), (), ()), 1)


def test_a_script_goes_with_its_scenario(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path))
    made = portable(scenario, 1)
    assert len(made.document["programs"]) == 2
    assert signature_of(made, 1) == run(scenario, seed=1).signature()


def test_choices_are_those_that_need_no_file() -> None:
    controllers = {choice.name: choice for choice in portable_choices("controller", "linux")}
    assert {"cubic", "lia", "bbr"} <= controllers.keys()
    assert controllers["lia"].is_coupled
    assert controllers["cubic"].choice["name"] == "cubic"
    assert {choice.name for choice in portable_choices("scheduler", "linux")} >= {"minrtt", "roundrobin"}
