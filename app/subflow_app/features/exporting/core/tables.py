"""The samples of a run as tables for other programs: long CSV, and Parquet, wide or long.

Wide is a column per trace, as in ``subflows.csv``, ``flows.csv`` and ``links.csv`` (see `exports`). Long is a row per
sample: ``time_s, scope, owner, quantity, unit, value``, what grammars of graphics and data frames like best. All values
are SI; the name of a quantity ends in its unit, which also stands in a column (long) or in the metadata of the file
(wide Parquet: the key ``subflow`` is a JSON document with the units by column, title, seed, signature and so on).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from subflow_app import __version__
from subflow_app.features.exporting.core.exports import TABLE_FILES, number_texts, time_texts
from subflow_app.features.exporting.core.parquet import Column, Names, Numbers, parquet_bytes
from subflow_app.features.traces.core.traces import NANOSECONDS, SeriesKey, Traces, select_keys
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.files import made_folder, write_file
from subflow_app.vocabulary.palette import written
from subflow_app.vocabulary.tables import csv_text

TableKind = Literal["csv-long", "parquet", "parquet-long"]
TABLE_KINDS: tuple[TableKind, ...] = get_args(TableKind)

_TIME = "time_s"
LONG_COLUMNS = (_TIME, "scope", "owner", "quantity", "unit", "value")
_LONG_FILE = "samples"


def export_table(
    traces: Traces, directory: Path, kind: TableKind, described: Mapping[str, Any] | None = None
) -> list[Path]:
    """Write the samples of a run into a folder, which is made if need be; files of the same name are replaced.

    Args:
        traces: the run.
        directory: where to.
        kind: how.
        described: facts of the run that go into the metadata of Parquet files: seed, signature and so on.

    Returns:
        The files written.

    Raises:
        ExportError: if a file cannot be written.
        InputError: if the run has no samples.
        StoreError: if the traces are stored and cannot be read.
    """
    keys = traces.keys()
    if not keys:
        raise InputError(f'run "{traces.title}" has no samples to export: its traces were not kept')
    made_folder(directory)
    if kind == "csv-long":
        return [_write_long_csv(traces, keys, directory / f"{_LONG_FILE}.csv")]
    if kind == "parquet-long":
        return [_write_parquet(_long_columns(traces, keys), directory / f"{_LONG_FILE}.parquet", traces, described)]
    return [
        _write_parquet(
            _wide_columns(traces, chosen),
            (directory / file).with_suffix(".parquet"),
            traces,
            {"units": {_TIME: "s"} | {_column(key): key.unit for key in chosen}, **(described or {})},
        )
        for scope, file in TABLE_FILES.items()
        if (chosen := select_keys(traces, scope))
    ]


def _write_long_csv(traces: Traces, keys: Sequence[SeriesKey], path: Path) -> Path:
    lines = [",".join(LONG_COLUMNS)]
    times: dict[int, list[str]] = {}
    for key in keys:
        time_s, values = traces.read(key)
        if len(time_s) not in times:  # nearly always those of all traces of a run are the same
            times[len(time_s)] = time_texts((time_s * NANOSECONDS).round().astype(np.int64))
        middle = csv_text(_texts(key), ()).removesuffix("\n")
        rows = zip(times[len(time_s)], number_texts(values), strict=False)
        lines += [f"{time},{middle},{value}" for time, value in rows]
    return write_file(path, "\n".join(lines) + "\n")


def _wide_columns(traces: Traces, keys: Sequence[SeriesKey]) -> list[Column]:
    read = [traces.read(key) for key in keys]
    count = min(len(values) for _, values in read)
    time_s = read[0][0][:count]
    columns = (
        Numbers(_column(key), values[:count], has_nulls=True) for key, (_, values) in zip(keys, read, strict=True)
    )
    return [Numbers(_TIME, _rounded(time_s)), *columns]


def _long_columns(traces: Traces, keys: Sequence[SeriesKey]) -> list[Column]:
    read = [traces.read(key) for key in keys]
    counts = [min(len(time_s), len(values)) for time_s, values in read]
    times = np.concatenate([time_s[:count] for (time_s, _), count in zip(read, counts, strict=True)])
    values = np.concatenate([values[:count] for (_, values), count in zip(read, counts, strict=True)])
    names = []
    for place, name in enumerate(LONG_COLUMNS[1:-1]):
        texts = [_texts(key)[place] for key in keys]
        different = {text: index for index, text in enumerate(dict.fromkeys(texts))}
        runs = [(different[text], count) for text, count in zip(texts, counts, strict=True)]
        names.append(Names(name, tuple(different), runs))
    return [Numbers(_TIME, _rounded(times)), *names, Numbers(LONG_COLUMNS[-1], values, has_nulls=True)]


def _column(key: SeriesKey) -> str:
    return f"{written(key.owner)}:{key.name}"


def _texts(key: SeriesKey) -> tuple[str, str, str, str]:
    return key.scope, written(key.owner), key.name, key.unit


def _rounded(time_s: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Times are multiples of the interval: nine decimals cut the rounding of binary fractions off."""
    return np.round(time_s, 9)


def _write_parquet(columns: Sequence[Column], path: Path, traces: Traces, described: Mapping[str, Any] | None) -> Path:
    facts = {"title": traces.title, "duration_s": traces.duration_s, "warmup_s": traces.warmup_s, **(described or {})}
    metadata = {"subflow": json.dumps(facts, ensure_ascii=False)}
    return write_file(path, parquet_bytes(columns, metadata, f"subflow version {__version__}"))
