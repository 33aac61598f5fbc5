"""Makes the database file of the version of this program: `python -m tests.store.versions.make`, before its release."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import zstandard
from tests.store.examples import (
    COLUMNS,
    FOLLOWS_A_RECORDING,
    OUTCOME,
    SUMMARY,
    decisions,
    figures,
    intervals,
    ramp,
    reports,
    start,
    training,
)

from subflow_store import BestPolicy, RunFork, SweepRunPlace, SweepStart, open_store, upgrade
from subflow_store.searches import Generation


def make(path: Path) -> None:
    """Writes the content described in README.md beside this file."""
    block = ramp(5000)
    block[7] = np.nan
    with open_store(path) as store:
        run = store.start_run(start("Finished", seed=2**64 - 1, scenario_text=FOLLOWS_A_RECORDING), COLUMNS)
        run.append(0, block)
        run.add_marks([(7, "download/1", "loss", 1.5)])
        run.add_events("decision", decisions(5000))
        run.add_events("interval", intervals(10))
        run.finish("finished", SUMMARY, "0123456789abcdef")
        store.add_tag(run.run_id, "paper")
        store.set_note(run.run_id, "kept for ever")
        fork = RunFork(run.run_id, "Finished", 12.5, "wifi: loss 2 % → 5 %", [{"link": "wifi", "loss": "5%"}])
        store.start_run(start("Interrupted", fork=fork), COLUMNS).append(0, block[:100])
        learned = store.trainings.add(training("Learned"))
        best = BestPolicy(20_000, 1.5, 6e6, "0123456789abcdef")
        store.trainings.append(learned, reports(3000), figures(20_000), reports_read=123, best=best)
        store.trainings.set_state(learned, "finished")
        places = [SweepRunPlace(0, 2**64 - 1, "a key"), SweepRunPlace(0, 2, "another key")]
        swept = store.sweeps.add(SweepStart("Swept", "format = 1\n", "0.1.0", [{"links.wifi.loss": "1%"}], places))
        store.sweeps.attach_run(swept, [(0, 2**64 - 1)], run.run_id, "a key", has_traces=True)
        store.sweeps.set_state(swept, "stopped")
        store.arena.add([OUTCOME])
        search = store.searches.begin("a key", "improve", "two-links", "olia", "0.1.0", {"seed": 1})
        store.searches.add(search.id, [Generation(0, b"\0" * 16, b"\1" * 8, b"\2" * 6)], 2.5)
        store.searches.put_found(search.id, [{"says": "It fails here"}])


if __name__ == "__main__":
    target = Path(__file__).parent / f"v{upgrade.head()}.db.zst"
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder, "runs.db"))
        target.write_bytes(zstandard.ZstdCompressor(level=19).compress(Path(folder, "runs.db").read_bytes()))
