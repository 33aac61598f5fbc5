"""Contests are read, and told of what is wrong with them; every controller has a place in those that it can play."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.app_core.leaderboard.tiny_contest import CONTEST, write_tiny

from subflow_app.core.errors import InputError, LeaderboardError
from subflow_app.core.experiments.recipe import PAPERS
from subflow_app.core.leaderboard.competitors import chosen_competitors, competitors
from subflow_app.core.leaderboard.contest import contest_ids, load_contest, load_contests
from subflow_app.core.leaderboard.contest_recipe import cost_recipe, runs_recipe
from subflow_sim.catalog import catalog
from subflow_sim.params import Algorithm
from subflow_sim.policy_library import PolicyLibrary


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_tiny(tmp_path)[0]


def test_a_contest_is_read(tiny: Path) -> None:
    contest = load_contest(str(tiny))
    assert (contest.id, contest.paper, contest.competes, contest.beside) == ("tiny", "mplibra", ("mptcp",), ("tcp",))
    assert contest.is_multipath
    assert contest.prose == "Two subflows beside a TCP, for seconds."
    assert (list(contest.seeds_of(is_quick=False)), list(contest.seeds_of(is_quick=True))) == ([1, 2], [1])
    assert contest.simulated(is_quick=True).duration_s == 3
    assert contest.convergence is not None
    assert contest.convergence["tolerance"] == 0.15


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('paper = "mplibra"', 'paper = "mplibre"', "drl-cc"),
        ('scenario = "t-1link"', 'scenario = "t-1lnk"', "t-1link"),
        ('competes = ["mptcp"]', 'competes = ["mptc"]', 'there is no flow "mptc"'),
        ('competes = ["mptcp"]', 'competes = ["mptcp", "tcp"]', "all mptcp, or all tcp"),
        ('competes = ["mptcp"]', "competes = []", "at least one"),
        ('competes = ["mptcp"]', 'competes = "mptcp"', "a list of texts"),
        ('competes = ["mptcp"]', "", "missing"),
        ('beside = ["tcp"]', 'beside = ["mptcp"]', "competes, too"),
        ('seeds = "1..2"', 'seeds = "2..x"', "seeds"),
        ("[quick]", "[quick]\npoints = 3", "points"),
        ('duration = "4s"', 'duraton = "4s"', "duraton"),
        ('cost = "1500ms"', 'cost = "-1s"', "cost"),
        ('cost = "1500ms"', 'cost = "1s"', "start_jitter"),
        ("format = 1", "format = 1\nform at", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(CONTEST.replace(old, new), encoding="utf-8")
    with pytest.raises(LeaderboardError, match=r"wrong\.toml") as caught:
        load_contest(str(path))
    assert told in str(caught.value)


def test_flows_beside_are_newreno(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(CONTEST.replace("[set]", '[set]\n"flows.tcp.controller" = "cubic"'), encoding="utf-8")
    with pytest.raises(LeaderboardError, match='"tcp" runs cubic'):
        load_contest(str(path))


def test_a_contest_that_is_not_there_is_told_with_those_that_come_close() -> None:
    with pytest.raises(InputError, match="did you mean mplibra-10"):
        load_contest("mplibra-10")
    with pytest.raises(InputError, match="allowed are drl-cc-sc1"):
        load_contest("zzz")


def test_every_paper_has_contests_and_all_are_usable() -> None:
    contests = load_contests()
    assert [each.id for each in contests] == list(contest_ids())
    assert {each.paper for each in contests} == set(PAPERS)
    assert len(contests) > 20
    told = [each for each in contests if each.convergence is not None]
    # With fewer than two of them, scores have no interval.
    assert sum(each.is_multipath for each in told) >= 2
    assert sum(each.is_multipath for each in contests if each.cost_s is not None) >= 2


def test_every_controller_takes_part(tmp_path: Path) -> None:
    several, single = load_contests(list(map(str, write_tiny(tmp_path))))
    every = {each.name: each for each in competitors()}
    assert set(every) == {each.name for each in catalog().controllers} - {"uncoupled"}
    assert every["lia"].takes_part(several)
    assert not every["lia"].takes_part(single)
    assert every["lia"].values(several) == {"flows.mptcp.scheduler": "minrtt", "flows.mptcp.controller": "lia"}
    assert every["cubic"].values(several)["flows.mptcp.controller"] == {"name": "uncoupled", "base": "cubic"}
    assert every["cubic"].values(single) == {"flows.download.controller": "cubic"}
    # As its summary says.
    assert every["mpcc-loss"].values(several)["flows.mptcp.scheduler"] == "mpcc-rate"


def test_a_new_controller_enters_by_existing(tiny: Path) -> None:
    newcomer = Algorithm("newcomer", "Made up", "nowhere", (), is_coupled=True)
    known = replace(catalog(), controllers=(*catalog().controllers, newcomer))
    (found,) = chosen_competitors(["newcomer"], known)
    recipe = runs_recipe(load_contest(str(tiny)), [found], is_quick=True)
    assert recipe is not None
    assert recipe.series["newcomer"].values["flows.mptcp.controller"] == "newcomer"


def test_without_its_policy_a_learner_stays_away(tiny: Path) -> None:
    bare = replace(catalog(), policies=PolicyLibrary(()))
    (found,) = chosen_competitors(["mplibra"], bare)
    assert "no policy" in found.problem
    assert runs_recipe(load_contest(str(tiny)), [found], is_quick=True) is None
    (classic,) = chosen_competitors(["lia"], bare)
    assert not classic.problem


def test_a_controller_that_is_not_there_is_told() -> None:
    with pytest.raises(InputError, match=r'no controller "cubc".*did you mean cubic'):
        chosen_competitors(["cubc"])
    with pytest.raises(InputError, match="allowed are newreno"):
        chosen_competitors(["uncoupled"])


def test_cost_is_measured_beside_newreno(tmp_path: Path) -> None:
    several, single = load_contests(list(map(str, write_tiny(tmp_path))))
    chosen = chosen_competitors(["lia"])
    cost = cost_recipe(several, chosen, is_quick=True)
    assert cost is not None
    assert list(cost.series) == ["newreno", "lia"]
    assert cost.extra == {"over": "newreno"}
    assert cost_recipe(single, chosen, is_quick=True) is None
