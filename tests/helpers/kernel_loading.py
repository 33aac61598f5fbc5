"""Fixtures for tests that load controllers into this machine's kernel, skipped where it does not allow them."""

from __future__ import annotations

from functools import cache

import pytest

from subflow_app.features.kernel.core.kernel_script import KernelScript, kernel_script
from subflow_app.features.kernel.core.loading import check_kernel
from subflow_app.foundation.errors import KernelError
from subflow_sim.script import compile_script
from subflow_sim.script_reader import read_script


@cache
def reason_to_skip() -> str:
    """The reason why controllers cannot be loaded here; empty if they can."""
    try:
        check_kernel()
    except KernelError as error:
        return str(error)
    return ""


def needs_kernel() -> None:
    """Skips the test with the reason if controllers cannot be loaded here."""
    if reason := reason_to_skip():
        pytest.skip(reason)


def shipped(name: str) -> KernelScript:
    """A shipped script."""
    return kernel_script(compile_script(read_script(name, None), name, "controller"))


def written(text: str, name: str = "tried") -> KernelScript:
    """A script with this text."""
    return kernel_script(compile_script(text, name, "controller"))
