"""Documents of many runs in one compressed pack: runs of the same scenario repeat most of their texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from sqlite3 import Connection

import zstandard

_MOST_RUNS = 64  # of a pack; reading one of its runs unpacks all, which takes less than a millisecond
_MOST_BYTES = 1 << 28
_LEVEL = 19


class Packer:
    """Packs the documents of runs, in the order in which they are added."""

    def __init__(self, connection: Connection) -> None:
        """Write into the database of a connection, in which the caller has begun a transaction."""
        self._connection = connection
        self._lines: list[str] = []
        self._pack_id = 0

    def add(self, run_id: int, documents: Mapping[str, str]) -> None:
        """Add the documents of a run, text by kind. They are in the database after the next `flush`."""
        if not self._lines:
            cursor = self._connection.execute("INSERT INTO document_pack (data) VALUES (?)", (b"",))
            assert cursor.lastrowid is not None
            self._pack_id = cursor.lastrowid
        self._connection.execute(
            "INSERT INTO packed_run (run_id, pack_id, line) VALUES (?, ?, ?)", (run_id, self._pack_id, len(self._lines))
        )
        self._lines.append(json.dumps(dict(documents), ensure_ascii=False))
        if len(self._lines) == _MOST_RUNS:
            self.flush()

    def flush(self) -> None:
        """Write the documents added so far."""
        if self._lines:
            compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
            data = compressor.compress("\n".join(self._lines).encode())
            self._connection.execute("UPDATE document_pack SET data = ? WHERE id = ?", (data, self._pack_id))
            self._lines = []


def packed_documents(reader: Connection, run_id: int) -> dict[str, str]:
    """The packed documents of a run, text by kind; empty if they are rows of `run_document`.

    Raises:
        ValueError: if the pack is damaged.
    """
    row = reader.execute(
        "SELECT data, line FROM packed_run JOIN document_pack ON document_pack.id = pack_id WHERE run_id = ?", (run_id,)
    ).fetchone()
    if row is None:
        return {}
    data, line = row
    lines = _unpacked(data) if isinstance(data, bytes) else ()
    if not (isinstance(line, int) and 0 <= line < len(lines)):
        raise ValueError(f"the pack of its documents has no line {line}")
    documents = json.loads(lines[line])
    if not (isinstance(documents, dict) and all(isinstance(text, str) for text in documents.values())):
        raise ValueError("the pack of its documents is damaged")
    return documents


@lru_cache(maxsize=4)
def _unpacked(data: bytes) -> tuple[str, ...]:
    try:
        if not 0 < zstandard.frame_content_size(data) <= _MOST_BYTES:
            raise ValueError("the pack of its documents is damaged")
        return tuple(zstandard.ZstdDecompressor().decompress(data).decode().split("\n"))
    except zstandard.ZstdError as error:
        raise ValueError(f"the pack of its documents is damaged: {error}") from error
