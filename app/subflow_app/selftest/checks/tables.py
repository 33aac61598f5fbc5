"""A run as data: CSV, long CSV, Parquet, a capture of its packets, and a bundle that is simulated again."""

from __future__ import annotations

import csv
from pathlib import Path

from subflow_app.selftest.check import SHORT_RUN, Check, Place, require

_FORMATS = ("csv", "csv-long", "parquet", "parquet-long", "pcapng", "bundle")


def check(place: Place) -> str:
    """Exports a run in every format of data, and reads each file again."""
    place.subflow("run", *SHORT_RUN)
    place.subflow("export", 1, "--format", ",".join(_FORMATS), "--until", "5s", "--out", "data")
    folder = place.folder / "data"
    rows, columns = _csv_size(folder / "subflows.csv")
    require(rows > 1 and columns > 1, f"subflows.csv has {rows} rows and {columns} columns")
    _check_parquet(folder / "subflows.parquet", rows, columns)
    _check_parquet(folder / "samples.parquet", *_csv_size(folder / "samples.csv"))
    read = place.subflow("import-trace", folder / "mptcp.pcapng", "--json", may_speak=True).document
    require(read, "nothing was read from the capture")
    verified = place.subflow("verify", folder / "run-1.subflow.zip", "--json").document
    require(verified["holds"], "the bundle's run does not come out again")
    return f"{', '.join(_FORMATS)}: {sum(1 for _ in folder.iterdir())} files, read again and verified"


def _csv_size(path: Path) -> tuple[int, int]:
    """Rows below the heading, and columns."""
    with path.open(encoding="utf-8", newline="") as file:
        table = list(csv.reader(file))
    return len(table) - 1, len(table[0])


def _check_parquet(path: Path, rows: int, columns: int) -> None:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    require(
        (table.num_rows, table.num_columns) == (rows, columns),
        f"{path.name} has {table.num_rows} rows and {table.num_columns} columns, its CSV {rows} and {columns}",
    )


CHECK = Check("export of data", check)
