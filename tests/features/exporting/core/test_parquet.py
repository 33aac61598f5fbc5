"""Apache Arrow reads the same values from Parquet files as were written."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subflow_app.features.exporting.core import tables
from subflow_app.features.exporting.core.tables import (
    I32,
    I64,
    Column,
    Field,
    List,
    Names,
    Numbers,
    Struct,
    Text,
    encoded,
    parquet_bytes,
    varint,
)

VALUES = st.one_of(st.just(float("nan")), st.floats(width=32, allow_nan=False))


def read(columns: Sequence[Column]) -> pq.ParquetFile:
    return pq.ParquetFile(io.BytesIO(parquet_bytes(columns, {"about": "Übung"}, "subflow version 1.2.3")))


@given(st.lists(st.tuples(VALUES, st.integers(0, 300)), max_size=60), st.integers(1, 70))
def test_every_table_comes_back(rows: list[tuple[float, int]], rows_per_group: int) -> None:
    values = np.array([value for value, _ in rows], np.float32)
    names = [f"n{which}ä" for _, which in rows]
    texts = tuple(dict.fromkeys(names)) or ("",)
    columns: list[Column] = [
        Numbers("time_s", np.arange(len(rows)) / 7),
        Names("name", texts, [(texts.index(name), 1) for name in names]),
        Numbers("value", values, has_nulls=True),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "ROWS_PER_GROUP", rows_per_group)
        file = read(columns)

    table = file.read()
    assert table["time_s"].to_pylist() == [row / 7 for row in range(len(rows))]
    assert table["name"].to_pylist() == names
    np.testing.assert_array_equal(table["value"].to_numpy(), values)
    assert table["value"].null_count == np.isnan(values).sum()
    assert file.metadata.num_row_groups == -(-len(rows) // rows_per_group)


def test_what_a_reader_is_told_of_the_file() -> None:
    zeros = np.zeros(5000, np.float32)
    file = read([Numbers("zeros", zeros), Names("names", ["a", "b"], [(1, 5000)])])

    assert file.metadata.created_by == "subflow version 1.2.3"
    assert file.metadata.metadata == {b"about": "Übung".encode()}
    assert file.schema_arrow.field("zeros").nullable is False
    chunk = file.metadata.row_group(0).column(0)
    assert (chunk.compression, chunk.total_uncompressed_size > 20_000) == ("ZSTD", True)
    assert chunk.total_compressed_size < 100
    assert chunk.statistics.null_count == 0


def test_numbers_of_the_compact_protocol() -> None:
    """The examples of its specification."""
    assert (varint(0), varint(127), varint(128), varint(50399)) == (b"\0", b"\x7f", b"\x80\1", b"\xdf\x89\3")
    assert [encoded(I32(number)) for number in (0, -1, 1, -2, 2)] == [bytes([zigzag]) for zigzag in range(5)]
    assert encoded(I64(-(2**63))) == b"\xff" * 9 + b"\1"
    assert encoded(Struct(Field(1, Text("ü")), Field(4, I32(3)))) == b"\x18\2\xc3\xbc\x35\6\0"
    assert encoded(List(I32, [I32(1)] * 15))[:2] == b"\xf5\x0f"
    assert encoded(List(Struct, [Struct()])) == b"\x1c\0"
