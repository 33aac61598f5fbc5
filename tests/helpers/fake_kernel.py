"""A kernel for comparisons that is not there: a machine that can do everything, and a worker that makes its runs up."""

from __future__ import annotations

import pytest
from tests.features.kernel.core.test_compare import MACHINE, FakeWorker

from subflow_app.features.kernel.core import compare, probe

ONE_PATH = """\
format = 1
name = "One path"
duration = "5s"
[nodes.a]
[nodes.b]
[links.wire]
ends = ["a", "b"]
rate = "10Mbit/s"
delay = "20ms"
queue = "33pkt"
[flows.bulk]
kind = "tcp"
from = "a"
to = "b"
controller = "newreno"
paths = [["wire"]]
"""


def install(monkeypatch: pytest.MonkeyPatch) -> FakeWorker:
    """Has comparisons ask this worker, on a machine that can do everything."""
    worker = FakeWorker()
    monkeypatch.setattr(compare, "ask_worker", worker)
    monkeypatch.setattr(probe, "probe_machine", lambda: MACHINE)
    return worker
