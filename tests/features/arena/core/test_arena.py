"""The arena from entry to page: outcomes are kept and reused, scores depend on no other entrant, failures count."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.features.arena.core.tiny_contest import write_tiny
from tests.helpers.present import present

from subflow_app.features.arena.core import job as arena_job
from subflow_app.features.arena.core.arena_text import (
    board_document,
    settled_text,
    standings_csv,
    told_of,
    values_csv,
)
from subflow_app.features.arena.core.job import ArenaJob
from subflow_app.features.arena.core.report import arena_report, commands, write_board
from subflow_app.features.arena.core.results import (
    FULL_NUMBERS,
    QUICK_NUMBERS,
    Board,
    Entry,
    Result,
    entry,
    known_board,
)
from subflow_app.features.arena.core.standings import Interval, Standing, best_name, paired, scatter, standings
from subflow_app.foundation.errors import ArenaError
from subflow_app.foundation.jobs.executors import executor_maker
from subflow_app.foundation.jobs.tasks import OnStart
from subflow_sim.arena.networks import Network
from subflow_sim.arena.utility import WORST
from subflow_sim.whole_scenario import Scenario
from subflow_store import Store, open_store
from subflow_store.arena import ArenaOutcome

FAMILIES = ("lossy", "beside-newreno")


def asked(*names: str) -> Entry:
    return entry(names, families=FAMILIES, numbers=[1, 2], split="validation")


def run(chosen: Entry, store: Store) -> ArenaJob:
    job = ArenaJob(chosen, store)
    job.run().check()
    return job


def board_of(chosen: Entry, store: Store) -> Board:
    run(chosen, store)
    return known_board(chosen, store)


def same(utility: float, chosen: Entry, *names: str) -> dict[tuple[str, str], Result]:
    networks = [network for family in chosen.families for network in chosen.names(family)]
    return {(name, network): Result(utility, 0.0) for name in names for network in networks}


def test_outcomes_are_kept_and_not_made_again(store: Store) -> None:
    first = run(asked("lia", "idle"), store)
    assert (first.progress.finished, first.progress.reused) == (8, 0)
    again = run(asked("lia", "idle", "cubic"), store)
    assert (again.progress.finished, again.progress.reused) == (12, 8)
    board = known_board(asked("lia", "idle", "cubic"), store)
    assert (board.n_finished, board.n_wanted) == (12, 12)
    last = standings(board)[-1]
    assert (last.name, last.score.mean) == ("idle", WORST)


def test_only_missing_runs_are_estimated(store: Store) -> None:
    run(asked("lia"), store)
    assert ArenaJob(asked("lia"), store).estimate() is None
    job = ArenaJob(asked("lia", "cubic"), store)
    told = present(job.estimate())
    # Each family has two networks, and NewReno makes one more run in each network with competing flows.
    assert told.runs == 4 + 2
    simulated_s = sum(net.scenario.duration_s for net in job.entry.networks())
    assert 1e-4 * simulated_s < told.cpu_s < simulated_s
    assert told.disk_bytes < 1e6
    assert job.estimate(lambda: True) is None
    job.run().check()
    assert (job.progress.finished, job.progress.reused) == (8, 4)


def test_a_score_does_not_depend_on_who_else_takes_part(store: Store) -> None:
    among = next(row for row in standings(board_of(asked("lia", "cubic", "bbr"), store)) if row.name == "lia")
    (alone,) = standings(known_board(asked("lia"), store))
    assert (alone.score, alone.families, alone.worst_decile) == (among.score, among.families, among.worst_decile)


def test_what_was_made_here_counts_before_what_ships(store: Store) -> None:
    chosen = asked("lia")
    with open_store(":memory:") as shipping:
        run(chosen, shipping)
        shipped = list(shipping.arena.outcomes().values())
    own = shipped[0]._replace(result={"utility": -3.0, "throughput": -3.0}, made_at="")
    store.arena.add([own])
    board = known_board(chosen, store, shipped)
    assert board.results["lia", own.network].utility == -3.0
    assert (board.n_finished, board.n_shipped) == (4, 3)
    assert "3 of them ship with Subflow" in " ".join(told_of(board))
    damaged = [each._replace(result={"utility": "high"}) for each in shipped[1:]]
    assert known_board(chosen, store, damaged).n_finished == 1


def test_an_entrant_that_cannot_run_is_the_worst_with_its_reason(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    real = arena_job._try_out

    def failing(net: Network, scenario: Scenario, on_start: OnStart) -> tuple[Result, str]:
        if any(flow.controller.name == "balia" for flow in scenario.flows.values()):
            return (Result(WORST, reason="needs another path"), "")
        return real(net, scenario, on_start)

    monkeypatch.setattr(arena_job, "_try_out", failing)
    lia, balia = standings(board_of(asked("lia", "balia"), store))
    assert (balia.name, balia.score.mean, balia.n_failed) == ("balia", WORST, 4)
    assert balia.reasons == {"needs another path": 4}
    assert lia.n_failed == 0


@pytest.fixture
def job(store: Store) -> ArenaJob:
    return ArenaJob(asked("lia"), store)


def first_wanted(job: ArenaJob) -> Any:
    return arena_job._wanted(job.entry.entrants[0], next(job.entry.networks()), "")


def test_an_entrant_that_ends_its_process_is_the_worst(job: ArenaJob, store: Store) -> None:
    job._give_up(first_wanted(job), "tried 3 times, and each time its process ended")
    job._write()
    (outcome,) = store.arena.outcomes().values()
    assert outcome.result["utility"] == WORST
    assert "each time" in outcome.result["reason"]
    assert "lia, lossy/validation/1" in job.problems[0]


def test_a_worker_of_another_version_is_refused(job: ArenaJob) -> None:
    with pytest.raises(ArenaError, match="another version"):
        job._keep(first_wanted(job), (Result(0.0), "0.0.0+other"))


def test_nobody_is_told(store: Store) -> None:
    chosen = asked("lia")
    nobody = replace(chosen, entrants=tuple(replace(each, problem="ill") for each in chosen.entrants))
    with pytest.raises(ArenaError, match="lia does not take part: ill"):
        ArenaJob(nobody, store)


def test_many_processes_come_to_the_same() -> None:
    chosen = entry(["lia", "oracle"], families=["slow"], numbers=[1, 2], split="validation")
    results = []
    for jobs in (1, 2):
        with open_store(":memory:") as store:
            ArenaJob(chosen, store, executor=executor_maker(jobs)).run().check()
            found = known_board(chosen, store).results
            results.append({place: replace(result, cpu=0.0) for place, result in found.items()})
    assert repr(sorted(results[0].items())) == repr(sorted(results[1].items()))


def test_standings_are_means_over_families_and_not_over_networks() -> None:
    chosen = asked("lia", "cubic")
    results = same(-1.0, chosen, "lia", "cubic")
    for network in chosen.names("lossy"):
        results["cubic", network] = Result(-2.0, -1.0)
    first, second = standings(Board(chosen, results))
    assert (first.name, first.rank, first.score.mean) == ("lia", 1, -1.0)
    assert second.score.mean == pytest.approx(-1.5)
    assert second.families["lossy"].mean == -2.0
    assert first.is_ahead
    assert present(first.lead).mean == pytest.approx(0.5)


def test_a_lead_that_other_networks_would_turn_is_none() -> None:
    chosen = entry(["lia", "cubic"], families=["lossy"], numbers=range(1, 11), split="validation")
    names = chosen.names("lossy")
    results = {("lia", name): Result(-1.0 - place % 2, 0.0) for place, name in enumerate(names)}
    results |= {("cubic", name): Result(-1.0 - (place + 1) % 2, 0.0) for place, name in enumerate(names)}
    first, _ = standings(Board(chosen, results))
    assert not first.is_ahead
    assert first.score.low < first.score.mean < first.score.high


def test_differences_are_paired_by_network_and_settled_where_scores_overlap() -> None:
    chosen = entry(["lia", "cubic"], families=["lossy", "slow"], numbers=range(1, 21), split="validation")
    names = [name for family in chosen.families for name in chosen.names(family)]
    results = {("lia", name): Result(-1.0 - place % 4, 0.0) for place, name in enumerate(names)}
    results |= {("cubic", name): Result(-1.1 - place % 4 - 0.01 * (place % 3), 0.0) for place, name in enumerate(names)}
    board = Board(chosen, results)
    rows = standings(board)
    assert rows[0].score.low < rows[1].score.high
    (pair,) = paired(board, rows, best_name(rows))
    assert (pair.name, pair.n, pair.n_better, pair.n_worse) == ("cubic", 40, 0, 40)
    assert pair.difference.mean == pytest.approx(rows[1].score.mean - rows[0].score.mean)
    assert pair.difference.high < 0
    assert pair.difference.high - pair.difference.low < 0.02
    assert settled_text(pair) == "worse"
    assert math.isnan(pair.papers)
    results.pop(("cubic", names[0]))
    assert paired(Board(chosen, results), rows, "lia")[0].n == 39


def test_a_difference_of_either_sign_is_not_settled() -> None:
    chosen = entry(["lia", "cubic"], families=["lossy"], numbers=range(1, 11), split="validation")
    results = same(-1.0, chosen, "lia") | {
        ("cubic", name): Result(-1.0 + (-1) ** place * 0.5, 0.0) for place, name in enumerate(chosen.names("lossy"))
    }
    board = Board(chosen, results)
    (pair,) = paired(board, standings(board), "lia")
    assert (pair.n_better, pair.n_worse, pair.is_settled, settled_text(pair)) == (5, 5, False, "")


def test_experiments_of_papers_are_compared_apart() -> None:
    chosen = entry(["lia", "cubic"], families=["rl-explore", "lossy"], numbers=range(1, 5))
    results = same(-1.0, chosen, "lia", "cubic")
    for name in chosen.names("rl-explore"):
        results["cubic", name] = Result(-3.0, 0.0)
    board = Board(chosen, results)
    (pair,) = paired(board, standings(board), "lia")
    assert (pair.difference.mean, pair.n, pair.papers, pair.n_papers) == (0.0, 4, -2.0, 4)


def test_the_best_with_which_others_are_compared_is_not_blind() -> None:
    chosen = asked("lia", "oracle")
    rows = standings(Board(chosen, same(-1.0, chosen, "lia") | same(0.0, chosen, "oracle")))
    assert (rows[0].name, best_name(rows)) == ("oracle", "lia")


def outcome(entrant: str, entry_hash: str, network: str, version: str = "1") -> ArenaOutcome:
    return ArenaOutcome(f"{entrant} {entry_hash} {network}", entrant, entry_hash, network, version, {"utility": -1.0})


def test_families_without_any_result_are_left_out_and_told(store: Store) -> None:
    chosen = entry(["lia", "cubic"], families=["lossy", "alone"], numbers=[1, 2])
    own = {each.name: each.entry() for each in chosen.entrants}
    store.arena.add(outcome(name, own[name], f"lossy/test/{number}", name) for name in own for number in (1, 2))
    board = known_board(chosen, store)
    assert (board.entry.families, board.unknown, board.entry.edition) == (("lossy",), ("alone",), 1)
    assert all(row.is_complete for row in standings(board))
    told = " ".join(told_of(board))
    assert "Simulator: cubic (2), lia (2); edition 1 of the families." in told
    assert "Made by 2 versions of the simulator" in told
    assert "left out: alone." in told


def test_entries_in_the_final_networks_are_counted_apart(store: Store) -> None:
    final = entry(["lia"], families=["lossy"], split="final")
    own = final.entrants[0].entry()
    store.arena.add([outcome("lia", own, "lossy/test/101"), outcome("lia", "other", "lossy/test/102")])
    assert known_board(final, store).tries == {"lia": 2}
    assert "Entered more than once in the final networks" in " ".join(told_of(known_board(final, store)))
    assert known_board(entry(["lia"], families=["lossy"]), store).tries == {}


def test_the_final_split_is_the_numbers_101_to_120_of_drawn_families() -> None:
    final = entry(["lia"], split="final")
    assert final.n_networks == 400
    assert not final.contests
    assert not final.is_quick
    assert [net.name for net in final.networks()] == [
        f"{family}/test/{number}" for family in final.families for number in range(101, 121)
    ]
    assert commands(Board(final, {}))[0] == "subflow arena --split final"
    assert commands(Board(entry(["lia"], edition=1), {}))[0] == "subflow arena --edition 1"


def test_who_lacks_networks_comes_last_and_without_an_interval() -> None:
    chosen = asked("lia", "cubic")
    results = same(-1.0, chosen, "lia") | {("cubic", chosen.names("lossy")[0]): Result(0.0, 0.0)}
    first, second = standings(Board(chosen, results))
    assert (first.name, second.name, second.is_complete) == ("lia", "cubic", False)
    assert math.isnan(second.score.low)


def test_the_worst_tenth_is_of_networks() -> None:
    chosen = entry(["lia"], families=["lossy"], numbers=range(1, 21), split="validation")
    names = chosen.names("lossy")
    results = {("lia", name): Result(-5.0 if place < 2 else 0.0, 0.0) for place, name in enumerate(names)}
    (row,) = standings(Board(chosen, results))
    assert row.worst_decile == -5.0


def test_gated_and_failed_networks_are_told_apart() -> None:
    chosen = asked("lia")
    results = same(-1.0, chosen, "lia")
    gated, failed = chosen.names("beside-newreno")
    results["lia", gated] = Result(WORST, 0.1, friendliness=0.5, reason="leaves the others 50 %")
    results["lia", failed] = Result(WORST, reason="stopped")
    (row,) = standings(Board(chosen, results))
    assert (row.n_gated, row.n_failed) == (1, 1)


def test_the_frontier_is_those_whom_nobody_beats_in_both() -> None:
    found = {"a": (0.1, 0.5), "b": (0.2, 0.9), "c": (0.3, 0.8), "oracle": (0.0, 1.0), "constant": (0.0, 0.1)}
    none = Interval(0.0, 0.0, 0.0)
    rows = [
        Standing(name, 1, none, 0.0, {}, {"queueing": x, "throughput": y}, None, 0, 0) for name, (x, y) in found.items()
    ]
    panel = scatter(rows, "queueing", "throughput")
    assert [series.name for series in panel.series if series.is_ours] == ["a", "b"]
    assert panel.note == "Frontier: a, b"


def test_pages_and_tables_are_written(store: Store, tmp_path: Path) -> None:
    board = board_of(asked("lia", "cubic", "idle"), store)
    rows = standings(board)
    written = write_board(board, rows, tmp_path, "lia")
    assert [path.name for path in written] == ["arena.html", "arena.pdf", "standings.csv", "pairs.csv", "values.csv"]
    page = written[0].read_text(encoding="utf-8")
    assert "Ranking" in page
    assert "subflow arena --numbers 1,2 --split validation --family lossy --family beside-newreno" in page
    assert "Differences from lia, paired by network" in page
    assert [line.split(",")[:2] for line in written[3].read_text().splitlines()[1:]] == [
        [row.name, "lia"] for row in rows if row.name != "lia"
    ]
    assert written[1].read_bytes().startswith(b"%PDF")
    document = board_document(board, rows, "lia")
    json.dumps(document, allow_nan=False)
    assert [each["controller"] for each in document["standings"]] == [row.name for row in rows]
    assert len(values_csv(board).splitlines()) > 12
    assert standings_csv(board, rows).splitlines()[1].startswith("1,")
    assert len(scatter(rows, "queueing", "throughput").series) == 2  # no packet of idle arrived, so no queueing delay


def test_commands_make_the_same_board() -> None:
    assert commands(Board(entry(["lia"]), {}))[0] == "subflow arena"
    assert commands(Board(entry(["lia"], is_quick=True), {}))[0] == "subflow arena --quick"
    assert "nobody" not in arena_report(Board(entry(["lia"]), {}), ()).title


def test_the_full_form_has_more_networks_and_papers_take_turns() -> None:
    full, quick = entry(["lia"]), entry(["lia"], is_quick=True)
    assert (len(full.numbers), len(quick.numbers)) == (len(FULL_NUMBERS), len(QUICK_NUMBERS)) == (20, 10)
    names = full.names("rl-explore")
    assert names[0].split("/")[1] != names[1].split("/")[1]
    assert len(set(names)) == 20
    assert [net.name for net in quick.networks()] == [name for each in quick.families for name in quick.names(each)]


def test_a_contest_of_ones_own_is_run(store: Store, tmp_path: Path) -> None:
    chosen = entry(["lia", "idle"], contests=[str(write_tiny(tmp_path))], numbers=[1])
    lia, idle = standings(board_of(chosen, store))
    assert (lia.name, idle.name) == ("lia", "idle")
    assert lia.columns["convergence"] >= 0
