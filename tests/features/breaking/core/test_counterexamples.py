"""The shipped counterexamples fail today as described, with every seed and in both profiles."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tests.helpers.scripts import CONTROLLER

from subflow_app.features.arena.core.entrants import chosen_entrants
from subflow_app.features.breaking.core.claim_file import ENTRANT, claim_names, load_claim, said_claim
from subflow_app.features.breaking.core.counterexample import (
    PROFILES,
    SUFFIX,
    UNSEEN_SEEDS,
    Counterexample,
    case_runs,
    read_counterexample,
)
from subflow_app.features.breaking.core.shrinking import is_round
from subflow_app.features.breaking.core.space import load_space, space_names
from subflow_app.features.breaking.core.trial import Trial, network_of, repetitions, run
from subflow_app.foundation.errors import ClaimFileError
from subflow_app.foundation.resources import resource_path
from subflow_app.foundation.toml_edit import read_toml, remove_value, set_value

FILES = sorted(resource_path("counterexamples").glob(f"*{SUFFIX}"))


def test_there_are_twelve_and_more_of_several_claims() -> None:
    found = [read_counterexample(path) for path in FILES]
    assert len(found) >= 12
    assert {"improve", "pareto", "freed-capacity", "no-slower"} <= {each.claim.name for each in found}


@for_each("path", FILES, ids=lambda path: path.name.removesuffix(SUFFIX))
def test_each_fails_as_it_is_told(path: Path) -> None:
    each = read_counterexample(path)
    assert each.is_confirmed
    assert {profile: len(margins) for profile, margins in each.confirmed.items()} == dict.fromkeys(PROFILES, 10)
    tree = read_toml(each.text)
    assert is_round(tree)
    assert max(len(path) for flow in tree["flows"].values() for path in flow["paths"]) <= 2
    net = repetitions(each.network("linux"), UNSEEN_SEEDS[:1])[0]
    assert each.trial().margin(net) == pytest.approx(each.confirmed["linux"][0], abs=1e-3)


@pytest.mark.full("tries all seeds and profiles of all of them")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(SUFFIX))
def test_each_has_the_margins_that_are_stored(path: Path) -> None:
    each = read_counterexample(path)
    for profile, margins in each.again().confirmed.items():
        assert margins == pytest.approx(each.confirmed[profile], abs=1e-3)


@pytest.mark.parametrize("name", ["pareto-lia", "no-slower-lia", "no-slower-bbr", "as-good-as-lia-balia"])
def test_the_files_of_its_runs_say_what_a_search_runs(name: str) -> None:
    each = read_counterexample(resource_path(f"counterexamples/{name}{SUFFIX}"))
    runs = case_runs(each)
    assert [case.name for case in runs] == [ENTRANT, *each.claim.cases]
    for case, asked in zip(runs, (ENTRANT, *each.claim.cases), strict=True):
        searched = each.trial().scenario(repetitions(each.network(), [each.first_seed])[0], asked)
        assert run(case.source.scenario)["signature"] == run(searched)["signature"]


def test_its_runs_show_the_numbers_that_its_text_states() -> None:
    each = read_counterexample(resource_path(f"counterexamples/improve-olia{SUFFIX}"))
    own, best = (run(case.source.scenario)["flows"][0]["goodput_bps"] / 1e6 for case in case_runs(each))
    assert each.told == f"{own:.4g} Mbit/s >= {0.9 * best:.4g} Mbit/s"


def test_a_claim_without_a_case_is_kept_by_another_controller() -> None:
    each = read_counterexample(resource_path(f"counterexamples/fair-to-itself-olia{SUFFIX}"))
    own, kept = case_runs(each)
    assert own.source.text == set_value(set_value(each.text, ("seed",), 101), ("start_jitter",), "0.1s")
    assert kept.title == "cubic"
    assert Trial(each.claim, chosen_entrants([kept.title])[0]).margin(network_of(kept.source.scenario)) >= 0


def test_a_script_is_measured_against_itself_on_one_path(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CONTROLLER)
    entry = str(tmp_path / "mine.py")
    claim = said_claim(f"goodput() >= goodput('{entry}@2') and goodput() >= goodput('lia')")
    network = remove_value(load_space("demo", ["links.wifi.loss=0,1%"]).text, ("flows", "download", "controller"))
    entrant = chosen_entrants([entry])[0]
    text = entrant.put_into(network, ["download"])
    own, alone, lia = case_runs(Counterexample(claim, entry, "No", "", text, {}))
    assert own.source.text == set_value(set_value(text, ("seed",), 101), ("start_jitter",), "0.1s")
    flow = alone.source.scenario.flows["download"]
    assert (flow.controller.name, len(flow.paths)) == ("mine", 1)
    assert lia.source.scenario.flows["download"].controller.name == "lia"


@for_each("name", claim_names())
def test_claims_name_spaces_that_there_are(name: str) -> None:
    claim = load_claim(name)
    assert claim.spaces
    assert set(claim.spaces) <= set(space_names())
    assert claim.prose
    for space in claim.spaces:
        assert load_space(space).keys


@for_each(
    ("text", "told"),
    [
        ("format = 1\n", "title: missing"),
        ('format = 1\ntitle = "a"\nholds = "goodput("\n', "holds"),
        ('format = 1\ntitle = "a"\nholds = "goodput(\'other\') > 1 Mbit/s"\n', 'unknown case "other"'),
        ('format = 1\ntitle = "a"\nholds = "goodput() > 1 Mbit/s"\nfails = "{nothing}"\n', "in braces"),
        ('format = 1\ntitle = "a"\nholds = "goodput() > 1 Mbit/s"\n[cases.x]\npath = "worst"\n', "is not a path"),
        ('format = 1\ntitle = "a"\nholds = "goodput() > 1 Mbit/s"\nsaids = 1\n', "unknown key"),
        ("no TOML", "not valid TOML"),
    ],
)
def test_a_claim_that_cannot_be_read_is_told(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ClaimFileError, match=r"mine\.toml") as error:
        load_claim(str(path))
    assert told in str(error.value)


def test_a_counterexample_that_is_damaged_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(FILES[0].with_name(FILES[0].name.replace(SUFFIX, ".toml")).read_text())
    (tmp_path / f"x{SUFFIX}").write_text(
        'format = 1\nclaim = "improve"\nentrant = "olia"\nsays = "a"\n[confirmed]\nlinux = "no"\n'
    )
    with pytest.raises(ClaimFileError, match="these are not margins"):
        read_counterexample(tmp_path / f"x{SUFFIX}")
    (tmp_path / "x.toml").unlink()
    with pytest.raises(ClaimFileError, match="cannot be read"):
        read_counterexample(tmp_path / f"x{SUFFIX}")
