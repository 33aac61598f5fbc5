"""Other users and small disks for tests: root can make both, and the tests are skipped for other users."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")


def as_user(number: int, work: Callable[[], T], *, groups: Sequence[int] = ()) -> T:
    """The result of `work`, run in a copy of this process as another user; the copy exits without cleaning up.

    Args:
        number: id of user and group.
        work: returns a value that can be pickled. All modules that it imports must be loaded already: the other user
            may not be allowed to read them.
        groups: further groups of the user.

    Raises:
        AssertionError: if `work` raises an exception.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("another user can be played by root alone")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups(groups)
            os.setgid(number)
            os.setuid(number)
            try:
                answer: tuple[bool, object] = (True, work())
            except Exception as error:
                answer = (False, f"{type(error).__name__}: {error}")
            with os.fdopen(writer, "wb") as out:
                pickle.dump(answer, out)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        is_done, result = pickle.load(told)
    os.waitpid(child, 0)
    if not is_done:
        raise AssertionError(result)
    return result  # type: ignore[no-any-return]


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder in which every user has all permissions."""
    folder = Path(tempfile.mkdtemp(prefix="subflow-shared-"))
    folder.chmod(0o777)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A disk of this size in memory."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={megabytes}m,mode=777", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(["mount", *options], capture_output=True).returncode != 0:
        pytest.skip("a disk can be made by root alone")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def make_read_only(disk: Path) -> None:
    """Remounts a small disk read-only."""
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)


def fill(disk: Path) -> None:
    """Fills a disk to the last byte."""
    with (disk / "filling").open("ab", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                pass
