"""The command ``subflow import``: several files, both kinds of results, questions, and stopping."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow

from subflow_app.features.measured.core import reading
from subflow_app.features.measured.core.measured_table import ReadingOptions
from subflow_app.features.measured.core.reading import Reading
from subflow_app.foundation.resources import resource_path

GRAPH = Path(__file__).parents[3] / "helpers" / "graphs" / "alpine.graphml"


def test_several_files_become_runs_and_scenarios(subflow: Subflow, tmp_path: Path, database: Path) -> None:
    scenario = tmp_path / "alpine.toml"
    answer = subflow("import", "ss-mptcp.log", GRAPH, "-o", scenario, "--db", database, "--json")
    run, network = answer.document["imported"]
    assert run["found"].startswith("ss log: 1 MPTCP connection, 2 subflows")
    assert (run["measured"]["tool"], run["measured"]["transport"]) == ("ss", "MPTCP")
    assert network["scenario"] == str(scenario)
    assert scenario.is_file()
    assert subflow("runs", "--db", database, "--json").document[0]["name"] == "ss-mptcp"


def test_addresses_are_left_out_unless_kept(subflow: Subflow, database: Path) -> None:
    told = subflow("import", "ss-mptcp.log", "--db", database)
    assert "192.0.2" not in told.out + told.err
    assert "no queue information" in told.out
    kept = subflow("import", "mptcp-any.pcap", "--addresses", "--db", database)
    assert "measured/1 is 192.0.2.17:" in kept.err
    assert b"192.0.2.18" in database.read_bytes()
    # A choice by the title with addresses works with and without them.
    title = next(line for line in kept.out.splitlines() if "throughput" in line).split("  ")[0]
    mapped = subflow("import", "mptcp-any.pcap", "--map", f"{title}=goodput_bps:wifi/1", "--preview", "--json")
    assert mapped.document["columns"][0]["trace"] == "goodput_bps:wifi/1"


def test_what_is_not_known_is_asked_for(subflow: Subflow, tmp_path: Path, database: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("time,rtt,cwnd\n0.1,40,10\n0.2,41,11\n")
    refused = subflow("import", table, "--db", database)
    assert refused.code == 2
    assert 'the unit of "rtt" is not stated' in refused.err
    assert not database.exists()
    preview = subflow("import", table, "--preview", "--json").document
    assert any('the unit of "rtt" is not stated' in notice for notice in preview["notices"])
    assert subflow("import", table, "--unit", "rtt=ms", "--db", database).code == 0


def test_options_that_do_not_fit_are_refused(subflow: Subflow, tmp_path: Path, database: Path) -> None:
    for words, said in (
        (("ss-mptcp.log", "-o", tmp_path / "x.toml"), "names one scenario, but the files make 0"),
        ((GRAPH, "--preview"), "--preview shows measurements and recordings; alpine.graphml is a network"),
        (("ss-mptcp.log", "iperf3-tcp.json", "--name", "x"), "names one run, but the files make 2"),
        (("ss-mptcp.log", "--format", "xls"), "must be one of csv, iperf3, iperf3-text, pcap, qlog, ss, tshark, auto"),
        (("nothing.log",), "nothing.log cannot be read"),
    ):
        answer = subflow("import", *words, "--db", database)
        assert answer.code == 2, words
        assert said in answer.err
    assert not database.exists()


def test_a_stopped_import_keeps_nothing(subflow: Subflow, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_and_stop(path: Path, options: ReadingOptions) -> None:
        del path
        while True:
            options.watch(0.5)

    job = Reading(resource_path("measurements/ss-mptcp.log"), ReadingOptions())
    monkeypatch.setattr(reading, "read_trace", read_and_stop)
    job.stop()
    assert job.run() is None
    assert job.progress.fraction == 0.5
    monkeypatch.setattr(Reading, "run", lambda _self: None)
    answer = subflow("import", "ss-mptcp.log", "--db", database)
    assert "stopped; nothing of it is kept" in answer.err
    assert not database.exists()


def test_a_recording_of_a_link_becomes_a_scenario_that_runs(subflow: Subflow, tmp_path: Path, database: Path) -> None:
    source = tmp_path / "5g.csv"
    source.write_bytes((Path(__file__).parents[1] / "5g.csv").read_bytes())
    preview = subflow("import", source, "--preview", "--json").document
    assert preview["values"]["rate"].startswith("over 3 s: mean 17.31 Mbit/s, in single seconds 0.012 to 30.47")
    assert not (tmp_path / "5g.toml").exists()
    told = subflow("import", source)
    assert 'rate = { trace = "5g.csv" }' in told.out
    beside = subflow("run", tmp_path / "5g.toml", "--set", "duration=3s", "--db", database, "--json").document
    # In another folder, the recording is embedded.
    other = tmp_path / "other" / "5g.toml"
    other.parent.mkdir()
    assert subflow("import", source, "-o", other).code == 0
    source.unlink()
    embedded = subflow("run", other, "--set", "duration=3s", "--db", database, "--json").document
    assert embedded["signature"] == beside["signature"]
    assert beside["flows"][0]["goodput_bps"] > 5e6
