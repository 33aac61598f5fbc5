"""Contests are carried out and found again, whoever asked for which part of them; scores follow from their values."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.app_core.leaderboard.tiny_contest import write_tiny

from subflow_app.core.errors import ExportError, InputError, LeaderboardError
from subflow_app.core.experiments import cost
from subflow_app.core.leaderboard.board import (
    Board,
    Entry,
    LeaderboardJob,
    entry,
    fair_share_bps,
    records,
    stored_board,
)
from subflow_app.core.leaderboard.board_text import (
    board_document,
    contest_table,
    metric_table,
    score_text,
    standings_csv,
    standings_table,
    values_csv,
    write_board,
)
from subflow_app.core.leaderboard.contest import load_contest
from subflow_app.core.leaderboard.metrics import BOARD_METRICS, default_weights, read_weights, weights_text
from subflow_app.core.leaderboard.table import contest_scores, standings
from subflow_sim.stats import Estimate
from subflow_store import Store, open_store


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return list(map(str, write_tiny(tmp_path_factory.mktemp("contests"))))


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with open_store(":memory:") as opened:
        yield opened


@pytest.fixture(scope="module")
def board(paths: list[str], store: Store) -> Iterator[Board]:
    """Of newreno alone first, then of all three; two of them have one path, too."""
    with pytest.MonkeyPatch.context() as patched:
        # What it measures of costs is not looked at, and repeating runs takes time.
        patched.setattr(cost, "LEAST_CPU_S", 0.0)
        yield carried_out(paths, store)


def carried_out(paths: list[str], store: Store) -> Board:
    asked = entry(paths, ["newreno", "cubic", "lia"])
    assert stored_board(asked, store).is_empty
    first = LeaderboardJob(entry(paths[:1], ["newreno"]), store)
    assert first.run().state == "finished"
    assert [outcome.state for outcome in first.outcomes] == ["finished", "finished"]
    part = stored_board(asked, store)
    assert (part.n_finished, part.n_wanted) == (2, 10)
    job = LeaderboardJob(asked, store)
    job.run()
    assert [outcome.state for outcome in job.outcomes] == ["finished"] * 3
    assert job.outcomes[0].progress.reused == 2  # newreno's
    assert (job.progress.finished, job.progress.runs, job.problems) == (16, 16, ())
    return stored_board(asked, store)


def test_all_is_measured(board: Board) -> None:
    assert (board.n_finished, board.n_wanted) == (10, 10)
    assert {metric for contest, metric, _ in board.cells if contest == "tiny"} == set(BOARD_METRICS)
    assert {metric for contest, metric, _ in board.cells if contest == "single"} == {"goodput", "rtt", "loss"}
    goodput = board.cell("tiny", "goodput", "lia")
    assert goodput is not None
    assert 0.5e6 < goodput.mean < 5e6
    assert goodput.ci95 > 0
    assert board.cell("single", "goodput", "lia") is None
    cpu = board.cell("tiny", "cpu", "newreno")
    assert cpu is not None
    assert cpu.mean == 1
    assert "Measured on" in board.note


def test_reading_is_given_up_when_nobody_wants_it(board: Board, store: Store) -> None:
    with pytest.raises(InterruptedError):
        stored_board(board.entry, store, lambda: True)


def test_what_belongs_to_it_is_known(board: Board, store: Store) -> None:
    found = records(store)
    assert (len(found.runs), len(found.sweeps), found.trainings) == (board.n_finished, 3, ())


def test_friendliness_is_the_share_that_is_left(board: Board, paths: list[str]) -> None:
    fair = fair_share_bps(load_contest(paths[0]), is_quick=False)
    assert fair == pytest.approx(2.4e6, rel=0.05)  # half of 5 Mbit/s, as payload
    friendliness = board.cell("tiny", "friendliness", "newreno")
    assert friendliness is not None
    assert 0.05 < friendliness.mean < 2


def test_quick_and_full_are_kept_apart(board: Board, paths: list[str], store: Store) -> None:
    assert stored_board(entry(paths[:1], ["lia"], is_quick=True), store).n_finished == 0
    # A quick run of the single path differs from a full one in nothing.
    assert stored_board(entry(paths[1:], ["cubic"], is_quick=True), store).n_finished == 2
    assert stored_board(entry(paths, ["newreno", "cubic", "lia"], seeds=[1]), store).n_finished == 5
    assert not board.entry.is_quick


def test_standings(board: Board) -> None:
    rows = standings(board, default_weights())
    assert [row.rank for row in rows] == sorted(row.rank for row in rows)
    assert {row.name for row in rows} == {"newreno", "cubic", "lia"}
    by_name = {row.name: row for row in rows}
    assert (by_name["lia"].overall.n, by_name["cubic"].overall.n) == (1, 2)
    assert math.isnan(by_name["lia"].scores["goodput"].ci95)
    only = standings(board, read_weights("goodput"), ["tiny"])
    values = board.values("tiny", "goodput")
    assert [row.name for row in only] == sorted(values, key=lambda name: -values[name])
    assert only[0].overall.mean == 1


def test_tables_and_files(board: Board, tmp_path: Path) -> None:
    weights = read_weights("goodput=2,rtt")
    rows = standings(board, weights)
    table = standings_table(rows, weights)
    assert [column.title for column in table.columns][:5] == ["#", "Controller", "Overall", "Goodput (×2)", "RTT"]
    one = contest_table(board, "tiny", rows)
    assert "Goodput (Mbit/s)" in [column.title for column in one.columns]
    assert "±" in one.rows[0][3]
    every = metric_table(board, "goodput")
    assert [row[0] for row in every.rows] == ["tiny", "", "", "single", ""]
    lines = list(csv.DictReader(io.StringIO(values_csv(board))))
    assert len(lines) == len(board.cells)
    assert lines[0].keys() >= {"contest", "controller", "metric", "unit", "mean", "ci95", "score"}
    assert next(csv.DictReader(io.StringIO(standings_csv(board, rows, weights))))["metric"] == "overall"
    written = write_board(board, rows, weights, tmp_path / "out")
    assert [path.name for path in written] == ["standings.csv", "values.csv"]
    document = board_document(board, rows, weights)
    assert document["weights"]["goodput"] == 2
    assert document["contests"][0]["values"][0]["metric"] == "goodput"
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ExportError, match="cannot be written"):
        write_board(board, rows, weights, tmp_path / "file")


def made(values: Mapping[tuple[str, str, str], Sequence[float]], board: Board) -> Board:
    return replace(board, cells={place: Estimate.of(each) for place, each in values.items()})


def test_scores_are_relative_to_the_best_of_a_contest(board: Board) -> None:
    invented = made(
        {
            ("tiny", "goodput", "lia"): [4e6, 6e6],
            ("tiny", "goodput", "cubic"): [10e6, 10e6],
            ("tiny", "rtt", "lia"): [0.05],
            ("tiny", "rtt", "cubic"): [0.2],
            ("tiny", "loss", "lia"): [0.0],
            ("tiny", "loss", "cubic"): [0.001],
            ("tiny", "friendliness", "lia"): [1.5],
            ("tiny", "friendliness", "cubic"): [0.5],
            ("single", "goodput", "cubic"): [3e6],
        },
        board,
    )
    assert contest_scores(invented, "tiny", "goodput") == {"cubic": 1.0, "lia": 0.5}
    assert contest_scores(invented, "tiny", "rtt") == {"lia": 1.0, "cubic": 0.25}
    # 0.1 % more does not count as infinitely worse.
    assert contest_scores(invented, "tiny", "loss") == {"lia": 1.0, "cubic": 0.5}
    # Leaving more than the fair share is no better, so 1 is the best.
    assert contest_scores(invented, "tiny", "friendliness") == {"lia": 1.0, "cubic": 0.5}
    rows = {row.name: row for row in standings(invented, read_weights("goodput=3,rtt=1"))}
    assert rows["lia"].overall.mean == pytest.approx((3 * 0.5 + 1 * 1.0) / 4)
    assert rows["cubic"].overall.mean == pytest.approx((3 * 1.0 + 1 * 0.25) / 4)
    assert rows["cubic"].scores["goodput"] == Estimate.of([1.0, 1.0])
    assert (rows["cubic"].rank, rows["lia"].rank) == (1, 2)


def test_equal_scores_share_a_rank_and_what_does_not_count_comes_last(board: Board) -> None:
    invented = made(
        {
            ("tiny", "goodput", "newreno"): [1e6],
            ("tiny", "goodput", "cubic"): [1e6],
            ("tiny", "rtt", "lia"): [0.1],
        },
        board,
    )
    rows = standings(invented, read_weights("goodput=1"))
    assert [(row.rank, row.name) for row in rows] == [(1, "newreno"), (1, "cubic"), (3, "lia")]
    assert score_text(rows[2].overall) == "–"


def test_weights_are_read() -> None:
    assert weights_text(read_weights("goodput=2, rtt")) == "goodput 2, rtt 1"
    for text in ("speed=1", "goodput=x", "goodput=-1", "goodput=0", ""):
        with pytest.raises(InputError):
            read_weights(text)


def test_who_has_no_place_is_told(paths: list[str], store: Store) -> None:
    with pytest.raises(LeaderboardError, match="none of the controllers takes part"):
        LeaderboardJob(entry(paths[1:], ["lia"]), store)
    asked = entry(paths, ["lia"])
    away = replace(asked.competitors[0], problem="its policy has gone")
    told = Entry(asked.contests, (away,)).problems
    assert told == ("lia does not take part: its policy has gone",)


def test_a_run_that_never_settles_has_waited_all_the_time(
    board: Board, paths: list[str], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from subflow_app.core.experiments import runs_kind

    def never(self: runs_kind.RunValues, measure: str, series: str, point: str) -> list[float]:
        return [math.nan, math.nan]

    monkeypatch.setattr(runs_kind.RunValues, "values", never)
    told = stored_board(board.entry, store).cell("tiny", "convergence", "lia")
    assert told is not None
    assert told.mean == 2  # from the step at 2 s to the end
