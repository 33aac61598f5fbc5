"""Checksums of the data of ended runs: without them, a value with a flipped bit could still look valid.

The checksums are stored as a document of the run, so that older versions can read the run. Blobs contain their own
checksums. Name, note, tags and deletion mark have no checksum, because they may still change. Runs of older versions
have no checksums.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from sqlite3 import Connection
from typing import Any

from subflow_store.rows import insert

KIND = "checksums"
"""Kind of the document with checksums."""

# By table: the column with the number of the run, and the columns included. Stored runs have checksums of these
# columns, so the lists must not change.
COVERED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "run": (
        "id",
        (
            *("scenario_name", "controllers", "seed", "duration_s", "warmup_s", "sample_interval_s", "mss_bytes"),
            *("profile", "version", "signature", "started_at", "ended_at", "wall_s", "simulated_s", "packets"),
            *("goodput_bps", "mean_rtt_s", "jain"),
        ),
    ),
    "run_document": ("run_id", ("kind", "text")),
    "run_fork": ("run_id", ("parent_name", "forked_at_s", "difference", "changes")),
    "series": (
        "run_id",
        (
            *("scope", "owner", "name", "unit", "t0_s", "dt_s", "n", "dtype", "codec", "chunk_samples"),
            *("vmin", "vmax", "mean"),
        ),
    ),
    "event_name": ("run_id", ("stream", "field", "idx", "name")),
}


def checksum(rows: Iterable[Sequence[Any]]) -> str:
    """Checksum of rows in any order, each with the columns of `COVERED`; skips the document with the checksums."""
    texts = sorted(json.dumps(tuple(row)) for row in rows if row[0] != KIND)
    return blake2b("\n".join(texts).encode(), digest_size=8).hexdigest()


def insert_checksums(connection: Connection, run_id: int) -> None:
    """Store the checksums of a run that is about to end; afterwards only the status of the run changes."""
    insert(connection, "run_document", {"run_id": run_id, "kind": KIND, "text": checksums_text(connection, run_id)})


def checksums_text(connection: Connection, run_id: int, packed: Mapping[str, str] | None = None) -> str:
    """The document with the checksums of a run.

    Args:
        connection: connection to the database with the run.
        run_id: the run.
        packed: the documents of the run, text by kind, if they are in a pack; None if they are rows.
    """
    sums = {
        table: checksum(
            connection.execute(f"SELECT {', '.join(columns)} FROM {table} WHERE {owner} = ?", (run_id,)).fetchall()
        )
        for table, (owner, columns) in COVERED.items()
    }
    return json.dumps(sums if packed is None else sums | {"run_document": checksum(packed.items())})
