"""Version 10: runs without traces, documents of many runs in one compressed pack, and outcomes of the arena as numbers.

The shipped library consists of such runs: their traces are simulated again when they are read.
"""

from __future__ import annotations

import base64
import json
import zlib
from sqlite3 import Connection

import zstandard

from subflow_store.checksums import KIND as CHECKSUMS
from subflow_store.checksums import checksum
from subflow_store.migrations.script import make_immutable, run_script
from subflow_store.outcome_rows import INSERT_OUTCOME, OutcomeRows

_TABLES = """
CREATE TABLE light_run (
    run_id INTEGER NOT NULL PRIMARY KEY,
    has_decisions INTEGER NOT NULL, -- whether the run recorded its decisions
    FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
) STRICT;

CREATE TABLE document_pack (
    id INTEGER NOT NULL PRIMARY KEY,
    data BLOB NOT NULL -- zstd: for each run a line of JSON, its documents by kind
) STRICT;
CREATE TABLE packed_run (
    run_id INTEGER NOT NULL PRIMARY KEY,
    pack_id INTEGER NOT NULL,
    line INTEGER NOT NULL, -- from 0
    FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE,
    FOREIGN KEY(pack_id) REFERENCES document_pack (id)
) STRICT;
CREATE INDEX packed_run_by_pack ON packed_run (pack_id);
CREATE TRIGGER packed_run_last AFTER DELETE ON packed_run BEGIN
    DELETE FROM document_pack WHERE id = OLD.pack_id
    AND NOT EXISTS (SELECT 1 FROM packed_run WHERE pack_id = OLD.pack_id); END;
"""

_ARENA = """
CREATE TABLE arena_entry (
    id INTEGER NOT NULL PRIMARY KEY,
    entrant TEXT NOT NULL, -- what people call it
    entry TEXT NOT NULL, -- hash of controller, options and policy
    version TEXT NOT NULL,
    UNIQUE (entrant, entry, version)
) STRICT;
CREATE TABLE arena_network (
    id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE arena_names (
    id INTEGER NOT NULL PRIMARY KEY,
    names TEXT NOT NULL UNIQUE -- JSON: names of the numbers of an outcome, in order
) STRICT;
CREATE TABLE arena_outcome (
    "key" ANY NOT NULL, -- outcomes of the same key are the same: of network, entry, seed and version; hex as bytes
    entry_id INTEGER NOT NULL REFERENCES arena_entry (id),
    network_id INTEGER NOT NULL REFERENCES arena_network (id),
    names_id INTEGER NOT NULL REFERENCES arena_names (id),
    made_at ANY NOT NULL, -- microseconds since 1970, or the text
    numbers BLOB NOT NULL, -- floats of 32 or 64 bits, little-endian; NaN for null
    words TEXT, -- JSON: everything that is not a number
    PRIMARY KEY ("key")
) WITHOUT ROWID, STRICT;
"""


def upgrade(connection: Connection) -> None:
    """Create the tables, convert the outcomes of the arena, and unpack summaries that a former library compressed."""
    run_script(connection, _TABLES)
    make_immutable(connection, ("light_run", "packed_run"))
    rows = connection.execute(
        "SELECT key, entrant, entry, network, version, result, made_at FROM arena_outcome ORDER BY made_at, key"
    ).fetchall()
    connection.execute("DROP TABLE arena_outcome")
    run_script(connection, _ARENA)
    into = OutcomeRows(connection)
    for *named, result, made_at in rows:
        key, entrant, entry, network, version = named
        connection.execute(INSERT_OUTCOME, into.row(key, entrant, entry, network, version, json.loads(result), made_at))
    _unpack_summaries(connection)


def _unpack_summaries(connection: Connection) -> None:
    """Give back their text to the summaries of libraries of version 9, which only the library could read."""
    query = "SELECT run_id, text FROM run_document WHERE kind = 'summary' AND text LIKE '%\"packed\": \"%'"
    packed = {number: json.loads(text) for number, text in connection.execute(query).fetchall()}
    if not packed:
        return
    first = {
        number: zlib.decompress(base64.b85decode(document["packed"])).decode()
        for number, document in packed.items()
        if "like" not in document
    }
    for verb in ("insert", "update", "delete"):
        connection.execute(f"DROP TRIGGER run_document_fixed_{verb}")
    for number, document in packed.items():
        text = first[number] if number in first else _like(first[document["like"]], document["packed"])
        _replace(connection, number, "summary", text)
        found = connection.execute("SELECT kind, text FROM run_document WHERE run_id = ?", (number,)).fetchall()
        sums = json.loads(dict(found).get(CHECKSUMS, "{}"))
        if sums:
            _replace(connection, number, CHECKSUMS, json.dumps(sums | {"run_document": checksum(found)}))
    make_immutable(connection, ("run_document",))


def _like(other: str, packed: str) -> str:
    """The text that was compressed with the summary of another run as dictionary."""
    dictionary = zstandard.ZstdCompressionDict(other.encode(), dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return zstandard.ZstdDecompressor(dict_data=dictionary).decompress(base64.b85decode(packed)).decode()


def _replace(connection: Connection, run_id: int, kind: str, text: str) -> None:
    connection.execute("UPDATE run_document SET text = ? WHERE run_id = ? AND kind = ?", (text, run_id, kind))
