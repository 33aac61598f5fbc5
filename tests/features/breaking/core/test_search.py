"""Searches find failures, reduce them to small and confirmed networks, and can be resumed."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.present import present
from tests.helpers.scripts import SCENARIO, write_scenario

from subflow_app.features.arena.core.entrants import chosen_entrants
from subflow_app.features.breaking.core.claim_file import load_claim, said_claim
from subflow_app.features.breaking.core.counterexample import (
    PROFILES,
    UNSEEN_SEEDS,
    case_runs,
    of_document,
    read_counterexample,
)
from subflow_app.features.breaking.core.job import BreakJob, Question
from subflow_app.features.breaking.core.search import GENERATION, RANDOM_GENERATIONS, Niche, Search
from subflow_app.features.breaking.core.search_map import SearchMap
from subflow_app.features.breaking.core.shrinking import is_round
from subflow_app.features.breaking.core.space import load_space
from subflow_app.foundation.toml_edit import read_toml
from subflow_store import Store, open_store


def question(claim: str, controller: str, space: str = "", seed: int = 1) -> Question:
    """A question about a shipped claim, in the first of its spaces unless one is given."""
    file = load_claim(claim) if "(" not in claim else said_claim(claim)
    return Question(file, chosen_entrants([controller])[0], load_space(space or file.spaces[0]), seed)


def carried_out(asked: Question, networks: int, store: Store | None = None, most: int = 1) -> BreakJob:
    """A finished search."""
    job = BreakJob(asked, store, minutes=None, networks=networks, most=most)
    job.run().check()
    return job


@pytest.mark.parametrize(
    ("claim", "controller", "networks", "seed", "worst"),
    [
        ("improve", "olia", 144, 8, 0.5),  # OLIA gets half of one NewReno on its best path
        ("pareto", "lia", 48, 1, 0.9),  # a second path brings LIA nothing and costs others a tenth
        ("freed-capacity", "balia", 48, 1, 0.7),  # BALIA leaves three tenths of the freed capacity unused
        ("no-slower", "lia", 72, 1, 0.7),  # minRTT over two paths is slower than over the better path
    ],
)
def test_known_failures_are_found(claim: str, controller: str, networks: int, seed: int, worst: float) -> None:
    job = carried_out(question(claim, controller, seed=seed), networks, most=2)
    assert job.found, f"nothing was found in {job.search.tried} networks"
    found = min(job.found, key=lambda each: each.estimate("linux").mean)
    assert math.exp(found.estimate("linux").mean) < worst
    assert all(margin < 0 for margin in found.confirmed["linux"])
    assert len(found.confirmed["linux"]) == len(UNSEEN_SEEDS)
    assert set(found.confirmed) == set(PROFILES)
    tree = read_toml(found.text)
    assert is_round(tree)
    paths = [path for flow in tree["flows"].values() for path in flow["paths"]]
    assert max(map(len, paths)) <= 2
    assert controller in found.says
    # The network is an ordinary scenario, and fails as reported.
    assert found.trial().margin(found.network()) < 0


def test_a_theorem_is_not_broken() -> None:
    job = carried_out(question("equals-newreno", "lia"), GENERATION * RANDOM_GENERATIONS)
    assert job.search.failed == 0
    assert not job.found
    assert "may be one that cannot fail" in job.notes[0]


def test_a_claim_that_always_fails_is_told() -> None:
    asked = question("goodput() > 900 Mbit/s", "newreno", "one-link")
    job = carried_out(asked, GENERATION * RANDOM_GENERATIONS, most=0)
    assert "failed in all of the first 240 networks" in job.notes[0]


def test_a_search_goes_on_where_it_was(tmp_path: Path) -> None:
    asked = question("no-slower", "lia")
    with open_store(tmp_path / "searches.db") as store:
        first = carried_out(asked, 2 * GENERATION, store)
        longer = carried_out(asked, 4 * GENERATION, store)
        number = present(first.record).id
        assert (present(longer.record).id, longer.progress.reused) == (number, 2 * GENERATION)
        assert len(store.searches.generations(number)) == 4
        kept = store.searches.found(number)
        assert [of_document(each).says for each in kept] == [each.says for each in longer.found]
    at_once = carried_out(asked, 4 * GENERATION)
    margins = [{niche: elite.margin for niche, elite in job.search.elites.items()} for job in (at_once, longer)]
    assert margins[0] == margins[1]


def test_generations_with_other_points_are_tried_again_and_replaced(tmp_path: Path) -> None:
    asked = question("no-slower", "lia")
    with open_store(tmp_path / "searches.db") as store:
        record = present(carried_out(asked, 3 * GENERATION, store).record)
        kept = store.searches.generations(record.id)
        # As another version of a library would have drawn them
        store.searches.add(record.id, [kept[1]._replace(points=bytes(len(kept[1].points)))], 0)
        again = carried_out(asked, 3 * GENERATION, store)
        assert again.progress.reused == GENERATION
        assert store.searches.generations(record.id) == kept
        assert carried_out(asked, 3 * GENERATION, store).progress.reused == 3 * GENERATION


def test_a_search_told_again_asks_the_same(tmp_path: Path) -> None:
    def asked(count: int) -> list[np.ndarray]:
        search, points = Search(5, seed=3), []
        for _ in range(count):
            points.append(search.ask())
            margins = [float(np.linalg.norm(point - 0.3)) - 0.4 for point in points[-1]]
            niches = [Niche(*(int(3 * each) for each in (*point, 0.5))) for point in points[-1]]
            search.tell(points[-1], margins, niches)
        return points

    first, second = asked(20), asked(20)
    assert all(np.array_equal(one, two) for one, two in zip(first, second, strict=True))
    led = np.mean([np.linalg.norm(point - 0.3) for point in first[-1][:12]])
    lucky = np.mean([np.linalg.norm(point - 0.3) for point in first[0]])
    assert led < 0.7 * lucky


def test_failures_are_of_different_kinds() -> None:
    search = Search(2, seed=1)
    points = search.ask()
    niches = [Niche(number % 3, 0, 0, 0, number // 12, 0) for number in range(GENERATION)]
    search.tell(points, [-1.0 - number / 100 for number in range(GENERATION)], niches)
    chosen = search.failures(10)
    assert [elite.margin for elite in chosen] == sorted(elite.margin for elite in chosen)
    assert all(one.niche.distance(two.niche) >= 2 for one in chosen for two in chosen if one is not two)


def test_a_script_of_a_scenario_is_tried_in_it(tmp_path: Path) -> None:
    write_scenario(tmp_path, SCENARIO.split("[[events]]")[0])
    (tmp_path / "mine.py").write_text("gain = option(1, min=0, max=10)\n\n\ndef on_ack(w, ack):\n    w.cwnd = 2\n")
    space = load_space(str(tmp_path / "scenario.toml"), ["links.x.rate=5Mbit/s..9Mbit/s"])
    entrant = chosen_entrants(["mine"], scripts=space.scripts)[0]
    with open_store(tmp_path / "searches.db") as store:
        asked = Question(said_claim("goodput() >= 0.5 * goodput('newreno@best')"), entrant, space)
        job = carried_out(asked, GENERATION, store)
        found = of_document(store.searches.found(present(job.record).id)[0])
    (tmp_path / "mine.py").unlink()
    assert found.trial().margin(found.network()) < 0
    assert [run.title for run in case_runs(found)] == ["mine", "newreno on the best path"]


def test_what_was_found_is_read_from_its_files(tmp_path: Path) -> None:
    found = carried_out(question("no-slower", "lia"), 72).found[0]
    _, claim = found.write(tmp_path, "slow")
    read = read_counterexample(claim)
    assert (read.says, read.text, read.entrant) == (found.says, found.text, found.entrant)
    for profile in PROFILES:
        assert read.confirmed[profile] == pytest.approx(found.confirmed[profile], abs=1e-3)
    assert read.again().confirmed == found.confirmed


def test_a_map_of_many_networks_leaves_out_what_cannot_be_drawn_and_counts_it() -> None:
    margins = np.random.default_rng(1).normal(0.0, 1.0, 5000)
    places = np.arange(5000.0).reshape(-1, 1)
    whole = SearchMap((), places, margins, None, kinds=3, unmeasured=7)
    drawn = whole.with_at_most(800)
    assert len(drawn.margins) == len(drawn.places) == 800
    assert (drawn.told, drawn.tried, drawn.failed, drawn.kinds) == (5000, 5007, whole.failed, 3)
    assert np.array_equal(margins[drawn.places[:, 0].astype(int)], drawn.margins)
    assert set(np.sort(margins)[:160]) <= set(drawn.margins)
    assert drawn.margins.max() == margins.max()
    assert whole.with_at_most(5000) is whole
