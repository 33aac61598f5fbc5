"""Blobs: encoding and decoding keep every bit, and damage is detected."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.helpers.members import for_each

from subflow_store.codec import CODECS, DISTINCT, SAMPLES, VECTORS, CodecError, codec, codec_for

LENGTHS = st.integers(0, 300)


@st.composite
def arrays_of_each_codec(draw):
    kind = draw(st.sampled_from(sorted(CODECS)))
    values = draw(hnp.arrays(CODECS[kind].dtype, LENGTHS))
    return CODECS[kind], values


@given(arrays_of_each_codec())
def test_every_codec_gives_back_the_same_bits(case) -> None:
    kind, values = case
    decoded = kind.decode(kind.encode(values), len(values))
    # Bytes, not values: NaN differs from itself, and -0.0 equals 0.0.
    assert decoded.tobytes() == values.tobytes()


@given(hnp.arrays(np.float32, st.tuples(st.integers(1, 5), st.integers(1, 50))))
def test_encoding_rows_together_equals_encoding_each(rows) -> None:
    kind = codec(SAMPLES)
    for ordered in (rows, rows.T):  # also if the numbers of a row are not adjacent in memory
        assert kind.encode_rows(ordered) == [kind.encode(row) for row in ordered]


@given(hnp.arrays(np.float32, st.tuples(st.integers(0, 40), st.integers(0, 9))))
def test_rows_of_several_numbers_come_back_bit_for_bit(rows) -> None:
    kind = codec_for(VECTORS, rows)
    decoded = codec(kind.name).decode(kind.encode(rows), len(rows))
    assert kind.name == f"f4x{rows.shape[1]}/columns/shuffle/zstd3"
    assert decoded.shape == rows.shape
    assert decoded.tobytes() == rows.tobytes()


def test_rows_whose_numbers_change_slowly_shrink() -> None:
    # Ten random walks: stored column by column, neighbours share their high bytes.
    rows = np.cumsum(np.random.default_rng(1).normal(0, 1e-3, (4096, 10)), axis=0).astype(np.float32)
    assert len(codec_for(VECTORS, rows).encode(rows)) < 0.85 * rows.nbytes


@pytest.mark.parametrize("n_values", [2, 256, 257, 4000])
def test_a_signal_of_few_values_takes_half_as_a_table(n_values: int) -> None:
    # Packets in each 100 ms as a rate, which correspond to whole numbers.
    packets = np.random.default_rng(1).integers(0, n_values, 4096)
    rates = (packets * 12_000 / 0.1).astype(np.float32)
    blob = codec(DISTINCT).encode(rates)
    assert codec(DISTINCT).decode(blob, len(rates)).tobytes() == rates.tobytes()
    assert n_values > 257 or len(blob) < 0.65 * len(codec(SAMPLES).encode(rates))


def _table(count: int, numbers: bytes, places: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(write_checksum=True).compress(count.to_bytes(4, "little") + numbers + places)


TWELVE = np.arange(12, dtype=np.float32).reshape(4, 3)


@for_each(
    ("name", "blob", "count", "problem"),
    [
        (DISTINCT, _table(1, bytes(4), bytes([0, 0, 1])), 3, "index 1 is out of bounds"),
        (DISTINCT, _table(2, bytes(4), bytes(3)), 3, "11 bytes for 2 numbers at 3 places"),
        (DISTINCT, _table(1 << 31, bytes(4), bytes(3)), 3, "at 3 places"),
        (DISTINCT, _table(1, bytes(400), bytes(3)), 3, "407 bytes instead of 28 at most"),
        (DISTINCT, b"no frame", 3, "damaged data"),
        (SAMPLES, b"", 10, "."),
        (SAMPLES, b"not zstd at all", 10, "."),
        (SAMPLES, codec(SAMPLES).encode(np.zeros(10, np.float32)), 11, "40 bytes instead of 44"),
        ("f4x4/columns/shuffle/zstd3", codec_for(VECTORS, TWELVE).encode(TWELVE), 4, "48 bytes instead of 64"),
        ("f4x/columns/shuffle/zstd3", b"", 0, "this version cannot read"),
        ("f4x-1/columns/shuffle/zstd3", b"", 0, "this version cannot read"),
        ("f4x01/columns/shuffle/zstd3", b"", 0, "this version cannot read"),
        ("f2/zfp", b"", 0, "f2/zfp"),
    ],
)
def test_what_cannot_be_read_is_refused(name: str, blob: bytes, count: int, problem: str) -> None:
    with pytest.raises(CodecError, match=problem):
        codec(name).decode(blob, count)


def test_sampled_signals_shrink_more_than_their_plain_bytes_do() -> None:
    import zstandard

    rtt = (0.1 + 0.001 * np.random.default_rng(1).random(4096)).astype(np.float32)
    plain = zstandard.ZstdCompressor(level=3).compress(rtt.tobytes())
    assert len(codec(SAMPLES).encode(rtt)) < 0.9 * len(plain)


def test_event_times_cost_little() -> None:
    # A mark each millisecond: differences are equal, so 4096 of them take far less than their 8 bytes each.
    times = 1_000_000 * np.arange(4096, dtype=np.int64)
    assert len(codec("i8/delta/shuffle/zstd3").encode(times)) < 100


def test_a_flipped_bit_never_gives_other_numbers() -> None:
    values = np.random.default_rng(1).random(500).astype(np.float32)
    kind = codec(SAMPLES)
    blob = kind.encode(values)
    noticed = 0
    for position in range(len(blob)):
        damaged = bytearray(blob)
        damaged[position] ^= 0x10
        try:
            assert kind.decode(bytes(damaged), 500).tobytes() == values.tobytes()
        except CodecError:
            noticed += 1
    # A zstd frame has one or two bits without meaning, whose change is harmless.
    assert noticed >= len(blob) - 2
