"""The command ``subflow emulate``: refused input everywhere, and a short run where the machine allows it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.emulations import TWO_PATHS, reason_against

from subflow_app.features.emulation import cli


@pytest.fixture
def two_paths(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(TWO_PATHS, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("", "give a program after --, or after --on NODE --, or a node with --shell"),
        ("-- no-such-program", '--: this machine has no program "no-such-program"; name one that is installed'),
        ("--on phone -- sh", '--on phone: the scenario has no node "phone"; it has client, server'),
        ("--on client", "--on client: give a node, then -- and a program"),
        ("--shell phone", '--shell: the scenario has no node "phone"'),
        ("--shell client", "--shell client: a shell needs a terminal; use --on client -- PROGRAM"),
        ("--uplink phone -- sh", '--uplink: the scenario has no node "phone"'),
    ],
)
def test_bad_input_is_one_sentence(subflow: Subflow, two_paths: Path, words: str, problem: str) -> None:
    answer = subflow("emulate", two_paths, "--no-store", *words.split())
    assert answer.code == 2
    assert problem in answer.err
    assert len(answer.err.splitlines()) == 1


def test_other_systems_and_missing_uplinks_are_named(
    subflow: Subflow, two_paths: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    answer = subflow("emulate", two_paths, "--no-store", "--", "sh")
    assert (answer.code, answer.err) == (1, "subflow: this takes a Linux kernel; this system is darwin\n")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(cli, "which", lambda name: None)
    answer = subflow("emulate", two_paths, "--no-store", "--uplink", "client", "--", "sh")
    assert answer.code == 1
    assert "--uplink needs slirp4netns or pasta (package passt), and this machine has neither" in answer.err


def test_a_run_prints_its_programs_and_is_kept_with_its_simulation(
    subflow: Subflow, two_paths: Path, tmp_path: Path
) -> None:
    reason = reason_against("ping")
    if reason:
        pytest.skip(reason)
    database = tmp_path / "runs.db"
    answer = subflow(
        "emulate", two_paths, "--db", database, "--overlay", "--", "ping", "-c", "2", "-i", "0.1", "server"
    )
    assert answer.code == 0, answer.err
    assert "client: 2 packets transmitted, 2 received, 0% packet loss" in answer.out
    assert "late at the 99th percentile" in answer.out
    assert "kept as run 1 (simulated) and run 2 (emulated)" in answer.out
    listed = {run["run_id"]: run for run in subflow("runs", "--db", database, "--json").document}
    assert listed[2]["tags"] == ["emulated"]
    assert listed[2]["name"] == "Two paths · ping"
    explained = subflow("explain", "2", "upload/1", "--at", "0.1s", "--db", database)
    assert explained.code == 0, explained.err
    assert "Measured, not simulated" in explained.out


def test_the_exit_code_is_that_of_the_last_program(subflow: Subflow, two_paths: Path) -> None:
    reason = reason_against()
    if reason:
        pytest.skip(reason)
    answer = subflow(
        *("emulate", two_paths, "--no-store", "--json"),
        *("--on", "server", "--", "sleep", "60", "--on", "client", "--", "sh", "-c", "echo here; exit 3"),
    )
    assert answer.code == 1
    assert "sh at client ended with exit code 3" in answer.err
    programs = answer.document["emulation"]["programs"]
    assert [(program["node"], program["code"], program["output"]) for program in programs] == [
        ("server", -15, []),
        ("client", 3, ["here"]),
    ]
