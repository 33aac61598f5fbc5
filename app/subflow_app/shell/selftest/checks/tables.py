"""A run as data: CSV, long CSV, Parquet, a capture of its packets, and a bundle that is simulated again."""

from __future__ import annotations

import csv
from pathlib import Path

from subflow_app.shell.selftest.check import Check, Place, is_to_be_here, keep_short_run, require

_FORMATS = ("csv", "csv-long", "parquet", "parquet-long", "pcapng", "bundle")


def check(place: Place) -> str:
    """Exports a run in every format of data, and reads each file again."""
    from subflow_app.features.exporting.core.verification import verify_bundle
    from subflow_app.features.measured.core.measured_table import ReadingOptions
    from subflow_app.features.measured.core.pcap_reader import read_pcap

    number = keep_short_run(place.folder / "runs.subflow")
    words = ("--db", "runs.subflow", "--format", ",".join(_FORMATS), "--until", "5s", "--out", "data")
    place.subflow("export", number, *words)
    folder = place.folder / "data"
    rows, columns = _csv_size(folder / "subflows.csv")
    require(rows > 1 and columns > 1, f"subflows.csv has {rows} rows and {columns} columns")
    for name in ("subflows.parquet", "samples.parquet"):
        _check_parquet(folder / name)
    if is_to_be_here("dpkt"):
        require(read_pcap(folder / "mptcp.pcapng", ReadingOptions()).columns, "the capture has no connection")
    verified = verify_bundle(folder / f"run-{number}.subflow.zip")
    require(verified.holds, f"the bundle's run does not come out again: {verified.checks}")
    return f"{', '.join(_FORMATS)}: {sum(1 for _ in folder.iterdir())} files, read again and verified"


def _csv_size(path: Path) -> tuple[int, int]:
    """Rows below the heading, and columns."""
    with path.open(encoding="utf-8", newline="") as file:
        table = list(csv.reader(file))
    return len(table) - 1, len(table[0])


def _check_parquet(path: Path) -> None:
    """What other programs look at first: the marks at both ends, and the length of the description before the last."""
    raw = path.read_bytes()
    described = int.from_bytes(raw[-8:-4], "little")
    is_whole = raw[:4] == raw[-4:] == b"PAR1" and 0 < described < len(raw) - 12
    require(is_whole and b"time_s" in raw[-8 - described :], f"{path.name} is not Parquet")


CHECK = Check("export of data", check)
