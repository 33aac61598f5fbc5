"""The samples of a run as tables for other programs: long CSV, and Parquet, wide or long.

Wide is a column per trace, as in ``subflows.csv``, ``flows.csv`` and ``links.csv`` (see `exports`). Long is a row per
sample: ``time_s, scope, owner, quantity, unit, value``, what grammars of graphics and data frames like best. All values
are SI; the name of a quantity ends in its unit, which stands in a column (long) or in the field's metadata (Parquet).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from subflow_app.core.errors import AppError, InputError
from subflow_app.core.exports import TABLE_FILES, number_texts, time_texts, writing
from subflow_app.core.traces import NANOSECONDS, SeriesKey, Traces, select_keys
from subflow_sim.whole_file import write_whole

if TYPE_CHECKING:
    import pyarrow as pa

TableKind = Literal["csv-long", "parquet", "parquet-long"]
TABLE_KINDS: tuple[TableKind, ...] = get_args(TableKind)

LONG_COLUMNS = ("time_s", "scope", "owner", "quantity", "unit", "value")
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
        AppError: if Parquet is asked for and pyarrow is not installed.
        ExportError: if a file cannot be written.
        InputError: if the run has no samples.
        StoreError: if the traces are stored and cannot be read.
    """
    keys = traces.keys()
    if not keys:
        raise InputError(f'run "{traces.title}" has no samples to export: its traces were not kept')
    with writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
    if kind == "csv-long":
        return [_write_long_csv(traces, keys, directory / f"{_LONG_FILE}.csv")]
    if kind == "parquet-long":
        return [_write_parquet(_long_table(traces, keys), directory / f"{_LONG_FILE}.parquet", traces, described)]
    return [
        _write_parquet(_wide_table(traces, chosen), (directory / file).with_suffix(".parquet"), traces, described)
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
        middle = _csv_text(_texts(key))
        rows = zip(times[len(time_s)], number_texts(values), strict=False)
        lines += [f"{time},{middle},{value}" for time, value in rows]
    with writing(path):
        write_whole(path, ("\n".join(lines) + "\n").encode())
    return path


def _csv_text(cells: Sequence[str]) -> str:
    """The cells of a part of a row, quoted where they have to be."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()


def _wide_table(traces: Traces, keys: Sequence[SeriesKey]) -> pa.Table:
    pa = _pyarrow()
    columns = [traces.read(key) for key in keys]
    count = min(len(values) for _, values in columns)
    fields = [pa.field("time_s", pa.float64(), metadata={"unit": "s"})]
    fields += [
        pa.field(f"{key.owner}:{key.name}", pa.float32(), metadata={"unit": key.unit, "scope": key.scope})
        for key in keys
    ]
    arrays = [pa.array(_rounded(columns[0][0][:count])), *(_known(pa, values[:count]) for _, values in columns)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _long_table(traces: Traces, keys: Sequence[SeriesKey]) -> pa.Table:
    pa = _pyarrow()
    names = pa.dictionary(pa.int32(), pa.string())
    kinds = (pa.float64(), names, names, names, names, pa.float32())
    schema = pa.schema([pa.field(name, kind) for name, kind in zip(LONG_COLUMNS, kinds, strict=True)])
    parts = []
    for key in keys:
        time_s, values = traces.read(key)
        count = min(len(time_s), len(values))
        zeros = pa.array(np.zeros(count, np.int32))
        texts = [pa.DictionaryArray.from_arrays(zeros, pa.array([text])) for text in _texts(key)]
        arrays = [pa.array(_rounded(time_s[:count])), *texts, _known(pa, values[:count])]
        parts.append(pa.Table.from_arrays(arrays, schema=schema))
    return pa.concat_tables(parts).unify_dictionaries()


def _texts(key: SeriesKey) -> tuple[str, str, str, str]:
    return key.scope, key.owner, key.name, key.unit


def _rounded(time_s: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Times are multiples of the interval: nine decimals cut the rounding of binary fractions off."""
    return np.round(time_s, 9)


def _known(pa: Any, values: np.ndarray[Any, np.dtype[np.float32]]) -> Any:
    """The values; what is not known is null, as an empty cell is in CSV."""
    return pa.array(values, mask=np.isnan(values))


def _write_parquet(table: pa.Table, path: Path, traces: Traces, described: Mapping[str, Any] | None) -> Path:
    import pyarrow.parquet

    facts = {"title": traces.title, "duration_s": traces.duration_s, "warmup_s": traces.warmup_s, **(described or {})}
    kept = {**(table.schema.metadata or {}), b"subflow": json.dumps(facts, ensure_ascii=False).encode()}
    buffer = io.BytesIO()
    # Floats of a trace differ in few bytes, which lie side by side that way: half the size.
    floats = [field.name for field in table.schema if field.type in (_pyarrow().float32(), _pyarrow().float64())]
    pyarrow.parquet.write_table(
        table.replace_schema_metadata(kept),
        buffer,
        compression="zstd",
        use_dictionary=[field.name for field in table.schema if field.name not in floats],
        use_byte_stream_split=floats,
    )
    with writing(path):
        write_whole(path, buffer.getvalue())
    return path


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise AppError("writing Parquet takes the package pyarrow: pip install 'subflow[parquet]'") from None
    return pyarrow
