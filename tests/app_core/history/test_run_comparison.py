"""Runs side by side: parameters that differ first, figures with their differences, and the table as text."""

from __future__ import annotations

import csv
import io

from tests.app_core.history.test_run_columns import run

from subflow_app.core.history.run_comparison import FIGURE, PARAMETER, ComparedValue, compare_runs, comparison_text
from subflow_store import RunRow


def compared(number: int, loss: str, goodput_bps: float, controller: str = "lia") -> RunRow:
    return run(
        number,
        seed=1,
        goodput_bps=goodput_bps,
        scenario_text=f'[links.wifi]\nloss = "{loss}"\nrate = "8Mbit/s"\n',
        summary={
            "flows": [{"name": "download", "controller": controller, "goodput_bps": goodput_bps, "retransmits": 0}],
            "transport": {"initial_window": 10},
            "fairness": {"jain": 1.0},
        },
    )


RUNS = [compared(1, "1%", 4e6), compared(2, "2%", 5e6, "olia"), compared(3, "1%", 4e6)]


def line(lines: list[ComparedValue], key: str) -> ComparedValue:
    return next(each for each in lines if each.column.key == key)


def test_what_differs_comes_first() -> None:
    lines = compare_runs(RUNS)
    kinds = [(each.kind, each.differs) for each in lines]
    first_figure = kinds.index((FIGURE, True))
    assert set(kinds[:first_figure]) == {(PARAMETER, True)}
    assert {each.column.key for each in lines[:first_figure]} == {
        "links.wifi.loss",
        "flows.download.controller",
    }
    assert kinds[-1] == (PARAMETER, False)
    assert line(lines, "transport.initial_window").kind == PARAMETER


def test_cells_tell_the_difference_without_colour() -> None:
    lines = compare_runs(RUNS)
    loss, goodput = line(lines, "links.wifi.loss"), line(lines, "flows.download.goodput_bps")
    assert [loss.text(number) for number in range(3)] == ["1.00", "≠ 2.00", "1.00"]
    assert goodput.text(1) == "5.000  (+25.0 %)"
    assert goodput.relative(1) == 0.25
    assert goodput.relative(2) == 0.0
    assert line(lines, "flows.download.controller").text(1) == "≠ olia"


def test_a_difference_to_nothing_has_no_percentage() -> None:
    lines = compare_runs([compared(1, "1%", 0.0), compared(2, "1%", 5e6), run(3, seed=1)])
    goodput = line(lines, "flows.download.goodput_bps")
    assert goodput.relative(1) is None
    assert goodput.text(1) == "≠ 5.000"
    assert goodput.text(2) == "≠ –"


def test_last_digits_are_no_difference() -> None:
    lines = compare_runs([compared(1, "1%", 0.1 + 0.2), compared(2, "1%", 0.3)])
    assert not any(each.differs for each in lines)


def test_the_table_as_text_has_units_and_differences() -> None:
    lines = [each for each in compare_runs(RUNS[:2]) if each.differs]
    rows = list(csv.reader(io.StringIO(comparison_text(lines, RUNS[:2], ","))))
    assert rows[0] == ["kind", "name", "unit", "run 1: run 1", "run 2: run 2", "run 2: difference, %"]
    assert ["figure", "flows.download.goodput_bps", "Mbit/s", "4.000", "5.000", "25.00"] in rows
    assert ["parameter", "links.wifi.loss", "%", "1.00", "2.00", ""] in rows
    assert comparison_text(lines, RUNS[:2], "\t").count("\t") == 5 * len(rows)
