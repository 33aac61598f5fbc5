"""The commands ``subflow arena`` and ``subflow leaderboard``: lists, runs, boards, files and errors."""

from __future__ import annotations

import re
from pathlib import Path

from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each

from subflow_app.features.arena.core.entrants import contest_ids


def test_families_contests_and_entrants_are_listed(subflow: Subflow) -> None:
    listed = subflow("leaderboard", "--list", "--json").document
    assert [each["id"] for each in listed["contests"]] == list(contest_ids())
    assert "lossy" in [each["name"] for each in listed["families"]]
    assert "mplibra:policy=neutral" in [each["name"] for each in listed["entrants"]]
    assert "Beside a CUBIC on each link" in subflow("arena", "--list").out


def test_entrants_are_tried_shown_and_written(subflow: Subflow, tmp_path: Path, database: Path) -> None:
    command = ("arena", "--family", "slow", "--split", "validation", "--numbers", 3, "--jobs", 1, "--db", database)
    answer = subflow(*command, "--controllers", "newreno, lia,idle", "--out", tmp_path / "out")
    assert answer.code == 0, answer.err
    assert "3 entrants in 3 networks: 9 runs" in answer.err
    assert re.search(r"^missing runs: about .* with 1 at once, about .* of processor time$", answer.err, re.MULTILINE)
    assert "Lowest tenth" in answer.out
    assert "9 of 9 results" in answer.out
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"arena.html", "arena.pdf", "standings.csv", "pairs.csv", "values.csv"}
    assert "Differences from" in answer.out
    again = subflow(*command, "--controllers", "newreno,lia", "--against", "newreno", "--json").document
    (pair,) = again["pairs"]
    assert (again["against"], pair["controller"], pair["difference"]["networks"]) == ("newreno", "lia", 3)
    assert pair["papers"] == {"mean": None, "networks": 0}
    assert again["edition"] == 1
    assert (again["runs"], again["finished"], again["split"]) == (6, 6, "validation")
    assert again["standings"][0]["rank"] == 1
    assert "missing runs" not in subflow(*command, "--controllers", "newreno,lia").err
    assert again["standings"][0]["overall"]["mean"] <= 1
    table = subflow(*command, "--stored", "--controllers", "lia", "--metric", "queueing")
    assert "Queueing delay (RTT)" in table.out
    assert subflow(*command, "--stored", "--controllers", "lia", "--csv").out.count("utility") == 3


def test_who_is_entered_stands_among_all_that_are_known(subflow: Subflow, database: Path) -> None:
    command = ("arena", "--family", "slow", "--split", "validation", "--numbers", 1, "--jobs", 1, "--db", database)
    assert subflow(*command, "--controllers", "lia,cubic", "--json").code == 0
    found = subflow(*command, "cubic:hystart=off", "--json").document
    assert {each["controller"] for each in found["standings"]} == {"lia", "cubic", "cubic:hystart=off"}


def test_what_ships_is_shown_where_nothing_was_run(subflow: Subflow) -> None:
    answer = subflow("arena", "--stored")
    assert "Lowest tenth" in answer.out
    assert "ship with Subflow" in answer.out
    assert subflow("arena", "--stored", "--json").document["shipped"] > 0


def test_the_families_of_the_first_edition_still_rank(subflow: Subflow) -> None:
    document = subflow("arena", "--stored", "--edition", 1, "--controllers", "lia,cubic", "--json").document
    assert (document["edition"], document["finished"]) == (1, document["runs"])
    assert sum(document["results_by_version"].values()) == document["finished"]
    (pair,) = document["pairs"]
    assert (pair["difference"]["networks"], pair["papers"]["networks"]) == (280, 100)
    assert (
        subflow("arena", "--stored", "--edition", 1, "--controllers", "lia").out.count("edition 1 of the families") == 1
    )


def test_the_final_networks_are_listed_by_their_own_split(subflow: Subflow) -> None:
    families = subflow("arena", "--list", "--split", "final", "--json").document["families"]
    assert sum(len(each["networks"]) for each in families) == 400
    assert families[0]["networks"][0] == "slow/test/101"
    assert {each["edition"] for each in families} == {1, 2}


@for_each(
    ("options", "told"),
    [
        (("--contest", "nowhere"), "no such contest"),
        (("--family", "losy"), 'did you mean "lossy"'),
        (("--controllers", "cubc"), 'did you mean "cubic"'),
        (("cubic:speed=3",), "speed"),
        (("--metric", "speed"), "allowed: utility"),
        (("--split", "exam"), "allowed: train, validation, test, final"),
        (("--split", "final", "--quick"), "numbers are 101 to 120; allowed: neither --numbers nor --quick"),
        (("--split", "final", "--numbers", "1..3"), "numbers are 101 to 120"),
        (("--edition", "3"), "--edition 3: unknown edition of the families; allowed: 1 to 2"),
        (("--edition", "1", "--family", "alone"), "none of the families alone is in it"),
        (("--edition", "1", "--contest", "mplibra-10a"), "cannot be combined with"),
        (("--stored", "--controllers", "lia,cubic", "--against", "cubc"), 'did you mean "cubic"'),
        (("--family", "mplibra", "--split", "validation"), "only in the test split"),
        (("--out", __file__), "this is a file"),
        (("--numbers", "0"), "at least 1"),
        (("--csv", "--json"), "choose one"),
        (("--stored", "--no-store"), "cannot be combined with"),
        (("--contest", "mplibra-10a", "--family", "lossy"), "cannot be combined with"),
    ],
)
def test_what_is_wrong_is_told(subflow: Subflow, options: tuple[str, ...], told: str) -> None:
    answer = subflow("arena", *options)
    assert answer.code == 2
    assert told in answer.err
