"""A tiny contest with every element of a contest: competing flows, a flow beside them, and a step."""

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
    """Writes the contest into a folder and returns its path."""
    path = folder / "tiny.toml"
    path.write_text(CONTEST, encoding="utf-8")
    return path
