"""A tiny contest with everything that one can have: flows that compete, one beside them, and a step."""

from __future__ import annotations

from pathlib import Path

CONTEST = """\
# Two subflows beside a TCP, for seconds.
format = 1
paper = "mplibra"
figure = "8"
title = "Two subflows and a TCP, briefly"
scenario = "t-1link"
competes = ["mptcp"]
beside = ["tcp"]
step = true

[set]
duration = "5s"
warmup = "1s"
"""


def write_tiny(folder: Path) -> Path:
    """The path of the contest, written into a folder."""
    path = folder / "tiny.toml"
    path.write_text(CONTEST, encoding="utf-8")
    return path
