"""Recordings that scenarios follow, each stored once: the text of a scenario names a recording by its hash.

A scenario separated from its files contains each recording as one long text, ``content = "packed:..."``. In the
database ``content = "packed#..."`` contains its hash instead, and the recording is stored once for all owners. Reading
a text restores the content. If the content is lost, the hash remains, and the reader of scenarios reports the loss.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from sqlite3 import Connection

import zstandard

from subflow_store.damage import is_damage
from subflow_store.recording_texts import NAMED, hash_of

_MOST_BYTES = 1 << 28
_LEVEL = 1  # the text is compressed already; only its alphabet of 85 characters leaves something to save


def keep_all(connection: Connection, owner: str, number: int, contents: Mapping[str, str]) -> None:
    """Store the recordings named in a text of a run, training or sweep.

    Args:
        connection: connection for writing.
        owner: "run", "training" or "sweep".
        number: number of the owner.
        contents: recordings by hash, from `folded`.
    """
    for digest, content in contents.items():
        if not _link(connection, owner, number, digest):
            compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
            keep(connection, owner, number, digest, compressor.compress(content.encode()))


def keep(connection: Connection, owner: str, number: int, digest: str, data: bytes) -> None:
    """Store a compressed recording unless it exists, and link the owner to it."""
    connection.execute("INSERT INTO recording (hash, data) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING", (digest, data))
    _link(connection, owner, number, digest)


def _link(connection: Connection, owner: str, number: int, digest: str) -> bool:
    """Link an owner to a recording; returns False if the recording is not stored yet."""
    statement = (
        f"INSERT INTO {owner}_recording ({owner}_id, recording_id) SELECT ?, id FROM recording WHERE hash = ?"
        " ON CONFLICT DO NOTHING"
    )
    connection.execute(statement, (number, digest))
    return connection.execute("SELECT 1 FROM recording WHERE hash = ?", (digest,)).fetchone() is not None


def restored(reader: Connection, text: str) -> str:
    """A text with its recordings restored; the hash of a lost recording remains."""

    def content(found: re.Match[str]) -> str:
        try:
            row = reader.execute("SELECT data FROM recording WHERE hash = ?", (found[1],)).fetchone()
            recorded = None if row is None else decoded(row[0], found[1])
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            recorded = None
        return found[0] if recorded is None else f'"{recorded}"'

    return NAMED.sub(content, text) if '"packed#' in text else text


def decoded(data: object, digest: str) -> str | None:
    """The text of a stored recording; None if it is damaged."""
    try:
        if not isinstance(data, bytes) or not 0 < zstandard.frame_content_size(data) <= _MOST_BYTES:
            return None
        text = zstandard.ZstdDecompressor().decompress(data).decode()
    except (zstandard.ZstdError, UnicodeDecodeError):
        return None
    return text if hash_of(text) == digest else None
