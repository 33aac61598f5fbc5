"""Measured tables: separators, decimal commas, headings, units, long and wide, clocks that run backwards, bad files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.features.measured.core.reading import column, imported
from tests.helpers.fake_runs import RICH, finished_traces
from tests.helpers.members import for_each

from subflow_app.features.exporting.core.exports import ExportPlan, export_run
from subflow_app.features.measured.core import csv_reader
from subflow_app.features.measured.core.measured_run import MeasuredRun
from subflow_app.foundation.errors import InputError


def read(folder: Path, text: str | bytes, **options: Any) -> MeasuredRun:
    return imported(folder / "trace.csv", text, **options)


def test_our_own_export_comes_back_bit_for_bit(tmp_path: Path) -> None:
    traces = finished_traces(RICH)
    export_run(traces, tmp_path, ExportPlan(run_data=True, figures=(), figure_formats=()))
    for name, scope in (("subflows.csv", "subflow"), ("flows.csv", "flow"), ("links.csv", "link")):
        run = imported(tmp_path / name)
        keys = [key for key in traces.keys() if key.scope == scope]  # noqa: SIM118 - traces, not a mapping
        targets = [(each.scope, each.owner, each.name) for each in run.targets]
        assert targets == [(key.scope, key.owner, key.name) for key in keys]
        assert run.interval_s == pytest.approx(0.1)
        for place, key in enumerate(keys):
            time_s, values = traces.read(key)
            assert len(run.values) == len(time_s)
            np.testing.assert_array_equal(run.values[:, place], values, err_msg=str(key))
        assert not [notice for notice in run.notices if "left out" in notice]


@for_each(
    ("heading", "target", "factor"),
    [
        ("cwnd", "cwnd_pkts:measured/1", 1.0),
        ("cwnd (bytes)", "cwnd_pkts:measured/1", 1 / 1448),
        ("snd_cwnd_pkts", "cwnd_pkts:measured/1", 1.0),
        ("rtt_ms", "srtt_s:measured/1", 1e-3),
        ("RTT [us]", "srtt_s:measured/1", 1e-6),
        ("Throughput (Mbps)", "throughput_bps:measured/1", 1e6),
        ("goodput MB/s", "goodput_bps:measured/1", 8e6),
        ("cwnd2", "cwnd_pkts:measured/2", 1.0),
        ("sf3_rtt_ms", "srtt_s:measured/3", 1e-3),
        ("download/2:srtt_s", "srtt_s:download/2", 1.0),
        ("run 1:download/1:cwnd_pkts", "cwnd_pkts:download/1", 1.0),
        ("wifi/forward:queue_pkts", "queue_pkts:wifi/forward", 1.0),
        ("download:recv_buffer_bytes", "recv_buffer_bytes:download", 1.0),
    ],
)
def test_headings_tell_meaning_and_unit(tmp_path: Path, heading: str, target: str, factor: float) -> None:
    run = read(tmp_path, f'time_s;"{heading}"\n0.1;10\n0.2;20\n')
    assert column(run, target) == pytest.approx([10 * factor, 20 * factor])


def test_a_german_spreadsheet_is_read_with_its_commas(tmp_path: Path) -> None:
    text = "Zeit;RTT (ms);Throughput [Mbit/s];Bemerkung\n0,1;40,5;8,25;gut\n0,2;41;7,5;\n0,3;41,5;7;\n"
    run = read(tmp_path, text)
    assert column(run, "srtt_s:measured/1") == pytest.approx([0.0405, 0.041, 0.0415])
    assert column(run, "throughput_bps:measured/1") == pytest.approx([8.25e6, 7.5e6, 7e6])


def test_without_headings_a_person_tells(tmp_path: Path) -> None:
    text = "0.1 10\n0.2 12\n0.3 14\n"
    with pytest.raises(InputError, match=r"the meaning of the columns of trace\.csv is unknown: column 2"):
        read(tmp_path, text)
    run = read(tmp_path, text, maps={"column 2": "cwnd_pkts:download/1"})
    assert column(run, "cwnd_pkts:download/1") == [10.0, 12.0, 14.0]


def test_a_long_table_has_a_row_per_owner_and_trace(tmp_path: Path) -> None:
    rows = ("0.1,a/1,cwnd,10", "0.1,a/2,cwnd,5", "0.1,a/1,rtt_ms,40", "0.2,a/1,cwnd,11", "0.2,a/2,cwnd,6")
    run = read(tmp_path, "\n".join(("time,owner,metric,value", *rows)))
    assert column(run, "cwnd_pkts:a/1") == [10.0, 11.0]
    assert column(run, "cwnd_pkts:a/2") == [5.0, 6.0]
    assert column(run, "srtt_s:a/1")[0] == pytest.approx(0.04)
    per_owner = read(tmp_path, "time,subflow,cwnd,rtt_ms\n1,wifi,10,40\n1,lte,5,60\n2,wifi,11,41\n2,lte,6,61\n")
    assert column(per_owner, "cwnd_pkts:lte") == [5.0, 6.0]


def test_epochs_and_dates_begin_at_the_first_sample(tmp_path: Path) -> None:
    for first, second in (
        ("1690000000000", "1690000000100"),
        ("1690000000.0", "1690000000.1"),
        ("2023-07-22T04:26:40.0", "2023-07-22T04:26:40.1"),
    ):
        run = read(tmp_path, f"timestamp;cwnd\n{first};10\n{second};11\n")
        assert run.interval_s == pytest.approx(0.1, rel=1e-4)
        assert column(run, "cwnd_pkts:measured/1") == [10.0, 11.0]
        assert run.start_s == pytest.approx(1.69e9, abs=1.0)
    assert read(tmp_path, "time;cwnd\n100;10\n200;11\n", time_unit="ms").interval_s == pytest.approx(0.1)


def test_a_gap_is_told_with_its_place_and_not_drawn_over(tmp_path: Path) -> None:
    rows = "".join(f"{k / 10:.1f},{k}\n" for k in range(1, 101) if not 40 < k < 60)
    run = read(tmp_path, "time_s,cwnd\n" + rows)
    values = column(run, "cwnd_pkts:measured/1")
    assert len(values) == 100
    assert (values[39], values[59]) == (40.0, 60.0)
    assert all(np.isnan(values[41:58]))
    assert "no samples from 4 s to 6 s: a gap." in run.notices


def test_a_clock_that_goes_back_is_refused_or_mended(tmp_path: Path) -> None:
    text = "time_s,cwnd\n0.1,1\n0.2,2\n0.3,3\n0.2,4\n0.3,5\n0.4,6\n"
    with pytest.raises(InputError, match=r"1 time, first in line 5: from 0\.3 s to 0\.2 s.*--clock sort"):
        read(tmp_path, text)
    assert column(read(tmp_path, text, clock="join"), "cwnd_pkts:measured/1") == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    dropped = read(tmp_path, text, clock="drop")
    # At 0.3 s comes a second sample: the last sample of a time is kept.
    assert column(dropped, "cwnd_pkts:measured/1") == [1.0, 2.0, 5.0, 6.0]
    assert any("1 samples were left out" in notice for notice in dropped.notices)
    assert column(read(tmp_path, text, clock="sort"), "cwnd_pkts:measured/1") == [1.0, 4.0, 5.0, 6.0]


def test_what_is_no_number_is_said_and_left_out(tmp_path: Path) -> None:
    run = read(tmp_path, "# made by a script\ntime_s,cwnd\n0.1,1\n0.2,oops\n0.3,3\n0.4,NaN\n0.5,5\n,9\n0.6,6,7\n")
    values = column(run, "cwnd_pkts:measured/1")
    assert (values[0], values[2]) == (1.0, 3.0)
    assert '"cwnd": 1 cell is not a number and left out, first "oops" in line 4.' in run.notices
    assert any("1 lines without a time are left out, first line 8" in notice for notice in run.notices)
    assert any("1 line has another number of cells than the headings, first line 9" in notice for notice in run.notices)


def test_bytes_that_are_counted_become_a_rate(tmp_path: Path) -> None:
    run = read(tmp_path, "time_s,bytes_acked\n0,0\n1,1000000\n2,3000000\n3,1000\n")
    values = column(run, "throughput_bps:measured/1")
    assert values[1] == 16e6
    assert np.isnan(values[2])
    assert any("falls at 3 s" in notice for notice in run.notices)


@for_each(
    ("content", "said"),
    [
        (b"", "trace.csv is empty"),
        (b"\n\n  \n", "trace.csv is empty"),
        (b"time,cwnd\n", "no samples"),
        (b"oneword", "has one cell only"),
        (b"just one line of words", "no samples"),
        (b"\x7fELF\0\0\1\2\0", "trace.csv is a program; allowed: capture, qlog file"),
        (b"PK\x03\x04\0", "is an archive or a spreadsheet: unpack it"),
        (b"\x1f\x8b\x08\0", "is compressed"),
        (b"time,note\n1,a\n2,b\n", "no column of numbers"),
        (b"time_s,cwnd (ms)\n0.1,1\n0.2,2\n", '"cwnd .ms." is in ms, which cwnd_pkts cannot be'),
        (b"time_s,cwnd\n0,1\n0.001,1\n0.002,2\n900000,3\n", "choose a longer --interval, or check the unit"),
    ],
)
def test_bad_files_are_refused_with_the_reason(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, content)


def test_bad_choices_are_refused_with_what_is_allowed(tmp_path: Path) -> None:
    text = "time_s,cwnd,rtt_ms\n0.1,1,40\n0.2,2,41\n"
    for options, said in (
        ({"maps": {"window": "cwnd_pkts"}}, 'unknown column "window"; allowed: cwnd, rtt_ms'),
        ({"maps": {"cwnd": "windows"}}, '"windows" is not a trace; allowed: throughput_bps'),
        ({"units": {"rtt_ms": "Mbit/s"}}, '"Mbit/s" is not a unit for srtt_s; allowed: s, ms'),
        ({"maps": {"cwnd": "srtt_s:a/1", "rtt_ms": "srtt_s:a/1"}}, "are both mapped to srtt_s:a/1"),
        ({"time_column": "zeit"}, '--time "zeit": unknown column'),
        ({"time_unit": "Mbit/s"}, "is not a unit of time"),
        ({"format": "xls"}, '--format = "xls"'),
    ):
        with pytest.raises(InputError, match=said):
            read(tmp_path, text, **options)


def test_too_many_lines_are_refused_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_reader, "MOST_CELLS", 100)
    text = "time_s,cwnd\n" + "".join(f"{k / 10:.1f},1\n" for k in range(1000))
    with pytest.raises(InputError, match=r"has about .* lines; at most 50 of 2 columns are read"):
        read(tmp_path, text)
