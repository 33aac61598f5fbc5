"""Recordings of links in tables of other programs: 5G data sets, units in headings, dates, and losses over time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.helpers.members import for_each
from tests.helpers.networks import run

from subflow_sim.delay_trace import delays_of, parse_delays
from subflow_sim.delivery_trace import parse_trace
from subflow_sim.errors import ParamError, ScenarioError
from subflow_sim.loss_trace import MOST_CHANGES, parse_losses
from subflow_sim.scenario import parse_scenario

FIVE_G = (Path(__file__).parents[1] / "features" / "importing" / "5g.csv").read_text()


def per_second_mbps(text: str) -> list[float]:
    times_ms = np.frombuffer(parse_trace(text), dtype=np.uint32)
    counts = np.bincount((times_ms - 1) // 1000)
    return [float(count) * 0.012 for count in counts]


def test_a_5g_data_set_is_a_rate_in_kbit_per_second() -> None:
    # DL_bitrate of 21465, 30465 and 0 kbit/s; a packet of 1500 bytes is 12 kbit.
    assert per_second_mbps(FIVE_G)[:2] == pytest.approx([21.465, 30.465], abs=0.024)
    assert sum(per_second_mbps(FIVE_G)[2:]) <= 0.024


@for_each(
    "text",
    [
        "time (s),Throughput (Mbit/s),cell\n0,8,a\n1,4,b\n2,8,c\n",
        "timestamp;bandwidth_kbps\n1600000000000;8000\n1600000001000;4000\n1600000002000;8000\n",
        "Date\tbitrate [kbit/s]\n2024-05-01T10:00:00\t8000\n2024-05-01T10:00:01\t4000\n2024-05-01T10:00:02\t8000\n",
        "t_ms,dl_mbps,rate_mbps\n0,1,8\n1000,1,4\n1500,,\n2000,1,8\n",
    ],
)
def test_headings_name_quantities_and_units(text: str) -> None:
    assert per_second_mbps(text)[:2] == pytest.approx([8.0, 4.0], abs=0.02)


def test_delays_of_other_tables() -> None:
    packed, interval_s = parse_delays("Time [s];RTT (ms)\n0;40\n0,5;50\n1;40\n", "", 0.01)
    assert interval_s == 0.5
    assert list(delays_of(packed)) == [20_000, 25_000, 20_000]


@for_each(
    ("text", "said"),
    [
        ("time_s,Throughput\n0,1\n1,2\n", 'line 1: "Throughput" names no unit of a rate'),
        ("when,rate_kbps\n0,1\n1,2\n", 'line 1: no column of times among "when", "rate_kbps"'),
        ("time,speed of car\n0,1\n1,2\n", "line 1: no column for rate among"),
        ("time,rate (Mbit/s)\n0,1\n1,-2\n", 'line 3: rate (Mbit/s) is "-2"'),
        ("time,rate (Mbit/s)\nnoon,1\n1,2\n", 'line 2: "noon" is not a time'),
        ("time,rate (Mbit/s)\n0,1\n", "fewer than two lines with values"),
        ("time,rate (Mbit/s)\n2,1\n1,2\n", "1 s comes after 2 s"),
        ("time,rate (Mbit/s)\n2,1\n2,2\n", "all lines have the same time, 2"),
        ("time,rate (Mbit/s)\n0,1\n1e300,2\n", 'line 3: the time is "1e300"'),
        ("time,rate (Mbit/s)\n0,1\nnan,2\n", 'line 3: the time is "nan"'),
        ("time,rate (Mbit/s)\n0,1\n1,1e306\n", 'line 3: rate (Mbit/s) is "1e306"'),
        pytest.param(
            'time,rate (Mbit/s)\n0,1\n1,"' + "2" * 200_000, "line 3: field larger than field limit", id="a long cell"
        ),
    ],
)
def test_bad_tables_are_named_with_line_and_value(text: str, said: str) -> None:
    with pytest.raises(ParamError) as refused:
        parse_trace(text)
    assert said in refused.value.message


SCENARIO = """
format = 1
duration = "{duration}"
[nodes.a]
[nodes.b]
[links.l]
ends = ["a", "b"]
rate = "10Mbit/s"
loss = {{ trace = "loss.csv" }}
[links.l.reverse]
loss = 0
[flows.f]
kind = "cbr"
rate = "6Mbit/s"
from = "a"
to = "b"
"""


def test_a_loss_trace_loses_its_share_in_each_interval_and_repeats(tmp_path: Path) -> None:
    (tmp_path / "loss.csv").write_text("time_s,loss_percent\n0,0\n1,20\n2,0\n")
    scenario = parse_scenario(SCENARIO.format(duration="9s"), folder=tmp_path)
    assert [(event.at_s, event.loss) for event in scenario.events] == [
        (1, 0.2), (2, 0.0), (4, 0.2), (5, 0.0), (7, 0.2), (8, 0.0),
    ]  # fmt: skip
    lost = run(scenario).summary()["links"][0]["drops_random"]
    # 500 packets a second during three of nine seconds; five standard deviations are 77.
    assert lost == pytest.approx(0.2 * 3 * 500, abs=77)


def test_losses_are_refused_with_the_reason(tmp_path: Path) -> None:
    for text, said in (
        ("0 1 2\n", "no column names in it"),
        ("time_s,loss_ratio\n0,0\n1,20\n", "line 3: a loss of 2000 %; is its unit another one?"),
        ("time_s,loss\n0,0\n1,1\n", '"loss" names no unit of a loss'),
    ):
        (tmp_path / "loss.csv").write_text(text)
        with pytest.raises(ScenarioError, match=said.replace("?", r"\?")):
            parse_scenario(SCENARIO.format(duration="9s"), folder=tmp_path)
    many = "time_s,loss_percent\n" + "".join(f"{k / 1000},{k % 2}\n" for k in range(1000))
    with pytest.raises(ParamError, match="times in the run"):
        parse_losses(many, MOST_CHANGES / 900)
    changes, table = parse_losses("time_s,loss_percent\n0,1\n1,1\n2,3\n", None)
    assert changes == ((0.0, 0.01), (2.0, 0.03))
    assert parse_losses(table, None) == (changes, table)
