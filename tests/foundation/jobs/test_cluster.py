"""A cluster that is reachable, unreachable, or lost: reported in time, without lost results or remaining processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path

import pytest
from tests.features.sweeps.core.plans import LOSS, plan
from tests.helpers.fake_cluster import FAKE_RAY, NOT_FOUND, WEB_SERVER, head
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.sweeps.core.sweep_job import SweepJob
from subflow_app.features.sweeps.core.sweep_results import long_csv
from subflow_app.foundation.errors import ClusterError, InputError
from subflow_app.foundation.jobs import cluster, cluster_address
from subflow_app.foundation.jobs.cluster_address import ClusterAddress
from subflow_app.foundation.jobs.job import JobOutcome
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.jobs.tasks import Task
from subflow_store import Store, open_store

RUNS = 6


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("auto", "", 0),
        ("10.0.0.1:6379", "10.0.0.1", 6379),
        ("ray://head.example:10001", "head.example", 10001),
        ("[fe80::1%eth0]:65535", "fe80::1%eth0", 65535),
    ],
)
def test_the_forms_of_an_address(text: str, host: str, port: int) -> None:
    assert ClusterAddress.parse(text) == ClusterAddress(text, host, port)


@for_each(
    "text",
    [
        "",
        "local",
        "head",
        "head:",
        ":6379",
        "head:0",
        "head:65536",
        "head:6379/x",
        "http://head:1",
        "fe80::1:1",
        "a b:1",
    ],
)
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r'--cluster = ".*": must be .* HOST:PORT .* or auto'):
        ClusterAddress.parse(text)


def closed_port() -> str:
    with head() as address:
        return address


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, r"no answer within 0\.2 s"),
        (NOT_FOUND, "another program than Ray answers there"),
        (WEB_SERVER, "another program than Ray answers there"),
        (b"", "another program than Ray answers there"),
    ],
)
def test_an_address_without_a_cluster(monkeypatch: pytest.MonkeyPatch, answer: bytes | None, problem: str) -> None:
    monkeypatch.setattr(cluster_address, "ANSWER_S", 0.2)
    with head(answer) as address, pytest.raises(ClusterError, match=f"at {address} cannot be reached: {problem}"):
        ClusterAddress.parse(address).check()


def test_an_address_where_nobody_listens() -> None:
    with pytest.raises(ClusterError, match=r"cannot be reached: connection refused"):
        ClusterAddress.parse(closed_port()).check()
    with pytest.raises(ClusterError, match=r"the host 'nobody\.invalid' is not known"):
        ClusterAddress.parse("nobody.invalid:6379").check()
    with pytest.raises(ClusterError, match="cannot be reached"):
        ClusterAddress.parse(f"{'a' * 300}.invalid:6379").check()


def test_the_whole_test_of_an_address_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_address, "MOST_S", 0.1)
    monkeypatch.setattr(cluster_address, "ANSWER_S", 1.0)
    with head(None) as address, pytest.raises(ClusterError, match=r"no answer within 0\.1 s"):
        ClusterAddress.parse(address).check()


def test_ray_speaks_as_the_fake_head_does() -> None:
    with head() as address:
        ClusterAddress.parse(address).check()


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a cluster of the fake Ray, with short timeouts."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "ray.py").write_text(FAKE_RAY, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "modules")
    monkeypatch.setattr(cluster, "BEAT_S", 0.2)
    monkeypatch.setattr(cluster, "JOIN_S", 3.0)
    monkeypatch.setattr(cluster, "SILENT_S", 3.0)
    before = set(active_children())
    with head() as there:
        yield there
    assert set(active_children()) <= before, "the client of the cluster is still there"


def swept(store: Store, where: str | None) -> tuple[SweepJob, JobOutcome]:
    job = SweepJob(plan(axes={LOSS: ["0%", "1%", "2%"]}), store, cluster=where)
    return job, job.run()


def table_of(job: SweepJob) -> str:
    table = present(job.table())
    return long_csv(table)


@pytest.mark.parametrize("fault", ["", "worker-ends:3"])
def test_a_cluster_makes_what_this_machine_makes(
    store: Store, address: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], fault: str
) -> None:
    monkeypatch.setenv("FAULT", fault)
    job, result = swept(store, address)
    assert (result.state, result.problems, result.progress.finished) == (JobState.FINISHED, (), RUNS)
    assert capfd.readouterr() == ("", "")
    with open_store(":memory:") as other:
        assert table_of(job) == table_of(swept(other, None)[0])


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ("silent:3", r"no answer within 3 s"),
        ("ends:3", r"Ray ended its client \(code 1\)"),
        ("node-ends:3", "the node of this machine, through which it is reached, has ended"),
    ],
)
def test_a_cluster_that_is_lost_ends_the_sweep_and_leaves_what_was_made(
    store: Store, address: str, monkeypatch: pytest.MonkeyPatch, fault: str, problem: str
) -> None:
    monkeypatch.setenv("FAULT", fault)
    job, result = swept(store, address)
    assert (result.state, result.progress.finished) == (JobState.FAILED, 2)
    with pytest.raises(ClusterError, match=rf"cluster at {address} was lost: {problem}; what has ended is kept"):
        result.check()
    resumed = SweepJob.resumed(store, present(job.sweep_id))
    progress = resumed.run().progress
    assert (progress.finished, progress.reused) == (RUNS, 2)


def test_a_lost_head_ends_the_work_while_workers_still_answer(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAULT", "headless:1")
    members = cluster.RayCluster(address)
    for number in range(3):
        members.submit(Task(number, callable))
    answers = 0

    def work_until_lost() -> None:
        nonlocal answers
        given_up_at_s = time.monotonic() + 60
        while time.monotonic() < given_up_at_s:
            for _answer in members.wait(0.1):
                # Another answer has arrived by then.
                answers += 1
                members.submit(Task(answers + 2, callable))
                time.sleep(0.05)

    with pytest.raises(ClusterError, match=rf"cluster at {address} was lost: no answer within 3 s; "):
        work_until_lost()
    assert answers > 5
    members.close()


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ("join-fails", "Ray was not found"),
        ("join-ends", r"Ray ended its client \(code 1\)"),
        ("join-hangs", r"no answer within 3 s"),
    ],
)
def test_a_cluster_that_cannot_be_joined(
    store: Store, address: str, monkeypatch: pytest.MonkeyPatch, fault: str, problem: str
) -> None:
    monkeypatch.setenv("FAULT", fault)
    _, result = swept(store, address)
    assert result.state is JobState.FAILED
    assert [problem for problem in result.problems if "\n" in problem] == []
    with pytest.raises(ClusterError, match=rf"cluster at {address} cannot be reached: {problem}$"):
        result.check()


@pytest.mark.parametrize("fault", ["join-hangs", "silent:1"])
def test_waiting_sweep_can_be_stopped(store: Store, address: str, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    monkeypatch.setenv("FAULT", fault)
    monkeypatch.setattr(cluster, "LOAD_S", 100.0)
    monkeypatch.setattr(cluster, "JOIN_S", 100.0)
    monkeypatch.setattr(cluster, "SILENT_S", 100.0)
    monkeypatch.setattr(cluster, "_LEAVE_S", 0.5)
    job = SweepJob(plan(axes={LOSS: ["0%", "1%", "2%"]}), store, cluster=address)
    stopped_at: list[float] = []

    def stop() -> None:
        stopped_at.append(time.monotonic())
        job.stop()

    threading.Timer(2.0, stop).start()
    assert job.run().state is JobState.STOPPED
    assert time.monotonic() - stopped_at[0] < 5
