"""The self-test's check of controllers in the kernel: it names the missing part."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.kernel_loading import needs_kernel

from subflow_app.features.kernel.core import loading
from subflow_app.foundation.errors import KernelError
from subflow_app.shell.selftest.check import CheckError, NotHereError, Place
from subflow_app.shell.selftest.checks.parts import KERNEL


def test_this_kernel_takes_controllers(tmp_path: Path) -> None:
    needs_kernel()
    assert "takes controllers" in KERNEL.run(Place(tmp_path))


def test_the_missing_part_of_the_kernel_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse() -> None:
        raise KernelError("the kernel has no function bpf_iter_num_new: it takes Linux 6.4 or newer")

    monkeypatch.setattr(loading, "check_kernel", refuse)
    with pytest.raises(NotHereError, match=r"Linux 6\.4 or newer"):
        KERNEL.run(Place(tmp_path))


def test_an_incomplete_installation_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(loading, "helper_path", lambda: tmp_path / "helper")
    with pytest.raises(CheckError, match="is missing"):
        KERNEL.run(Place(tmp_path))
