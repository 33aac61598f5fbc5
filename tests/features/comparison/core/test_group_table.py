"""Groups of stored runs and the table of their figures: members, significance tests, cells and files."""

from __future__ import annotations

import csv
import io
import math

import pytest
from tests.features.history.core.test_run_columns import run

from subflow_app.features.comparison.core.conditions import By, group_runs
from subflow_app.features.comparison.core.group_table import (
    can_pair,
    compare_groups,
    difference_text,
    reference_of,
    significance_text,
    spread_text,
    table_csv,
    table_document,
)
from subflow_app.foundation.errors import InputError
from subflow_sim.stats import welch
from subflow_store import RunFork, RunRow

LIA = [4.0e6, 4.1e6, 4.3e6]
OLIA = [5.0e6, 5.2e6, 5.1e6]


def made(number: int, controller: str, seed: int, goodput_bps: float, **changes: object) -> RunRow:
    """A run with a scenario text that the simulator cannot read, so that the text itself is the condition."""
    values = {
        "controllers": controller,
        "seed": seed,
        "goodput_bps": goodput_bps,
        "signature": f"signature {number}",
        "version": "1.0",
        "scenario_text": f'[flows.download]\ncontroller = "{controller}"\n',
        "summary": {"flows": [{"name": "download", "goodput_bps": goodput_bps, "retransmits": 7}]},
    }
    return run(number, **(values | changes))


def six_runs() -> list[RunRow]:
    runs = [made(number, "lia", number, value) for number, value in enumerate(LIA, start=1)]
    return runs + [made(number + 3, "olia", number, value) for number, value in enumerate(OLIA, start=1)]


def test_runs_that_differ_in_their_seed_alone_are_a_group() -> None:
    grouping = group_runs(six_runs())
    assert [(group.letter, group.label, group.seeds) for group in grouping.groups] == [
        ("A", "lia", (1, 2, 3)),
        ("B", "olia", (1, 2, 3)),
    ]
    assert grouping.notices == ()


def test_runs_without_a_flow_in_common_are_told() -> None:
    other = {"flows": [{"name": "upload", "goodput_bps": 1e6}]}
    grouping = group_runs([*six_runs()[:1], made(9, "olia", 1, 1e6, summary=other)])
    assert ["no flow in common" in notice for notice in grouping.notices] == [True]


def test_the_difference_is_that_to_the_reference() -> None:
    table = compare_groups(group_runs(six_runs()), figures=["goodput_bps"])
    (row,) = table.rows
    known = welch(OLIA, LIA)
    assert row.differences[1] == known
    assert spread_text(row, 0) == "4.133 ± 0.379"
    assert difference_text(row, 1, 0) == "+0.967 (+23.4 %)"
    assert significance_text(row.differences[1]) == f"p = {known.p:.3f} ** significant"
    turned = compare_groups(group_runs(six_runs()), figures=["goodput_bps"], reference=1)
    assert turned.rows[0].differences[0].value == pytest.approx(-known.value)
    assert significance_text(turned.rows[0].differences[1]) == ""


def test_jain_of_runs_with_a_single_flow_is_left_out() -> None:
    def keys(*flows: str) -> list[str]:
        told = [{"name": name, "goodput_bps": 2e6, "subflows": [{}] * (name != "datagrams")} for name in flows]
        summary = {"flows": told, "fairness": {"jain": 1.0}}
        runs = [made(number, name, 1, 2e6, summary=summary, jain=1.0) for number, name in ((1, "lia"), (2, "olia"))]
        return [row.column.key for row in compare_groups(group_runs(runs), has_all=False).rows]

    assert "jain" not in keys("a")
    assert "jain" not in keys("a", "datagrams")
    assert "jain" in keys("a", "b")


def test_a_copy_of_a_run_is_no_further_evidence() -> None:
    runs = [*six_runs(), made(7, "olia", 3, OLIA[2], signature="signature 6")]
    grouping = group_runs(runs)
    assert [len(group.runs) for group in grouping.groups] == [3, 3]
    assert [notice.startswith("Run 7 is identical") for notice in grouping.notices] == [True]


def test_copies_in_all_groups_are_named_in_one_sentence() -> None:
    """Without randomness, the runs of seeds 1 and 2 of each controller are the same."""
    runs = [made(k, name, seed, 4e6, signature=name) for k, (name, seed) in enumerate(
        [("lia", 1), ("lia", 2), ("olia", 1), ("olia", 2)], start=1)]  # fmt: skip
    grouping = group_runs(runs)
    assert [len(group.runs) for group in grouping.groups] == [1, 1]
    assert grouping.notices == (
        "Runs 2, 4 are identical to others, although their seeds may differ. They are not counted.",
    )


def test_kernel_and_measured_runs_are_groups_of_their_own() -> None:
    kernel = made(7, "lia", 1, 3.9e6, tags=("kernel",))
    measured = [made(8 + k, "", 0, 3.9e6, tags=("measured",), scenario_text="") for k in range(2)]
    groups = group_runs([*six_runs(), kernel, *measured]).groups
    # Without a scenario, two measured runs cannot be recognised as repetitions.
    assert [len(group.runs) for group in groups] == [3, 3, 1, 1, 1]
    assert groups[2].label == "kernel · lia"
    table = compare_groups(group_runs([*six_runs(), kernel]), figures=["goodput_bps"])
    assert significance_text(table.rows[0].differences[2]) == "only one distinct run: no test"


def test_what_never_varies_is_not_tested() -> None:
    table = compare_groups(group_runs(six_runs()), figures=["flows.download.retransmits"])
    assert significance_text(table.rows[0].differences[1]) == "no spread between seeds: no test"
    assert difference_text(table.rows[0], 1, 0) == "+0 (+0.0 %)"


@pytest.mark.parametrize(
    ("by", "labels"),
    [
        ("controller", ["lia", "olia"]),
        ("scenario", ["Demo"]),
        ("tag", ["old", "no tag"]),
        ("run", ["run 1: run 1", "run 2: run 2", "run 4: run 4"]),
    ],
)
def test_groups_by_other_things(by: By, labels: list[str]) -> None:
    runs = [made(1, "lia", 1, 4e6, tags=("old",)), made(2, "lia", 2, 4e6), made(4, "olia", 1, 5e6)]
    assert [group.label for group in group_runs(runs, by).groups] == labels


def test_a_group_of_several_conditions_is_said() -> None:
    assert "several conditions" in group_runs(six_runs(), "scenario").notices[0]
    assert not group_runs(six_runs(), "controller").notices


def test_conditions_that_differ_in_a_parameter_are_named_by_it() -> None:
    runs = [made(k, "lia", k, 4e6, scenario_text=f'[links.wifi]\nloss = "{k}%"\n') for k in (1, 2)]
    assert [group.label for group in group_runs(runs).groups] == [
        "links.wifi.loss = 1.00 %",
        "links.wifi.loss = 2.00 %",
    ]


def test_versions_are_not_mixed_in_silence() -> None:
    runs = [made(1, "lia", 1, 4e6), made(2, "lia", 2, 4e6, version="2.0")]
    assert group_runs(runs).notices == ("Runs of several versions of Subflow are in one group: 1.0, 2.0.",)


def test_pairs_are_runs_of_the_same_seed() -> None:
    groups = group_runs(six_runs())
    assert can_pair(groups.groups)
    table = compare_groups(groups, figures=["goodput_bps"], is_paired=True)
    assert table.rows[0].differences[1].freedom == 2.0
    assert table.method_text.startswith("paired t test by seed")
    fewer = group_runs(six_runs()[:-1])
    assert not can_pair(fewer.groups)
    some = compare_groups(fewer, figures=["goodput_bps"], is_paired=True)
    assert some.rows[0].differences[1].freedom == 1.0
    assert some.notices == ("B and A have 2 seeds in common: the paired test uses only these.",)


def test_holm_counts_the_tests_of_the_table() -> None:
    figures = ["goodput_bps", "flows.download.*"]
    plain = compare_groups(group_runs(six_runs()), figures=figures)
    table = compare_groups(group_runs(six_runs()), figures=figures, is_corrected=True)
    # Goodput of the run and of its only flow; retransmissions cannot be tested.
    assert [each.is_tested for row in table.rows for each in row.differences[1:]] == [True, True, False]
    assert table.rows[0].differences[1].p_holm == pytest.approx(2 * plain.rows[0].differences[1].p)
    assert "2 tests" in table.method_text


def test_groups_are_found_by_letter_label_and_run() -> None:
    groups = group_runs(six_runs()).groups
    assert [reference_of(groups, text) for text in ("b", "olia", "5", "LIA", "A")] == [1, 1, 1, 0, 0]
    with pytest.raises(InputError, match='"cubic" names no single group; the groups are A: lia; B: olia'):
        reference_of(groups, "cubic")


def test_an_unknown_figure_is_named() -> None:
    with pytest.raises(InputError, match='no run has the figure "goodputs"; allowed: goodput_bps'):
        compare_groups(group_runs(six_runs()), figures=["goodputs"])


def test_the_files_have_all_numbers() -> None:
    table = compare_groups(group_runs(six_runs()), figures=["goodput_bps", "flows.download.retransmits"])
    first, second, third = csv.reader(io.StringIO(table_csv(table, table.rows)))
    cells = dict(zip(first, second, strict=True))
    assert cells["A: lia: n"] == "3"
    assert float(cells["B - A: difference"]) == pytest.approx(29e5 / 3)
    assert float(cells["B - A: p"]) == table.rows[0].differences[1].p
    assert dict(zip(first, third, strict=True))["B - A: note"] == "no spread"
    document = table_document(table)
    assert document["groups"][1] == {"letter": "B", "label": "olia", "run_ids": [4, 5, 6], "seeds": [1, 2, 3]}
    assert document["figures"][0]["groups"][1]["difference"]["p"] == table.rows[0].differences[1].p
    assert document["figures"][1]["groups"][1]["difference"]["p"] is None
    assert not any(
        isinstance(value, float) and math.isnan(value) for value in document["figures"][1]["groups"][1].values()
    )


def test_forks_are_named_by_what_was_changed() -> None:
    changes = [{"link": "wifi", "loss": "5%", "before": {"loss": "2%"}}]
    runs = [
        made(k, "lia", 1, 4e6, scenario_text=f"# {k}", fork=RunFork(1, "Demo", 12.5, "", changes) if k > 1 else None)
        for k in (1, 2)
    ]
    assert [group.label for group in group_runs(runs).groups] == ["Original", "Fork from 12.5 s: wifi loss 2 % → 5 %"]
