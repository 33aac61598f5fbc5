"""Settings of runs side by side: differences first, and the table as text."""

from __future__ import annotations

import csv
import io

from tests.features.history.core.test_run_columns import run

from subflow_app.features.history.core.run_comparison import ComparedSetting, compare_settings, settings_text
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


def line(lines: list[ComparedSetting], key: str) -> ComparedSetting:
    return next(each for each in lines if each.column.key == key)


def test_what_differs_comes_first() -> None:
    lines = compare_settings(RUNS)
    assert [each.column.key for each in lines if each.differs] == ["links.wifi.loss", "flows.download.controller"]
    assert [each.differs for each in lines] == sorted((each.differs for each in lines), reverse=True)
    assert not line(lines, "transport.initial_window").differs
    # Cells show the difference without colour.
    assert [line(lines, "links.wifi.loss").text(number) for number in range(3)] == ["1.00", "≠ 2.00", "1.00"]
    assert line(lines, "flows.download.controller").text(1) == "≠ olia"
    # Results are not settings, and different last digits are not differences.
    assert not {"goodput_bps", "flows.download.goodput_bps", "fairness.jain"} & {each.column.key for each in lines}
    lines = compare_settings([compared(1, "30.000000000000004%", 1e6), compared(2, "30%", 1e6)])
    assert not any(each.differs for each in lines)


def test_the_table_as_text_has_units() -> None:
    lines = [each for each in compare_settings(RUNS[:2]) if each.differs]
    rows = list(csv.reader(io.StringIO(settings_text(lines, RUNS[:2], ","))))
    assert rows[0] == ["setting", "unit", "run 1: run 1", "run 2: run 2"]
    assert ["links.wifi.loss", "%", "1.00", "2.00"] in rows
    assert settings_text(lines, RUNS[:2], "\t").count("\t") == 3 * len(rows)
