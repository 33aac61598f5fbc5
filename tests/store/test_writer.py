"""The writing thread: concurrency, back-pressure, crashes, and other processes that write to the same file."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.helpers.present import present
from tests.helpers.raising import raising
from tests.helpers.waiting import wait_until
from tests.store.examples import COLUMNS, SUMMARY, begun, database_of, ramp, record, start, values_of, writer_of

from subflow_store import RunClosed, Store, StoreLocked, liveness, open_store, run_writer, writer
from subflow_store.liveness import STALE_S, ProcessIdentity, this_process
from subflow_store.run_writer import COMMIT_INTERVAL_S, RunStream

# Threads


def test_appending_does_not_wait_for_the_disk(store: Store) -> None:
    run = store.start_run(start(), COLUMNS)
    with busy_writer(store):
        # The writing thread is blocked, yet the caller continues.
        for first in range(0, 1000, 100):
            run.append(first, ramp(1000)[first : first + 100])
    run.finish("finished", SUMMARY)
    assert np.array_equal(values_of(store, run.run_id), ramp(1000))


@contextmanager
def busy_writer(store: Store) -> Iterator[None]:
    """Blocks the writing thread during the context."""
    begun, done = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        done.wait(30)

    writer_of(store).post(wait, 0)
    assert begun.wait(30)
    try:
        yield
    finally:
        done.set()


def test_a_disk_that_falls_far_behind_makes_the_caller_wait(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    block = ramp(100)
    monkeypatch.setattr(writer, "QUEUE_BYTES", 3 * block.nbytes)
    run = store.start_run(start(), COLUMNS)
    appended: list[int] = []

    def append() -> None:
        for index in range(10):
            run.append(100 * index, ramp(1000)[100 * index : 100 * index + 100])
            appended.append(index)

    with busy_writer(store):
        thread = threading.Thread(target=append)
        thread.start()
        thread.join(0.1)  # time for far more than ten blocks without back-pressure
        assert thread.is_alive()
        assert appended == [0, 1, 2]
    thread.join(30)
    run.finish("finished", SUMMARY)
    assert np.array_equal(values_of(store, run.run_id), ramp(1000))


def test_others_read_while_a_run_is_written(store: Store) -> None:
    run = store.start_run(start(), COLUMNS)
    series = store.series(run.run_id)[0].id
    problems: list[object] = []
    lengths: list[list[int]] = [[], []]
    is_written = threading.Event()

    def read(seen: list[int]) -> None:
        while not is_written.is_set():
            try:
                values = store.read(series).values
                if not np.array_equal(values, np.arange(len(values))):
                    problems.append(values)
                seen.append(len(values))
                store.runs(search="First")
            except Exception as error:
                problems.append(error)

    readers = [threading.Thread(target=read, args=(seen,)) for seen in lengths]
    for reader in readers:
        reader.start()
    block = ramp(20_000)
    for first in range(0, 20_000, 250):
        run.append(first, block[first : first + 250])
        run.flush()
    run.finish("finished", SUMMARY)
    is_written.set()
    for reader in readers:
        reader.join(30)
    assert problems == []
    assert all(lengths)
    assert [sorted(seen) for seen in lengths] == lengths


def test_connections_of_threads_that_have_ended_are_closed(file_store: Store) -> None:
    run_id = record(file_store)
    for _ in range(5):
        thread = threading.Thread(target=file_store.run, args=(run_id,))
        thread.start()
        thread.join()
    # The last connection is closed when the next thread opens one.
    assert len(database_of(file_store)._readers) <= 2


def test_several_runs_are_written_side_by_side(store: Store) -> None:
    runs = [store.start_run(start(name), COLUMNS) for name in "abc"]
    for first in range(0, 9000, 500):
        for index, run in enumerate(runs):
            run.append(first, index + ramp(9000)[first : first + 500])
    for run in reversed(runs):
        run.finish("finished", SUMMARY)
    for index, run in enumerate(runs):
        assert np.array_equal(values_of(store, run.run_id), index + ramp(9000))


def test_a_bug_in_posted_work_does_not_end_the_thread(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    writer_of(store).post(lambda: 1 / 0, 0)  # type: ignore[arg-type]
    record(store)
    assert "work handed to the store failed" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_a_failure_in_taking_data_is_raised_at_the_next_call(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = store.start_run(start(), COLUMNS)
    monkeypatch.setattr("subflow_store.ingest.SampleIngest.append", raising(MemoryError("no memory for a block")))
    run.append(0, ramp(10))
    with pytest.raises(MemoryError, match="no memory for a block"):
        run.flush()
    with pytest.raises(MemoryError):
        run.finish("finished", SUMMARY)


def test_a_store_that_nobody_holds_closes_itself(path: Path) -> None:
    def leave() -> int:
        run = open_store(path).start_run(start(), COLUMNS)
        run.append(0, ramp(10))  # the run holds its store
        return run.run_id

    before = threading.enumerate()  # threads of earlier tests do not count
    run_id = leave()
    while threads := [t for t in threading.enumerate() if t.name.startswith("subflow-store") and t not in before]:
        threads[0].join(30)
        assert not threads[0].is_alive()
    with open_store(path) as store:
        assert store.run(run_id).status == "interrupted"
        assert np.array_equal(values_of(store, run_id), ramp(10))


# Commits of a run's data


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock of the streams, which only the test advances."""
    now = [1000.0]
    monkeypatch.setattr(run_writer, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_data_is_due_soon_after_it_came_and_the_heartbeat_without_it(clock: list[float]) -> None:
    stream = RunStream(1, [1], 0.1, "file")
    assert stream.due_at() == 1000.0 + liveness.HEARTBEAT_S
    clock[0] = 1003.0
    stream.take_block(ramp(10, 1))
    clock[0] = 1003.2
    stream.take_block(ramp(10, 1))
    assert stream.due_at() == 1003.0 + COMMIT_INTERVAL_S


def test_much_data_is_due_at_once(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_writer, "_EAGER_BYTES", 1000)
    stream = RunStream(1, [1], 0.1, "file")
    stream.take_block(np.random.default_rng(1).random((5000, 1)).astype(np.float32))
    assert stream.due_at() <= clock[0]


def test_a_locked_file_is_asked_again_only_after_a_while(clock: list[float]) -> None:
    @contextmanager
    def locked():
        clock[0] += 5.0
        raise StoreLocked("locked")
        yield

    stream = RunStream(1, [1], 0.1, "file")
    stream.take_block(ramp(10, 1))
    clock[0] += 1.0
    stream.commit(locked)
    assert stream.error is None
    assert stream.due_at() == 1006.0 + COMMIT_INTERVAL_S


def test_the_thread_commits_by_itself(file_store: Store, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_writer, "COMMIT_INTERVAL_S", 0.0)
    run = begun(file_store, ramp(10))
    with open_store(path, read_only=True) as other:
        wait_until(lambda: other.series(run.run_id)[0].n == 10)
        assert np.array_equal(values_of(other, run.run_id), ramp(10))


# Processes

WRITER = """
import sys
from subflow_store import open_store
from tests.store.examples import COLUMNS, ramp, start
store = open_store(sys.argv[1])
run = store.start_run(start(), COLUMNS)
run.append(0, ramp(5000))
run.add_marks([(7, "download/1", "loss", 1.0)])
run.flush()
print(run.run_id, flush=True)
sys.stdin.read()
"""


@contextmanager
def other_process(path: Path, then: str = "") -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A process in the middle of a run of which 5000 samples are committed."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER + then, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as process:
        try:
            yield process, int(present(process.stdout).readline())
        finally:
            process.kill()


def test_a_killed_writer_leaves_an_interrupted_run(path: Path) -> None:
    with other_process(path) as (process, run_id):
        with open_store(path) as store:
            assert store.run(run_id).status == "running", "its process is alive"
        process.kill()
        process.wait()
    with open_store(path, read_only=True) as store:
        assert store.run(run_id).status == "interrupted"
        assert [run.id for run in store.runs(status="interrupted")] == [run_id]
        assert store.runs(status="running") == []
    with open_store(path) as store:
        run = store.run(run_id)
        assert (run.status, run.summary) == ("interrupted", {})
        assert run.simulated_s == pytest.approx(500.0)  # 5000 samples, one every 0.1 s
        assert present(run.ended_at) >= run.started_at
        # 5000 = 4096 + 904: the partial chunk is included, and so are figures, marks and pyramid.
        assert np.array_equal(values_of(store, run_id), ramp(5000))
        assert [series.vmax for series in store.series(run_id)] == [4999.0, 4999.25, 4999.5]
        assert len(store.marks(run_id)) == 1
        assert store.read_pyramid(store.series(run_id)[0].id, 2).vmax.tolist() == [4095.0, 4999.0]
        assert [run.id for run in store.runs(status="interrupted")] == [run_id]


def test_a_program_that_forgets_to_close_the_store_loses_nothing(path: Path) -> None:
    with other_process(path, then="run.append(5000, ramp(6000)[5000:])") as (process, run_id):
        process.communicate("", timeout=60)
        assert process.returncode == 0
    with open_store(path) as store:
        assert store.run(run_id).status == "interrupted"
        assert np.array_equal(values_of(store, run_id), ramp(6000))


def test_two_processes_write_to_one_file(path: Path) -> None:
    with other_process(path, then="run.finish('finished', {})") as (process, run_id), open_store(path) as store:
        own = record(store, ramp(9000))
        process.communicate("", timeout=60)
        assert [(run.id, run.status) for run in store.runs()] == [(own, "finished"), (run_id, "finished")]
        assert np.array_equal(values_of(store, run_id), ramp(5000))


def test_a_run_that_another_process_took_for_dead_says_so(store: Store) -> None:
    run = store.start_run(start(), COLUMNS)
    writer_of(store).call(lambda connection: run_writer.mark_interrupted(connection, [run.run_id]))
    run.append(0, ramp(10))
    with pytest.raises(RunClosed, match="closed by another Subflow"):
        run.finish("finished", SUMMARY)
    assert values_of(store, run.run_id).size == 0


# The owner of a run


def set_writer(path: Path, identity: ProcessIdentity, age_s: float) -> None:
    """Assigns the running run in the file to another process."""
    import sqlite3

    heartbeat = (datetime.now(UTC) - timedelta(seconds=age_s)).isoformat()
    row = (identity.host, identity.boot, identity.pid, identity.started, heartbeat)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "UPDATE run SET writer_host = ?, writer_boot = ?, writer_pid = ?, writer_started = ?, heartbeat_at = ?", row
        )


@pytest.mark.parametrize(("age_s", "status"), [(STALE_S - 10, "running"), (STALE_S + 1, "interrupted")])
def test_a_run_of_another_machine_lives_by_its_heartbeat(path: Path, age_s: float, status: str) -> None:
    with open_store(path) as store:
        run_id = store.start_run(start(), COLUMNS).run_id
        set_writer(path, ProcessIdentity("elsewhere", "boot", 1, "1"), age_s)
        with open_store(path) as other:
            assert other.run(run_id).status == status


def ended_process() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    return process.pid


linux_only = pytest.mark.skipif(not this_process().boot, reason="/proc tells what is needed")


@linux_only
def test_a_process_of_this_machine_is_judged_for_certain_and_of_an_earlier_boot_by_its_heartbeat() -> None:
    here = this_process()
    for changes, age_s, is_gone in (
        ({}, 1e9, False),
        ({"pid": ended_process()}, 0.0, True),
        ({"started": "1"}, 0.0, True),  # another process has received its number
        ({"boot": "another boot"}, 1.0, False),
        ({"boot": "another boot"}, STALE_S + 1, True),
    ):
        assert replace(here, **changes).is_gone(heartbeat_age_s=age_s) == is_gone, changes


@linux_only
def test_a_process_that_waits_to_be_reaped_has_ended() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    present(process.stdout).read()  # ends when the process does
    wait_until(lambda: not liveness._start_ticks(process.pid))
    present(process.stdout).close()
    process.wait()


def test_without_proc_an_unused_pid_is_proof_and_the_heartbeat_decides_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "_boot", lambda: "")
    liveness._identity.cache_clear()
    try:
        here = this_process()
        assert here.boot == ""
        assert not here.is_gone(heartbeat_age_s=1.0)
        assert here.is_gone(heartbeat_age_s=STALE_S + 1)
        assert ProcessIdentity(here.host, "", ended_process(), "").is_gone(heartbeat_age_s=0.0)
    finally:
        liveness._identity.cache_clear()
