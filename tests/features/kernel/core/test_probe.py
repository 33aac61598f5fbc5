"""Missing features of this machine are reported with advice."""

from __future__ import annotations

import sys

import pytest
from tests.features.kernel.core.test_plan import plan_of
from tests.helpers.members import for_each

from subflow_app.features.kernel.core import probe
from subflow_app.features.kernel.core.probe import machine_from, probe_machine
from subflow_app.foundation.errors import KernelError

ABLE = {"release": "6.18.1", "congestion_controls": ["reno", "cubic"], "missing": {}}


@for_each(
    ("missing", "words"),
    [
        ("mptcp", ("no MPTCP", "Protocol not available", "5.16")),
        ("veth", ("modprobe veth",)),
        ("packet sockets", ("CAP_NET_RAW",)),
        ("congestion control reno", ("no congestion control reno", "it has reno, cubic", "modprobe tcp_reno")),
    ],
)
def test_each_missing_thing_has_its_reason(missing: str, words: tuple[str, ...]) -> None:
    machine = machine_from(ABLE | {"missing": {missing: "Protocol not available"}})
    (reason,) = machine.reasons_against([plan_of()])
    assert [word for word in words if word not in reason] == []


def test_an_able_machine_has_nothing_against_it() -> None:
    # Features that a scenario does not need do not prevent its run.
    for missing in ({}, {"congestion control bbr": "No such file or directory"}):
        assert machine_from(ABLE | {"missing": missing}).reasons_against([plan_of()]) == []


def test_a_machine_without_namespaces_says_how_to_allow_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise KernelError("unshare: Operation not permitted")

    monkeypatch.setattr(probe, "ask_worker", refuse)
    (reason,) = probe_machine().reasons_against([])
    assert "unshare: Operation not permitted" in reason
    assert "kernel.unprivileged_userns_clone=1" in reason
    monkeypatch.setattr(sys, "platform", "darwin")
    (reason,) = probe_machine().reasons_against([])
    assert "this system is darwin" in reason
