"""What the self-test puts in its own way is really there: permissions that count for root too, a disk that is full."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

READ_ONLY = """
import sys
from pathlib import Path
from subflow_app.selftest.check import NotHereError
from subflow_app.selftest.obstacles import obey_permissions
try:
    obey_permissions()
except NotHereError as reason:
    sys.exit(f"not here: {reason}")
try:
    Path(sys.argv[1], "file").write_text("text")
except PermissionError:
    print("refused")
"""

SMALL = """
import errno, sys
from pathlib import Path
from subflow_app.selftest.check import NotHereError
from subflow_app.selftest.obstacles import mount_small_disk
folder = Path(sys.argv[1])
try:
    mount_small_disk(folder, 1_000_000)
except NotHereError as reason:
    sys.exit(f"not here: {reason}")
folder.joinpath("small").write_bytes(bytes(500_000))
try:
    folder.joinpath("large").write_bytes(bytes(2_000_000))
except OSError as error:
    print("full" if error.errno == errno.ENOSPC else error)
"""


def said_by(code: str, folder: Path) -> str:
    done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, timeout=60, check=False)
    if done.stderr.startswith("not here: "):
        pytest.skip(done.stderr.strip())
    assert done.stderr == ""
    return done.stdout.strip()


def test_a_folder_that_cannot_be_written_cannot_be_written_by_root_either(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)

    assert said_by(READ_ONLY, tmp_path) == "refused"
    assert list(tmp_path.iterdir()) == []


def test_a_small_disk_fills_up_and_goes_with_its_process(tmp_path: Path) -> None:
    assert said_by(SMALL, tmp_path) == "full"
    assert list(tmp_path.iterdir()) == []
