"""A write, sync, rename or allocation fails, or the process ends there: no incomplete files, and a message why.

The plain tests try a few calls of each kind, spread over the operation; --full tries every one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from subflow_store.upgrade import head

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("g++") is None, reason="needs a compiler and what Linux loads first"
)

# Operation, kind of fault, way, and N: every N-th call is tried.
QUICK = (
    ("create", "write", "later", 40),
    ("run", "write", "once", 30),
    ("run", "sync", "once", 2),
    ("run", "sqlite-malloc", "once", 1000),
    ("migrate-3", "write", "kill", 30),
    ("migrate-3", "rename", "once", 1),
    ("copy", "write", "once", 30),
    ("export", "write", "later", 8),
)
OPERATIONS = (
    *("create", "run", "sweep", "train", "copy", "take", "salvage", "export", "bundle", "library"),
    *(f"migrate-{version}" for version in range(1, head())),
)
WAYS = tuple((kind, way) for kind in ("write", "sync", "rename") for way in ("once", "later", "kill"))
EVERY = tuple((operation, kind, way, 1) for operation in OPERATIONS for kind, way in WAYS)
# C and C++ handle all failures of an allocation in the same way: every N-th of very many suffices.
EVERY += tuple((operation, "sqlite-malloc", "once", 13) for operation in OPERATIONS)
EVERY += (("run", "core-malloc", "once", 1), ("sweep", "core-malloc", "once", 3))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled library that makes calls fail."""
    made = tmp_path_factory.mktemp("faults") / "libfaults.so"
    source = Path(__file__).with_name("faults.cpp")
    subprocess.run(["g++", "-std=c++20", "-O1", "-fPIC", "-shared", "-o", str(made), str(source), "-ldl"], check=True)
    return made


def tried(library: Path, operation: str, kind: str, way: str, every: int) -> dict[str, Any]:
    """Report of the trials."""
    command = [sys.executable, "-m", "tests.faults.trial", operation, kind, way, str(every)]
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize(("operation", "kind", "way", "every"), QUICK)
def test_a_call_that_fails_costs_nothing(library: Path, operation: str, kind: str, way: str, every: int) -> None:
    answer = tried(library, operation, kind, way, every)
    assert answer["tried"] >= 1
    assert answer["problems"] == {}


@pytest.mark.full("every call of every operation")
@pytest.mark.parametrize(("operation", "kind", "way", "every"), EVERY)
def test_no_call_that_fails_costs_anything(library: Path, operation: str, kind: str, way: str, every: int) -> None:
    answer = tried(library, operation, kind, way, every)
    assert answer["problems"] == {}
    assert len(answer["aborted"]) <= 0.02 * answer["tried"]
