"""A fake kernel for comparisons: a machine with all kernel features, and a worker that invents its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import pytest
from tests.features.kernel.core.test_compare import MACHINE, FakeWorker

from subflow_app.features.kernel.core import compare, loading, probe
from subflow_app.features.kernel.core.kernel_script import KernelScript
from subflow_app.features.kernel.core.loading import Report

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


_Key = TypeVar("_Key")


class FakeController:
    """A controller that a fake kernel holds."""

    def __init__(self, script: KernelScript) -> None:
        self.name = f"sf_{script.word}_000000"

    def poll(self) -> Report:
        return Report(0, 0, "", 0)


@contextmanager
def fake_loaded(scripts: Mapping[_Key, KernelScript]) -> Iterator[dict[_Key, FakeController]]:
    yield {key: FakeController(script) for key, script in scripts.items()}


def install(monkeypatch: pytest.MonkeyPatch) -> FakeWorker:
    """Lets comparisons use this worker, on a machine with all kernel features."""
    worker = FakeWorker()
    monkeypatch.setattr(compare, "ask_worker", worker)
    monkeypatch.setattr(probe, "probe_machine", lambda: MACHINE)
    monkeypatch.setattr(compare, "loaded", fake_loaded)
    for module in (compare, loading):
        monkeypatch.setattr(module, "reason_against", lambda: None)
    monkeypatch.setattr(loading, "check_kernel", lambda: None)
    return worker
