"""Time to store and read runs, compared with the simplest SQLite code that stores the same blobs.

The workload is the one used to choose the design: 2 subflows x 10 signals x 20,000 samples (200 s at 100 Hz) of windows
that grow and halve, noisy rates and delays, and nearly constant signals. The reference has one table each for runs,
series and chunks, and encodes like this store. It has neither pyramids, statistics, tags, search nor threads: the
difference is their cost.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from subflow_store.conditions import TAG, Condition
from subflow_store.ingest import CHUNK_SAMPLES
from subflow_store.store import Store
from subflow_store.values import ColumnSpec, RunRow, RunStart

N_SAMPLES = 20_000
SAMPLE_INTERVAL_S = 0.01
SUBFLOWS = ("download/1", "download/2")
REPEATS = 8
LISTED_RUNS = 500
HISTORY_RUNS = 5000
"""Runs in the database for measurements of lists, queries and columns: the result of a few years of work."""

_UNITS = {
    "cwnd_pkts": "pkt",
    "ssthresh_pkts": "pkt",
    "losses_pkts": "pkt",
    "srtt_s": "s",
    "rtt_s": "s",
    "rttvar_s": "s",
    "throughput_bps": "bit/s",
    "queue_pkts": "pkt",
    "inflight_pkts": "pkt",
    "alpha": "",
}
_START = RunStart(
    name="benchmark",
    scenario_name="Two disjoint paths",
    scenario_text="format = 1\n" * 40,
    seed=1,
    duration_s=N_SAMPLES * SAMPLE_INTERVAL_S,
    sample_interval_s=SAMPLE_INTERVAL_S,
    controllers="lia",
    machine={},
)
_NOT_LISTED = ("id", "tags", "scenario_text", "summary", "machine")

# Columns of a run in the reference: as many as a listed run has, so that lists are compared row for row.
_RUN = {name: getattr(_START, name, None) for name in RunRow._fields if name not in _NOT_LISTED} | {
    "status": "finished",
    "signature": "0123456789abcdef",
    "started_at": "2026-01-01T00:00:00.000000+00:00",
    "ended_at": "2026-01-01T00:00:00.000000+00:00",
    "wall_s": 0.4,
    "simulated_s": 200.0,
    "packets": 123456,
    "goodput_bps": 3e6,
    "mean_rtt_s": 0.1,
    "jain": 1.0,
    "note": "",
}
_SUMMARY = {
    "wall_s": 0.4,
    "packets": 123456,
    "flows": [{"goodput_bps": 3e6, "mean_rtt_s": 0.1}],
    "fairness": {"jain": 1.0},
}


def run_store_benchmark(look: Callable[[Store], dict[str, float]] | None = None) -> dict[str, Any]:
    """Measure storing, reading and listing, best of several repeats, in a temporary folder.

    Args:
        look: further measurements on the database of many runs, e.g. of its display; its figures join those of the
            store.

    Returns:
        `store` and `reference`: milliseconds of each operation, CPU milliseconds of the insert, and megabytes per run;
        `ratio`: `store` divided by `reference`.
    """
    block = aimd_like_block()
    with tempfile.TemporaryDirectory(prefix="subflow-bench-", ignore_cleanup_errors=True) as folder:
        store = _measure_store(Path(folder, "store.db"), block)
        reference = _measure_reference(Path(folder, "reference.db"), block)
        store |= _measure_history(Path(folder, "history.db"), look)
    return {
        "workload": {
            "samples": int(block.size),
            "columns": block.shape[1],
            "repeats": REPEATS,
            "runs": LISTED_RUNS,
            "history_runs": HISTORY_RUNS,
        },
        "store": store,
        "reference": reference,
        "ratio": {name: store[name] / value for name, value in reference.items()},
    }


def aimd_like_block(n_samples: int = N_SAMPLES, seed: int = 1) -> NDArray[np.float32]:
    """Signals similar to those of a run.

    Args:
        n_samples: samples per signal.
        seed: seed of the noise.

    Returns:
        float32 [n_samples, 20], the columns of `columns()`.
    """
    random = np.random.default_rng(seed)
    time_s = np.arange(n_samples) * SAMPLE_INTERVAL_S
    signals = []
    for subflow in range(len(SUBFLOWS)):
        # A window that gains a packet per round trip of 0.1 s and halves about every 8 s, slightly irregularly.
        losses = np.zeros(n_samples)
        losses[np.cumsum(random.integers(600, 1000, n_samples // 600)).clip(max=n_samples - 1)] = 1.0
        last_loss_s = np.maximum.accumulate(np.where(losses > 0, time_s, 0.0))
        cwnd = np.floor(40.0 + subflow + 10.0 * (time_s - last_loss_s))
        queue = np.maximum(cwnd - 67.0, 0.0) + random.normal(0.0, 0.5, n_samples)
        rtt = 0.1 + 0.0015 * np.maximum(queue, 0.0) + random.normal(0.0, 0.001, n_samples)
        srtt = np.convolve(rtt, np.full(8, 1 / 8), "same")
        signals += [
            cwnd,
            np.where(last_loss_s > 0.0, 40.0 + subflow, np.nan),
            losses,
            srtt,
            rtt,
            np.abs(rtt - srtt),
            cwnd * 1448 * 8 / srtt,
            queue,
            np.floor(cwnd - random.random(n_samples)),
            np.full(n_samples, 0.5),
        ]
    return np.stack(signals, axis=1).astype(np.float32)


def columns() -> list[ColumnSpec]:
    """Columns of `aimd_like_block`."""
    return [ColumnSpec("subflow", owner, name, unit) for owner in SUBFLOWS for name, unit in _UNITS.items()]


def _measure_store(path: Path, block: NDArray[np.float32]) -> dict[str, float]:
    with Store(path) as store:

        def insert() -> None:
            run = store.start_run(_START, columns())
            run.append(0, block)
            run.finish("finished", _SUMMARY, "0123456789abcdef")

        figures = _insert_figures(insert)
        series = store.series(store.runs(limit=1)[0].id)
        noisy = next(entry.id for entry in series if entry.name == "rtt_s")
        figures["read_signal_ms"] = _best_ms(lambda: store.read(noisy))
        figures["read_window_ms"] = _best_ms(lambda: store.read(noisy, 100.0, 110.0))
        figures["read_run_ms"] = _best_ms(lambda: [store.read(entry.id) for entry in series])
    with Store(path) as store:  # closing has moved the -wal file into the database
        figures["megabytes_per_run"] = path.stat().st_size / 1e6 / REPEATS
        for _ in range(LISTED_RUNS - REPEATS):
            store.start_run(_START, columns()[:1]).finish("finished", _SUMMARY, "0123456789abcdef")
        figures["list_runs_ms"] = _best_ms(store.runs)
    return figures


def _measure_history(path: Path, look: Callable[[Store], dict[str, float]] | None) -> dict[str, float]:
    """Listing and searching thousands of runs, each with tags, notes, three flows and four link directions."""
    random = np.random.default_rng(1)
    controllers, tags = ("lia", "olia", "balia", "cubic"), ("fairness", "paper", "baseline")
    with Store(path) as store:
        for number in range(HISTORY_RUNS):
            controller = controllers[number % len(controllers)]
            text = f'[links.wifi]\nrate = "8Mbit/s"\nloss = "{number % 5}%"\n[flows.a]\ncontroller = "{controller}"\n'
            start = replace(_START, name=f"run {number}", scenario_text=text, controllers=controller, seed=number % 20)
            flows = [
                {"name": name, "goodput_bps": float(random.normal(3e6, 5e5)), "mean_rtt_s": 0.09, "loss_ratio": 0.01}
                for name in ("a", "b", "c")
            ]
            links = [
                {"name": name, "direction": direction, "utilisation": float(random.random()), "drops_queue": 3}
                for name in ("wifi", "lte")
                for direction in ("forward", "reverse")
            ]
            run = store.start_run(start, [])
            run.finish("finished", {**_SUMMARY, "flows": flows, "links": links}, "0123456789abcdef")
            store.add_tag(run.run_id, tags[number % len(tags)])
            if number % 7 == 0:
                store.set_note(run.run_id, "with the new cable")
        recorded = Condition("flows.*.goodput_bps", ">", 3e6, is_recorded=True)
        questions: dict[str, Callable[[], object]] = {
            "list_history": store.runs,
            "search_word": lambda: store.runs(search="olia"),
            "search_tag": lambda: store.runs([Condition(TAG, "=", "paper")]),
            "search_figure": lambda: store.runs([recorded]),
            "search_parameter": lambda: store.runs([Condition("links.wifi.loss", "=", 0.02, is_recorded=True)]),
            "read_column": lambda: store.values("flows.a.goodput_bps"),
        }
        # CPU time of the reading thread, which waits only for the processor.
        figures = {f"{name}_cpu_ms": _best_ms(ask, time.thread_time) for name, ask in questions.items()}
        return figures | ({} if look is None else look(store))


def _measure_reference(path: Path, block: NDArray[np.float32]) -> dict[str, float]:
    """The same operations with only sqlite3, numpy and zstandard."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute(f"CREATE TABLE run ({', '.join(_RUN)})")
    database.execute("CREATE TABLE series (id INTEGER PRIMARY KEY, run_id, scope, owner, name, unit, t0, dt, n)")
    database.execute("CREATE TABLE chunk (series_id, idx, n, data, PRIMARY KEY (series_id, idx))")
    insert_run = f"INSERT INTO run VALUES ({', '.join('?' * len(_RUN))})"
    compress = zstandard.ZstdCompressor(level=3).compress
    decompress = zstandard.ZstdDecompressor().decompress

    def insert() -> None:
        database.execute("BEGIN IMMEDIATE")
        run_id = database.execute(insert_run, tuple(_RUN.values())).lastrowid
        for spec, column in zip(columns(), block.T, strict=True):
            insert_series = "INSERT INTO series VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)"
            row = (run_id, spec.scope, spec.owner, spec.name, spec.unit, 0.01, 0.01, len(column))
            series_id = database.execute(insert_series, row).lastrowid
            chunks = []
            for index, start in enumerate(range(0, len(column), CHUNK_SAMPLES)):
                part = np.ascontiguousarray(column[start : start + CHUNK_SAMPLES])
                planes = np.ascontiguousarray(part.view(np.uint8).reshape(-1, 4).T)
                chunks.append((series_id, index, len(part), compress(planes.tobytes())))
            database.executemany("INSERT INTO chunk VALUES (?, ?, ?, ?)", chunks)
        database.execute("COMMIT")

    def read(first: int, last: int) -> NDArray[np.float32]:
        query = "SELECT n, data FROM chunk WHERE series_id = ? AND idx BETWEEN ? AND ? ORDER BY idx"
        rows = database.execute(query, (noisy, first // CHUNK_SAMPLES, last // CHUNK_SAMPLES)).fetchall()
        parts = [np.frombuffer(decompress(data), np.uint8).reshape(4, n).T for n, data in rows]
        values: NDArray[np.float32] = np.concatenate(parts).reshape(-1).view(np.float32)
        start = first // CHUNK_SAMPLES * CHUNK_SAMPLES
        return values[first - start : last + 1 - start]

    try:
        figures = _insert_figures(insert)
        noisy = database.execute("SELECT max(id) FROM series WHERE name = 'rtt_s'").fetchone()[0]
        figures["read_signal_ms"] = _best_ms(lambda: read(0, N_SAMPLES - 1))
        figures["read_window_ms"] = _best_ms(lambda: read(10_000, 11_000))
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        figures["megabytes_per_run"] = path.stat().st_size / 1e6 / REPEATS
        for _ in range(LISTED_RUNS - REPEATS):
            database.execute(insert_run, tuple(_RUN.values()))
        figures["list_runs_ms"] = _best_ms(
            lambda: database.execute("SELECT rowid, * FROM run ORDER BY rowid DESC").fetchall()
        )
    finally:
        database.close()
    return figures


def document() -> dict[str, Any]:
    """Document of ``dev.py measure store``, with the list in the window."""
    from tools.measure.history_list import measure_list

    return run_store_benchmark(measure_list)


def _insert_figures(insert: Callable[[], None]) -> dict[str, float]:
    """Wall time of an insert, and its CPU time on all threads and on the calling thread: best of the repetitions."""
    clocks = {
        "insert_ms": time.perf_counter,
        "insert_cpu_ms": time.process_time,
        "insert_caller_cpu_ms": time.thread_time,
    }
    best = dict.fromkeys(clocks, float("inf"))
    for _ in range(REPEATS):
        start = {name: clock() for name, clock in clocks.items()}
        insert()
        best = {name: min(best[name], 1e3 * (clock() - start[name])) for name, clock in clocks.items()}
    return best


def _best_ms(operation: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    best = float("inf")
    for _ in range(REPEATS):
        start = clock()
        operation()
        best = min(best, clock() - start)
    return 1e3 * best
