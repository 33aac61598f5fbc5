"""What this machine cannot do is said in words that help."""

from __future__ import annotations

import sys

import pytest
from tests.features.kernel.core.test_plan import plan_of

from subflow_app.features.kernel.core import probe
from subflow_app.features.kernel.core.probe import machine_from, probe_machine
from subflow_app.foundation.errors import KernelError

ABLE = {"release": "6.18.1", "congestion_controls": ["reno", "cubic"], "missing": {}}


def test_an_able_machine_has_nothing_against_it() -> None:
    machine = machine_from(ABLE)
    assert machine.reasons_against([plan_of()]) == []
    assert machine.release == "6.18.1"


@pytest.mark.parametrize(
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
    for word in words:
        assert word in reason


def test_what_a_scenario_does_not_need_does_not_stop_it() -> None:
    machine = machine_from(ABLE | {"missing": {"congestion control bbr": "No such file or directory"}})
    assert machine.reasons_against([plan_of()]) == []


def test_a_machine_without_namespaces_says_how_to_allow_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise KernelError("unshare: Operation not permitted")

    monkeypatch.setattr(probe, "ask_worker", refuse)
    (reason,) = probe_machine().reasons_against([])
    assert "unshare: Operation not permitted" in reason
    assert "kernel.unprivileged_userns_clone=1" in reason


def test_other_systems_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert probe_machine().reasons_against([]) == ["this takes a Linux kernel; this system is darwin"]
