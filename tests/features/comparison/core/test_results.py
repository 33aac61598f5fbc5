"""Results of the shown runs: differences to the oldest, intervals where seeds allow them, and outcomes of races."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.features.comparison.core.test_group_table import LIA, OLIA, made, six_runs
from tests.helpers.fake_runs import finished_traces
from tests.helpers.fake_simulation import make_flow, make_scenario
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.helpers.table_traces import TableTraces

from subflow_app.features.comparison.core.results import comparison_table, race_line, race_table, racers_of, results_of
from subflow_app.vocabulary.tables import TextTable
from subflow_sim.stats import welch
from subflow_store import RunFork, RunRow


def flow(name: str, controller: str, goodput_bps: float, rtt_s: float = 0.05, loss: float = 0.01) -> dict[str, Any]:
    return {
        "name": name,
        "controller": controller,
        "goodput_bps": goodput_bps,
        "mean_rtt_s": rtt_s,
        "p95_rtt_s": 2 * rtt_s,
        "loss_ratio": loss,
        "subflows": [{"path": ["wifi"]}],
    }


def with_flows(number: int, *flows: Mapping[str, Any], **changes: Any) -> RunRow:
    goodputs = [each["goodput_bps"] for each in flows]
    summary = {"flows": list(flows), "fairness": {"jain": 0.75}}
    told = {"summary": summary, "mean_rtt_s": 0.05} | changes
    return made(number, str(flows[0]["controller"]), number, sum(goodputs), **told)


def shown(*rows: RunRow | None) -> list[TableTraces]:
    runs = []
    for row in rows:
        traces = TableTraces({("flow", "download", "goodput_bps"): [1.0]}, condition="" if row is None else row.name)
        traces.row = row
        runs.append(traces)
    return runs


def table_of(rows: Sequence[RunRow]) -> TextTable:
    return present(comparison_table(rows))


def test_the_oldest_run_is_the_reference_whatever_the_order() -> None:
    old = with_flows(1, flow("download", "lia", 8e6), name="old")
    new = with_flows(2, flow("download", "lia", 6e6, rtt_s=0.04, loss=0.02), name="new", mean_rtt_s=0.04)
    for order in ((old, new), (new, old)):
        results = present(results_of(shown(*order)))
        assert [row[0].partition(":")[0].partition(" (")[0] for row in results.rows] == ["A", "B", "B − A"]
        assert [row[1] for row in results.rows] == ["8.000", "6.000", "−2.000 (−25.0 %)"]
        assert results.title == (
            "lia (2) compared with lia (1): Goodput −2.000 Mbit/s (−25.0 %) · Mean RTT −10.0 ms (−20.0 %) · "
            "Loss +1.00 percentage points"
        )
        titles = [(each.title, each.unit) for each in results.columns[1:]]
        assert titles == [("Goodput", "Mbit/s"), ("Mean RTT", "ms"), ("Loss", "%")]


def test_seeds_make_groups_with_the_interval_of_welch() -> None:
    table = table_of(six_runs())

    assert [row[0] for row in table.rows] == ["A: lia (n = 3)", "B: olia (n = 3)", "B − A [95 % interval, Welch]"]
    expected = welch(OLIA, LIA)
    difference = table.rows[2][1]
    assert f"[{expected.low / 1e6:.3f}, {expected.high / 1e6:.3f}] " in difference
    assert difference.endswith("**")
    assert table.title.startswith("olia compared with lia: Goodput +0.967 Mbit/s (+23.4 %)")


def runs_of(controller: str, first: int, *goodputs_bps: float, cross_bps: float | None = None) -> list[RunRow]:
    """Runs of a download with this controller, one per seed, beside a CUBIC flow if `cross_bps` is given."""
    return [
        with_flows(
            first + place,
            flow("download", controller, goodput),
            *([] if cross_bps is None else [flow("cross", "cubic", cross_bps)]),
        )
        for place, goodput in enumerate(goodputs_bps)
    ]


@for_each(
    ("lia", "olia", "cross_bps", "said"),
    [
        # 5.1 against 4.133 Mbit/s, and no seed with the opposite order
        (LIA, OLIA, (None, None), "B (olia) won: 1.23× the goodput of A (lia) (5.100 against 4.133 Mbit/s)"),
        # One run each allows no test, nor do seeds without a spread; flows whose controller stays do not count.
        ((2e6,), (4e6,), (8e6, 3e6), "In these two runs, B (olia) had 2.00× the goodput of A (lia) (4.000 against "),
        ((2e6, 2e6), (4e6, 4e6), (None, None), "In these 4 runs, B (olia) had 2.00× the goodput of A (lia) (4.000 "),
        ((4e6, 6e6), (4.5e6, 6.5e6), (None, None), "B (olia) and A (lia) differ in goodput no more than seeds do"),
    ],
)
def test_a_controller_wins_where_no_seed_would_turn_it_round(
    lia: Sequence[float], olia: Sequence[float], cross_bps: tuple[float | None, float | None], said: str
) -> None:
    rows = runs_of("lia", 1, *lia, cross_bps=cross_bps[0])
    assert table_of([*rows, *runs_of("olia", 1 + len(lia), *olia, cross_bps=cross_bps[1])]).title.startswith(said)


def test_a_fork_and_its_original_are_called_so() -> None:
    changes = [{"link": "wifi", "loss": "5%", "before": {"loss": "2%"}}]
    original = with_flows(1, flow("download", "lia", 4e6), scenario_text="# 1")
    fork = with_flows(
        2, flow("download", "lia", 5e6, loss=0.0099), scenario_text="# 2", fork=RunFork(1, "Demo", 12.5, "", changes)
    )
    title = table_of([original, fork]).title
    assert title.startswith("Fork compared with Original: Goodput +1.000 Mbit/s (+25.0 %)")
    assert title.endswith("Loss −0.01 percentage points")
    assert table_of([fork, original]).title.startswith("Original compared with Fork: Goodput −1.000 Mbit/s")


def test_one_seed_each_has_a_difference_without_an_interval() -> None:
    table = table_of([made(1, "lia", 1, 4e6), made(2, "olia", 1, 5e6)])
    assert table.rows[2][:2] == ("B − A (only one distinct run: no test)", "+1.000 (+25.0 %)")


def test_seeds_of_one_condition_alone_are_compared_run_by_run() -> None:
    table = table_of([made(1, "lia", 1, 4e6), made(2, "lia", 2, 5e6)])
    assert [row[0] for row in table.rows][:2] == ["A: run 1: run 1", "B: run 2: run 2"]


def test_more_than_two_groups_are_each_compared_with_the_first() -> None:
    table = table_of([made(number, name, 1, number * 1e6) for number, name in enumerate(("lia", "olia", "balia"), 1)])

    assert table.title == "Goodput, Mbit/s: lia 1.000 · olia 2.000 · balia 3.000"
    assert [row[0].partition(" (")[0] for row in table.rows] == ["A: lia", "B: olia", "C: balia", "B − A", "C − A"]
    assert [row[1] for row in table.rows[3:]] == ["+1.000 (+100.0 %)", "+2.000 (+200.0 %)"]


def test_flows_are_told_by_name_and_jain_where_there_are_several() -> None:
    pair = (flow("a", "lia", 4e6), flow("b", "lia", 2e6))
    titles = [each.title for each in table_of([with_flows(1, *pair, jain=0.9), with_flows(2, *pair, jain=0.8)]).columns]
    assert titles[1:] == ["Goodput", "Mean RTT", "Jain index", "a: Goodput", "b: Goodput", "a: Loss", "b: Loss"]


def test_printed_differences_are_those_of_the_printed_values() -> None:
    # With two decimals, 0.29 and 0.27 would differ by 0.02, but −0.01 would be printed.
    rows = [
        with_flows(number, flow("download", "lia", 4e6, loss=loss)) for number, loss in ((1, 0.00286), (2, 0.00274))
    ]
    assert [row[-1] for row in table_of(rows).rows] == ["0.286", "0.274", "−0.012 pp"]


def test_nothing_is_told_while_a_run_goes_on_or_of_a_single_one() -> None:
    row = made(1, "lia", 1, 4e6)
    for rows in ((), (row,), (row, None), (row, finished_traces(make_scenario(make_flow("download"))).row)):
        assert results_of(shown(*rows)) is None
    without = made(2, "", 1, 0.0, summary={})._replace(goodput_bps=None)
    assert comparison_table([row, without]) is None, "no figure in common"


def test_runs_that_are_not_stored_are_told_apart() -> None:
    first = made(0, "lia", 1, 4e6, name="first")
    results = present(results_of(shown(first, first._replace(name="second", goodput_bps=5e6, signature="other"))))
    assert [row[1] for row in results.rows] == ["4.000", "5.000", "+1.000 (+25.0 %)"]


# ---- races ----


def test_a_race_says_which_flow_had_more_and_at_which_price() -> None:
    flows = flow("download", "olia", 3.24e6, 0.048, 0.003), flow("cross", "cubic", 6.48e6, 0.052, 0.001)
    table = present(race_table(with_flows(1, *flows)))
    assert table.title == (
        "In this run, cross (cubic) had 2.00× the goodput of download (olia) (6.480 against 3.240 Mbit/s); "
        "mean RTT 52.0 against 48.0 ms; loss 0.10 against 0.30 %"
    )
    assert table.rows == (
        ("cross (cubic)", "6.480", "66.67", "52.0", "0.10"),
        ("download (olia)", "3.240", "33.33", "48.0", "0.30"),
    )


@for_each(
    ("second_bps", "said"),
    [
        (9.95e6, "a has about the same goodput as b: +0.5 % (10.000 against 9.950 Mbit/s)"),
        (10e6, "a and b have the same goodput (10"),
        (0.0, "In this run, a had all the goodput: b got nothing (10.000 against 0.000 Mbit/s)"),
    ],
)
def test_what_is_equal_or_nothing_is_called_so(second_bps: float, said: str) -> None:
    racers = racers_of({"flows": [flow("a", "a", 10e6), flow("b", "b", second_bps)]})
    assert race_line(racers).startswith(said)


def test_flows_of_one_controller_do_not_race() -> None:
    assert race_table(with_flows(1, flow("a", "lia", 1e6), flow("b", "lia", 2e6))) is None
    datagrams = flow("c", "", 3e6) | {"subflows": []}
    assert race_table(with_flows(1, flow("a", "lia", 1e6), datagrams)) is None


def test_many_flows_race_by_controller() -> None:
    flows = [flow(f"f{number}", ("lia", "cubic")[number % 2], (1 + number) * 1e6) for number in range(6)]
    racers = racers_of({"flows": flows})
    # cubic has 2, 4 and 6, lia 1, 3 and 5.
    assert [(racer.name, racer.rate_bps) for racer in racers] == [("cubic, mean of 3", 4e6), ("lia, mean of 3", 3e6)]


def test_what_is_not_known_is_not_told() -> None:
    unknown = {"mean_rtt_s": None, "loss_ratio": None}
    racers = racers_of({"flows": [flow("a", "a", 2e6) | unknown, flow("b", "b", 1e6)]})
    assert race_line(racers) == "In this run, a had 2.00× the goodput of b (2.000 against 1.000 Mbit/s)"


def transfer(name: str, controller: str, took_s: float | None, size_bytes: int = 50_000_000) -> dict[str, Any]:
    """A transfer in a run of 30 s, which has moved all its bytes at the end of the run under any controller."""
    return flow(name, controller, 8 * size_bytes / 30) | {
        "size_bytes": size_bytes,
        "start_s": 0.0,
        "completion_s": took_s,
        "active_goodput_bps": 8 * size_bytes / (took_s or 30.0),
    }


def test_transfers_race_by_goodput_while_active_and_tell_their_times() -> None:
    """Both have 13.333 Mbit/s over the whole run, which would show no winner."""
    table = present(race_table(with_flows(1, transfer("a", "lia", 25.0), transfer("b", "olia", 20.0))))
    assert table.title == (
        "In this run, b (olia) had 1.25× the goodput while active of a (lia) (20.000 against 16.000 Mbit/s); "
        "completion time 20.000 against 25.000 s; mean RTT 50.0 against 50.0 ms; loss 1.00 against 1.00 %"
    )
    titles = [(each.title, each.unit) for each in table.columns]
    assert titles[1:4] == [("Completion time", "s"), ("Goodput while active", "Mbit/s"), ("Share", "% of the sum")]
    # An incomplete transfer has a rate, and a flow without a size is compared with it by the same measure.
    endless = flow("c", "cubic", 5e6) | {"size_bytes": None, "completion_s": None, "active_goodput_bps": 18e6}
    mixed = present(race_table(with_flows(1, transfer("a", "lia", None), endless)))
    assert mixed.title.startswith("In this run, c (cubic) had 1.35× the goodput while active of a (lia) (18.000 ")


def test_compared_transfers_show_time_and_goodput_while_active() -> None:
    table = table_of([with_flows(1, transfer("get", "lia", 25.0)), with_flows(2, transfer("get", "olia", 20.0))])
    assert [each.title for each in table.columns[1:]] == ["Completion time", "Goodput while active", "Mean RTT", "Loss"]
    assert [row[1:3] for row in table.rows] == [
        ("25.000", "16.000"),
        ("20.000", "20.000"),
        ("−5.000 (−20.0 %)", "+4.000 (+25.0 %)"),
    ]
    assert table.title.startswith("In these two runs, B (olia) had 1.25× the goodput while active of A (lia) (20.000 ")

    endless = flow("back", "cubic", 3e6)
    pairs = [with_flows(number, transfer("get", "lia", 20.0 + number), endless) for number in (1, 2)]
    assert [each.title for each in table_of(pairs).columns[1:]] == [
        *("Goodput", "Mean RTT", "Jain index"),
        *("get: Completion time", "get: Goodput while active", "back: Goodput", "get: Loss", "back: Loss"),
    ]


def test_versions_of_a_script_have_names() -> None:
    rows = [
        with_flows(number, flow("download", "mine", 1e6 * number), scenario_text=f'controllers.mine.content = "{text}"')
        for number, text in ((1, "a"), (2, "b"))
    ]
    runs = shown(*rows)
    told = present(results_of(runs)).title
    assert "mine (" in told
    assert ".content" not in told
    for number, traces in enumerate(runs, 1):
        traces.condition = ""
        traces.versions = {"mine": f"mine, version {number}"}
    assert present(results_of(runs)).title.startswith("mine, version 2 compared with mine, version 1: ")
