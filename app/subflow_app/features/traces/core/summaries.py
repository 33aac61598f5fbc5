"""Summaries of stored runs. The shipped library compresses them, because they take most of its space.

A summary consists mostly of names, which runs of the same scenario and controllers share. Therefore, the summary of
the first such run serves as the dictionary for those of the others.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import zstandard

from subflow_store.errors import RunNotFound, StoreCorrupt

if TYPE_CHECKING:
    from subflow_store import Store

# Keys of a compressed summary: the compressed text, and the run whose summary served as dictionary.
_PACKED, _LIKE = "packed", "like"
_LEVEL = 19


def packed_summary(text: str, like: tuple[int, str] | None) -> dict[str, Any]:
    """The keys of a compressed summary.

    Args:
        text: JSON text of the summary.
        like: number and summary of the run that serves as dictionary; None without one.
    """
    if like is None:
        return {_PACKED: _text_of(zlib.compress(text.encode(), 9))}
    number, first = like
    compressor = zstandard.ZstdCompressor(level=_LEVEL, dict_data=_raw(first), write_checksum=True)
    return {_LIKE: number, _PACKED: _text_of(compressor.compress(text.encode()))}


class Summaries:
    """The whole summaries of a store, whether they are compressed or not; not thread-safe."""

    def __init__(self, store: Store) -> None:
        """Start without dictionaries."""
        self._store = store
        self._first: dict[int, str] = {}

    def of(self, run_id: int) -> Mapping[str, Any]:
        """The summary of a run; empty if it is missing.

        Raises:
            StoreError: if the run cannot be read, or its summary cannot be unpacked.
        """
        document = self._store.run(run_id).summary or {}
        if _PACKED not in document:
            return document
        whole: Mapping[str, Any] = json.loads(self._unpacked(document))
        return whole

    def text(self, text: str) -> str:
        """The original text of a summary.

        Raises:
            StoreError: if the summary cannot be unpacked.
        """
        document = json.loads(text)
        return self._unpacked(document) if _PACKED in document else text

    def _unpacked(self, document: Mapping[str, Any]) -> str:
        try:
            packed = base64.b85decode(document[_PACKED])
            if _LIKE not in document:
                return zlib.decompress(packed).decode()
            number = int(document[_LIKE])
            if number not in self._first:
                other = self._store.run(number).summary or {}
                self._first[number] = zlib.decompress(base64.b85decode(other[_PACKED])).decode()
            return zstandard.ZstdDecompressor(dict_data=_raw(self._first[number])).decompress(packed).decode()
        except (ValueError, TypeError, KeyError, zlib.error, zstandard.ZstdError, RunNotFound) as error:
            raise StoreCorrupt(
                f"a summary of the library cannot be unpacked ({error})",
                path=str(self._store.path),
                way_on="Install Subflow again, or rebuild the library with `subflow library build`.",
            ) from error


def _text_of(packed: bytes) -> str:
    return base64.b85encode(packed).decode("ascii")


def _raw(text: str) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(text.encode(), dict_type=zstandard.DICT_TYPE_RAWCONTENT)
