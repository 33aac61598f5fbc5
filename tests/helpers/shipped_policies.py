"""Shipped policies as in a version in which a name means another policy than before."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from subflow_sim.policy import renamed_policy
from subflow_sim.policy_library import SUFFIX, shipped_policies


def former_hash(name: str) -> str:
    """Content hash of the policy that shipped under this name before its present form with the ending -wide."""
    return hashlib.sha256(former_policy(name)).hexdigest()


def former_policy(name: str) -> bytes:
    """Content of the policy that shipped under this name before its present form with the ending -wide."""
    return renamed_policy((shipped_policies() / f"{name}-wide{SUFFIX}").read_bytes(), name)


def use_shipped(monkeypatch: pytest.MonkeyPatch, folder: Path, **contents: bytes) -> Path:
    """Lets the program ship these contents under their names, beside all other shipped policies.

    Args:
        monkeypatch: restores the shipped policies after the test.
        folder: empty folder for the files.
        contents: content by name, with "_" in place of "-".
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in shipped_policies().glob(f"*{SUFFIX}"):
        (folder / path.name).symlink_to(path)
    for name, content in contents.items():
        path = folder / f"{name.replace('_', '-')}{SUFFIX}"
        path.unlink(missing_ok=True)
        path.write_bytes(content)
    monkeypatch.setattr("subflow_sim.policy_library.shipped_folder", lambda _name: folder)
    return folder


def use_printed(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Lets "rl-explore" mean another policy than in the version before, whose policy stays "rl-explore-wide"."""
    former = former_policy("rl-explore")
    printed = renamed_policy((shipped_policies() / f"rl-pure{SUFFIX}").read_bytes(), "rl-explore")
    assert printed != former
    return use_shipped(monkeypatch, folder, rl_explore=printed)


def use_former(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Lets "rl-explore" mean the policy of the version before."""
    return use_shipped(monkeypatch, folder, rl_explore=former_policy("rl-explore"))
