"""A fake kernel for comparisons: a machine with all kernel features, and a worker that invents its runs."""

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
    """Lets comparisons use this worker, on a machine with all kernel features."""
    worker = FakeWorker()
    monkeypatch.setattr(compare, "ask_worker", worker)
    monkeypatch.setattr(probe, "probe_machine", lambda: MACHINE)
    return worker
