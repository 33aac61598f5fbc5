"""The command ``subflow import-trace``: importing a measured file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow


def test_a_file_becomes_a_run(subflow: Subflow, tmp_path: Path, database: Path) -> None:
    trace = tmp_path / "bench.csv"
    trace.write_text("t_ms;window;delay (ms)\n100;10;40\n200;11;41\n300;12;42\n")
    preview = subflow("import-trace", trace, "--preview", "--json").document
    assert [column["trace"] for column in preview["columns"]] == ["cwnd_pkts:measured/1", "srtt_s:measured/1"]
    assert not database.exists()
    words = ("--map", "window=cwnd_pkts:download/1", "--unit", "delay (ms)=us", "--name", "Bench 1")
    answer = subflow("import-trace", trace, "--db", database, *words)
    assert answer.code == 0
    assert 'kept as run 1: "Bench 1", 3 samples of 2 traces, every 0.1 s' in answer.out
    assert "measured" in subflow("runs", "--db", database, "--json").document[0]["tags"]
    document = subflow("import-trace", trace, "--db", database, "--json", "--flow", "download").document
    assert document["run_id"] == 2
    assert document["flows"][0]["mean_rtt_s"] == pytest.approx(0.041)


def test_what_cannot_be_is_said_and_nothing_kept(subflow: Subflow, tmp_path: Path, database: Path) -> None:
    trace = tmp_path / "bench.csv"
    trace.write_text("time_s,cwnd\n0.2,10\n0.1,11\n")
    for words, said in (
        ((), "--clock sort"),
        (("--clock", "guess"), '--clock = "guess": must be one of refuse, sort, drop, join'),
        (("--map", "cwnd"), '--map "cwnd": must be COLUMN=VALUE'),
        (("--interval", "0s"), "must be greater than 0"),
    ):
        answer = subflow("import-trace", trace, "--db", database, *words)
        assert answer.code == 2, words
        assert said in answer.err
    assert subflow("import-trace", tmp_path / "none.csv", "--db", database).code == 2
    assert not database.exists()
