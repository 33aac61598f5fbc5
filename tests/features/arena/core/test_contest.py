"""Contests are read, errors in them are reported, and each contest is a network of the arena."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.features.arena.core.tiny_contest import CONTEST, write_tiny
from tests.helpers.members import for_each

from subflow_app.features.arena.core.entrants import contest_ids, load_contest, load_contests
from subflow_app.features.gallery.core.recipe import PAPERS
from subflow_app.foundation.errors import ArenaError, InputError
from subflow_sim.scenario import parse_scenario


def test_a_contest_is_a_network(tmp_path: Path) -> None:
    contest = load_contest(str(write_tiny(tmp_path)))
    assert (contest.id, contest.paper, contest.competes, contest.beside) == ("tiny", "mplibra", ("mptcp",), ("tcp",))
    assert contest.prose == "Two subflows beside a TCP, for seconds."
    net = contest.network(7)
    assert (net.family, net.name, net.scenario.seed) == ("mplibra", "mplibra/tiny/7", 7)
    assert (net.has_step, net.has_documents, net.beside) == (True, False, ("tcp",))
    assert parse_scenario(net.text).duration_s == net.scenario.duration_s == 5


@for_each(
    ("old", "new", "told"),
    [
        ('paper = "mplibra"', 'paper = "mplibre"', "drl-cc"),
        ('scenario = "t-1link"', 'scenario = "t-1lnk"', "t-1link"),
        ('competes = ["mptcp"]', 'competes = ["mptc"]', 'unknown flow "mptc"'),
        ('competes = ["mptcp"]', 'competes = ["tcp"]', "is of kind tcp"),
        ('competes = ["mptcp"]', "competes = []", "at least one"),
        ('competes = ["mptcp"]', 'competes = "mptcp"', "a list of texts"),
        ('competes = ["mptcp"]', "", "missing"),
        ('beside = ["tcp"]', 'beside = ["mptcp"]', "competes, too"),
        ("step = true", "documents = true", "has no size"),
        ("step = true", "[quick]", "quick"),
        ("[set]", '[set]\n"flows.tcp.controller" = "cubic"', '"tcp" runs cubic'),
        ('duration = "5s"', 'duraton = "5s"', "duraton"),
        ("format = 1", "format = 1\nform at", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(CONTEST.replace(old, new), encoding="utf-8")
    with pytest.raises(ArenaError, match=r"wrong\.toml") as caught:
        load_contest(str(path))
    assert told in str(caught.value)


def test_flows_that_compete_do_not_arrive_at_random() -> None:
    with pytest.raises(ArenaError, match="arrives at random times"):
        load_contest(str(Path(__file__).with_name("arriving.toml")))


def test_a_contest_that_is_not_there_is_told_with_those_that_come_close() -> None:
    with pytest.raises(InputError, match='did you mean "mplibra-10'):
        load_contest("mplibra-10")
    with pytest.raises(InputError, match="allowed: drl-cc-sc1"):
        load_contest("zzz")


def test_every_paper_has_contests_and_all_are_usable() -> None:
    contests = load_contests()
    assert [each.id for each in contests] == list(contest_ids())
    assert {each.paper for each in contests} == set(PAPERS)
    for contest in contests:
        assert contest.network(1).connections
