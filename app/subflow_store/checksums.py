"""Checksums of what a run says once it has ended: a flipped bit may leave a text or a number that makes sense.

They are a document of the run, so that older versions read it as before. Blobs have checksums of their own; what may
still change, the name, note, tags and deletion mark, has none, and neither has what older versions stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from sqlite3 import Connection
from typing import Any

from subflow_store.rows import insert

KIND = "checksums"
"""Of the document."""

# By table: the column that says which run a row is of, and those that count. Stored runs have checksums of these.
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
    """Of rows in any order, the columns that count of each; the document of checksums is not among them."""
    texts = sorted(json.dumps(tuple(row)) for row in rows if row[0] != KIND)
    return blake2b("\n".join(texts).encode(), digest_size=8).hexdigest()


def insert_checksums(connection: Connection, run_id: int) -> None:
    """Of a run that is about to end: nothing of it changes any more but its status."""
    sums = {
        table: checksum(
            connection.execute(f"SELECT {', '.join(columns)} FROM {table} WHERE {owner} = ?", (run_id,)).fetchall()
        )
        for table, (owner, columns) in COVERED.items()
    }
    insert(connection, "run_document", {"run_id": run_id, "kind": KIND, "text": json.dumps(sums)})
