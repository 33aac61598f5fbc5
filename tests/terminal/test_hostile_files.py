"""Hostile input on the command line: pipes, bombs, gaps of a year, numbers beyond all bounds."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each

from subflow_app.features.exporting.core.verification import verify_bundle
from subflow_app.foundation.errors import InputError


@for_each(
    "words",
    [
        ("import-trace",),
        ("import-trace", "--format", "pcap"),
        ("import-trace", "--format", "ss"),
        ("import-trace", "--format", "csv"),
        ("import",),
        ("verify",),
        ("run",),
        ("sweep",),
        ("labs", "verify"),
        ("labs", "show"),
        ("reproduce",),
        ("arena", "--contest"),
        ("train", "--recipe"),
        ("runs", "--db"),
        ("controllers", "check"),
    ],
    ids=" ".join,
)
def test_nobody_waits_for_a_pipe(subflow: Subflow, tmp_path: Path, words: tuple[str, ...]) -> None:
    for name in ("pipe", "pipe.toml", "pipe.safetensors", "pipe.py"):
        os.mkfifo(tmp_path / name)
        answer = subflow(*words, tmp_path / name)
        assert answer.code in (1, 2)
        assert "Traceback" not in answer.err
        assert "not a regular file" in answer.err


def test_a_year_without_packets_is_said_and_not_allocated(
    subflow: Subflow, tmp_path: Path, database: Path, packets: Callable[[list[int]], bytes]
) -> None:
    path = tmp_path / "gap.pcap"
    path.write_bytes(packets([*range(59), 365 * 86_400]))
    tracemalloc.start()
    answer = subflow("import-trace", path, "--db", database)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert answer.code == 2
    assert "3.15359e+07 s, 58 s after the first" in answer.err
    assert peak_bytes < 20e6
    assert subflow("import-trace", path, "--db", database, "--interval", "60min").code == 0


@pytest.fixture
def packets() -> Callable[[list[int]], bytes]:
    """Makes a capture with a packet of data at each of these seconds."""

    def make(seconds: list[int]) -> bytes:
        made = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
        for number, second in enumerate(seconds):
            tcp = struct.pack(">HHIIBBHHH", 5001, 80, 100 * number, 1, 0x50, 0x10, 1000, 0, 0)
            ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 140, 0, 0, 64, 6, 0, b"\x0a\0\0\1", b"\x0a\0\0\2")
            frame = bytes(12) + b"\x08\0" + ip + tcp + bytes(100)
            made += struct.pack("<IIII", 10**9 + second, 0, len(frame), len(frame)) + frame
        return made

    return make


def test_a_bomb_as_a_bundle_is_read_in_parts(tmp_path: Path) -> None:
    """100 MB of zeros in 100 kB, with a matching manifest, which is read as far as possible."""
    zeros = bytes(100_000_000)
    run = {"name": "a", "scenario": "a", "version": "1", "signature": "0", "seed": 1, "sample_interval_s": 0.1}
    files = {"traces/zeros.csv": zeros, "scenario.toml": b"format = 1"}
    manifest = {
        "kind": "subflow-run-bundle",
        "format": 1,
        "run": run,
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
    }
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in {**files, "manifest.json": json.dumps(manifest).encode()}.items():
            archive.writestr(name, content)
    del zeros, files
    assert path.stat().st_size < 1e6
    tracemalloc.start()
    verify_bundle(path)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 40e6


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_take_memory_as_an_archive_says_are_refused(tmp_path: Path, method: int) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("manifest.json", "{}")
    with pytest.raises(InputError, match="bundles use another compression"):
        verify_bundle(path)


def test_a_file_that_stands_twice_in_a_bundle_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", "{}")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("manifest.json", "[]")
    with pytest.raises(InputError, match="it holds a file twice"):
        verify_bundle(path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "demo", "--sample-interval", "1e308s"), 'sample-interval = "1e308s": must be at most 9e+09 s'),
        (("run", "demo", "--set", "duration=1e308"), "too large"),
        (("run", "demo", "--set", f"{'a.' * 20_000}a=1"), "a key of 20001 parts"),
        (("run", "demo", "--set", f"seed={'[' * 100_000}"), "this is text"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_values_beyond_bounds_are_told(subflow: Subflow, database: Path, words: tuple[str, ...], said: str) -> None:
    begun_s = time.process_time()
    answer = subflow(*words, "--db", database)
    assert answer.code == 2
    assert said in answer.err
    assert len(answer.err) < 3000
    assert time.process_time() - begun_s < 5.0


@for_each(
    ("text", "said"),
    [
        ("time_s,cwnd_pkts\n0,1\n1e308,2\n", "line 3: a time of 1e+308 s"),
        (f"time_s,cwnd_pkts\n0,{'1' * 200_000}\n", "field larger than field limit (131072)"),
        ("time_s,cwnd_pkts\n0,1\n1e-300,2\n", "an interval of 1e-300 s"),
        (f"time_s,cwnd_pkts\n{'x' * 2_000_000}", "line 2 is longer than 1 MB"),
        (
            f"time_s,{','.join(f'download/{k}:cwnd_pkts' for k in range(1001))}\n0{',1' * 1001}\n",
            "would become 1 001 traces",
        ),
    ],
    ids=["time", "cell", "interval", "line", "columns"],
)
def test_tables_beyond_bounds_are_told(subflow: Subflow, tmp_path: Path, database: Path, text: str, said: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    answer = subflow("import-trace", path, "--db", database)
    assert (answer.code, said in answer.err) == (2, True), answer.err[:500]
    assert not database.exists()


def test_a_log_of_ss_with_figures_that_are_none_keeps_the_others(
    subflow: Subflow, tmp_path: Path, database: Path
) -> None:
    path = tmp_path / "ss.log"
    socket = "ESTAB 0 0 10.0.0.1:5001 10.0.0.2:41"
    figures = ("rtt:40/2 cwnd:inf mss:1e300", "rtt:nan cwnd:10 mss:1400", "rtt:41/2 cwnd:1e99 mss:inf")
    path.write_text("".join(f"{1690000000 + k}\n{socket}\n\t cubic rto:204 {each}\n" for k, each in enumerate(figures)))
    document = subflow("import-trace", path, "--db", database, "--json").document
    assert document["flows"][0]["subflows"][0]["mean_cwnd_pkts"] == 10
    assert document["flows"][0]["mean_rtt_s"] == pytest.approx(0.0405)


def test_a_query_beyond_all_bounds_is_told(subflow: Subflow, database: Path) -> None:
    assert subflow("run", "t-2link", "--set", "duration=1s", "--set", "warmup=0s", "--db", database).code == 0
    subflow("runs", "a" * 2001, "--db", database).check_refusal("too long: up to 2000 characters")
    assert len(subflow("runs", "T-2link\0two", "--db", database, "--json").document) == 1
