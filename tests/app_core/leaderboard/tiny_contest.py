"""A tiny contest with everything that one can have: flows that compete, one beside them, a step, and CPU time."""

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
cost = "1500ms"
seeds = "1..2"

[set]
duration = "4s"
warmup = "1s"

[convergence]
since = "2s"
window = "500ms"
steady = "1s"

[quick]
seeds = "1"
[quick.set]
duration = "3s"
"""

SINGLE = """\
# A single path, for a second.
format = 1
paper = "rl-explore"
figure = "5"
title = "A single path, briefly"
scenario = "rlx-fixed"
competes = ["download"]
seeds = "1..2"

[set]
duration = "1s"
"links.data.rate" = "2Mbit/s"
"""


def write_tiny(folder: Path) -> tuple[Path, Path]:
    """The paths of both contests, written into a folder: the one with several paths, and the one with a single one."""
    paths = folder / "tiny.toml", folder / "single.toml"
    for path, text in zip(paths, (CONTEST, SINGLE), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths
