"""How columns of numbers become blobs and back, named so that each stored row says how to read it.

A codec's name lists its steps: element type, transforms, compressor. Byte-shuffling puts the first bytes of all
elements together, then the second bytes and so on; sampled signals change little in their high bytes, so zstd then
finds much more to save than in the plain array (0.65 against 0.88 MB for a run of 400k samples, at the same speed).
blosc2 does the same 5 % smaller for a 19 MB dependency and slower writes.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

SAMPLES = "f4/shuffle/zstd3"
"""Codec of sampled signals and of pyramids."""

VECTORS = "f4x*/columns/shuffle/zstd3"
"""Codec of rows of several numbers, e.g. what an agent sees; a blob's own codec has their number in place of the "*".

All first numbers come first, then all second ones: each changes little from row to row.
"""

_LEVEL = 3
_VECTORS = re.compile(re.escape(VECTORS).replace(re.escape("*"), r"(\*|0|[1-9][0-9]{0,5})"))

# zstd contexts are costly to make and must not be shared by threads at work: one pair per thread.
_contexts = threading.local()


class CodecError(Exception):
    """A blob cannot be decoded: its codec is unknown, or it is damaged."""


@dataclass(frozen=True, slots=True)
class Codec:
    """One way to store a column: little-endian elements, perhaps differences, byte-shuffled, zstd with checksum.

    With a `width` an element of the column is a row of so many numbers: the column is an array [n, width].
    """

    name: str
    dtype: np.dtype[Any]
    delta: bool = False
    width: int | None = None

    def shape(self, n: int) -> tuple[int, ...]:
        """Shape of a column of `n` elements."""
        return (n,) if self.width is None else (n, self.width)

    def encode(self, values: NDArray[Any]) -> bytes:
        """Turn a column into a blob."""
        numbers = np.asarray(values, self.dtype)
        if self.width is not None:
            numbers = numbers.T.reshape(-1)
        return self.encode_rows(numbers[np.newaxis])[0]

    def encode_rows(self, rows: NDArray[Any]) -> list[bytes]:
        """Turn each row of an array [n_rows, n] into a blob: one pass of shuffling serves all of them."""
        rows = np.ascontiguousarray(rows, self.dtype)
        if self.delta:
            # The first element stays as it is; differences wrap around like the integers they are made of.
            rows = np.concatenate([rows[:, :1], np.diff(rows, axis=1)], axis=1)
        compress = _compressor().compress
        return [compress(planes) for planes in _shuffle(rows)]

    def decode(self, blob: bytes, n: int) -> NDArray[Any]:
        """Turn a blob back into its `n` elements.

        Raises:
            CodecError: if the blob is damaged or holds another number of elements.
        """
        self.check(blob, n)
        out = np.empty(self.shape(n), self.dtype)
        self.decode_into(blob, out)
        return out

    def check(self, blob: bytes, n: int) -> None:
        """Ask a blob how much it holds, so that a damaged number cannot ask for all the memory there is.

        Raises:
            CodecError: if that are not `n` elements.
        """
        wanted = n * self.dtype.itemsize * (1 if self.width is None else self.width)
        try:
            size = zstandard.frame_content_size(blob)
        except zstandard.ZstdError as error:
            raise CodecError(f"damaged data in a block of {self.name}: {error}") from error
        if size != wanted:
            raise CodecError(f"a block of {self.name} holds {size} bytes instead of {wanted}")

    def decode_into(self, blob: bytes, out: NDArray[Any]) -> None:
        """Decode into a contiguous array of the codec's type, whose length says how many elements there must be.

        Raises:
            CodecError: as `decode`.
        """
        self.check(blob, len(out))
        if self.width is None:
            self._decode_numbers(blob, out)
            return
        numbers = np.empty(out.size, self.dtype)
        self._decode_numbers(blob, numbers)
        out[:] = numbers.reshape(self.width, len(out)).T

    def _decode_numbers(self, blob: bytes, out: NDArray[Any]) -> None:
        width = self.dtype.itemsize
        try:
            raw = _decompressor().decompress(blob)
        except zstandard.ZstdError as error:
            raise CodecError(f"damaged data in a block of {self.name}: {error}") from error
        planes = np.frombuffer(raw, np.uint8).reshape(width, len(out))
        out_bytes = out.view(np.uint8).reshape(len(out), width)
        for byte in range(width):
            out_bytes[:, byte] = planes[byte]
        if self.delta:
            np.cumsum(out, out=out)


CODECS: Mapping[str, Codec] = {
    codec.name: codec
    for codec in (
        Codec(SAMPLES, np.dtype("<f4")),
        Codec("f8/shuffle/zstd3", np.dtype("<f8")),
        Codec("i4/shuffle/zstd3", np.dtype("<i4")),
        Codec("i8/shuffle/zstd3", np.dtype("<i8")),
        Codec("i8/delta/shuffle/zstd3", np.dtype("<i8"), delta=True),
    )
}
"""Every codec this version reads, by name. A name once stored stays here for good."""


def codec(name: str) -> Codec:
    """The codec of that name; that of `VECTORS` itself has rows without a number.

    Raises:
        CodecError: if this version does not know it.
    """
    if name in CODECS:
        return CODECS[name]
    vectors = _VECTORS.fullmatch(name)
    if vectors is None:
        raise CodecError(f"data stored as {name!r}, which this version cannot read")
    return _vector_codec(name, 0 if vectors[1] == "*" else int(vectors[1]))


def codec_for(name: str, column: NDArray[Any]) -> Codec:
    """The codec of that name for columns like this one: that of `VECTORS` for rows as wide as these."""
    return codec(name.replace("*", str(column.shape[1]))) if name == VECTORS else codec(name)


@cache
def _vector_codec(name: str, width: int) -> Codec:
    return Codec(name, np.dtype("<f4"), width=width)


def _shuffle(rows: NDArray[Any]) -> NDArray[np.uint8]:
    """Bytes [n_rows, width, n]: plane j of a row holds byte j of each of its elements."""
    width = rows.dtype.itemsize
    words = rows.view(f"<u{width}")
    planes = np.empty((rows.shape[0], width, rows.shape[1]), np.uint8)
    # Shifting whole words is twice as fast in numpy as copying strided bytes.
    for byte in range(width):
        planes[:, byte] = (words >> words.dtype.type(8 * byte)).astype(np.uint8)
    return planes


def _compressor() -> zstandard.ZstdCompressor:
    """This thread's compressor."""
    compressor: zstandard.ZstdCompressor | None = getattr(_contexts, "compressor", None)
    if compressor is None:
        # The checksum (4 bytes a block) turns a flipped bit into an error instead of a wrong curve; SQLite has none.
        compressor = _contexts.compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    return compressor


def _decompressor() -> zstandard.ZstdDecompressor:
    """This thread's decompressor."""
    decompressor: zstandard.ZstdDecompressor | None = getattr(_contexts, "decompressor", None)
    if decompressor is None:
        decompressor = _contexts.decompressor = zstandard.ZstdDecompressor()
    return decompressor
