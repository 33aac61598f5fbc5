"""Closed and full streams: each command does its work nevertheless, and reports the lost output in a sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import pytest
from tests.helpers.every_command import COMMANDS, make_files

ROOT = Path(__file__).resolve().parents[2]
FULL = "/dev/full"
# In the notation of the shell: 2>&-, >/dev/full, >&-, both full.
REDIRECTIONS = (("file", "-"), (FULL, "file"), ("-", "file"), (FULL, FULL))
# Each prints in another way: tables, one document, progress, named files, nothing.
SOME = ("run", "show", "explain", "export", "compare", "sweep", "sweeps", "runs", "scenarios", "schema")
UNWRITTEN = "subflow: standard output could not be written: No space left on device"


@pytest.mark.skipif(not Path(FULL).exists(), reason="there is no /dev/full")
@pytest.mark.timeout(600)  # sequential
@pytest.mark.parametrize(
    ("names", "first"),
    [(SOME, 0), *(pytest.param(tuple(COMMANDS), first, marks=pytest.mark.full("every command")) for first in range(4))],
)
def test_commands_work_with_closed_and_full_streams(tmp_path: Path, names: tuple[str, ...], first: int) -> None:
    make_files(tmp_path)
    lines = [line if isinstance(line, tuple) else (line, 0) for name in names for line in COMMANDS[name]]
    ways = cycle((*REDIRECTIONS[first:], *REDIRECTIONS[:first]))
    asked = [(line, *way) for (line, _), way in zip(lines, ways, strict=False)]
    file = tmp_path / "lines.json"
    file.write_text(json.dumps(asked), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "tests.helpers.forked_commands", str(file)]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    wrong = []
    n_told = 0
    for (line, expected), (_, out, err), (code, output, errors) in zip(
        lines, asked, json.loads(file.read_text()), strict=True
    ):
        where = f"subflow {line} >{out} 2>{err}: {code}\n{output}{errors}"
        is_told = UNWRITTEN in errors
        n_told += is_told
        # Commands without output lose nothing.
        allowed = {1} if is_told else {expected, 1} if out == err == FULL else {expected}
        if (expected is not None and code not in allowed) or "Traceback" in errors or "a bug of" in errors:
            wrong.append(where)
    assert wrong == []
    assert n_told > len(lines) / 8
