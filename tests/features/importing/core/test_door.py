"""The one door recognises files by their content, whatever their names."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.members import for_each

from subflow_app.features.importing.core.door import Way, recognise
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.resources import measurement_names, resource_path

RECORDINGS = Path(__file__).parents[2] / "measured" / "recordings"
KINDS = {
    "ss": ("ss-tcp.log", "ss-one-line.log", "ss-date.log", "ss-mptcp-server.log"),
    "pcap": ("mptcp-ethernet.pcap", "mptcp-two-interfaces.pcapng"),
    "iperf3": ("iperf3-udp.json", "iperf3-reverse.json"),
    "iperf3-text": ("iperf3-two-streams.txt", "iperf3-half-seconds.txt"),
    "qlog": ("quic-client.qlog",),
    "tshark": ("tshark-fields.tsv",),
}


@for_each("kind", list(KINDS))
def test_measurements_without_a_telling_name(tmp_path: Path, kind: str) -> None:
    for name in KINDS[kind]:
        file = tmp_path / "download"
        file.write_bytes((RECORDINGS / name).read_bytes())
        found = recognise(file)
        assert (found.way, found.format) == (Way.RUN, kind), name


def test_networks_and_other_files(tmp_path: Path) -> None:
    for content, way in (
        (b"<!doctype html><title>x</title>", Way.PAGE),
        (b'<?xml version="1.0"?><graphml xmlns="x"></graphml>', Way.GRAPH),
        (b"Creator x\ngraph [\n  node [\n id 0 ]\n]", Way.GRAPH),
        (b"time_s,cwnd\n0.1,10\n", Way.RUN),
    ):
        file = tmp_path / "file"
        file.write_bytes(content)
        assert recognise(file).way is way
    for name, content, said in (
        ("a", b"", "a is empty"),
        ("b.toml", b"format = 1", r"b.toml is a scenario of Subflow: subflow run b.toml simulates it"),
        ("c.db", b"x", "c.db is a database of Subflow"),
        ("d", b"SQLite format 3\0", "d is a database of Subflow"),
        ("e.csv", b"\x1f\x8b\x08\0", r"e.csv is compressed: unpack it first \(gunzip\)"),
        ("f.xlsx", b"PK\x03\x04\0", "f.xlsx is an archive or a spreadsheet"),
        ("g", b"\0\1\2", "g is a binary file of an unknown format; allowed: capture, qlog file"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=said):
            recognise(tmp_path / name)
    with pytest.raises(InputError, match="cannot be read: No such file"):
        recognise(tmp_path / "missing.csv")


def test_each_shipped_measurement_is_recognised() -> None:
    found = [recognise(resource_path(f"measurements/{name}")).format for name in measurement_names()]
    assert sorted(found) == ["iperf3", "pcap", "qlog", "ss", "tshark"]
