"""A small experiment that runs in a second: two controllers, two losses, two seeds, and numbers of a paper beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.helpers.window import TWO_PATHS

from subflow_app.core.experiments.recipe import Recipe, load_recipe

SCENARIO = TWO_PATHS.replace('duration = "2s"', 'duration = "1s"')

TINY = """\
# A small experiment.
format = 1
paper = "drl-cc"
figure = "3a"
title = "Goodput against loss"
claim = "OLIA gets 20 % more than LIA at 5 % loss & keeps <its> share."
rulings = ["A1"]
disagrees = "Both get about the same: the paths are short."
scenario = "small.toml"
seeds = "1..2"
expected = "2s"
traces = true

[quick]
seeds = "1"
expected = "1s"

[axis]
label = "Loss"
unit = "%"
keys = ["links.wifi.loss"]
values = ["1%", "5%"]

[series.OLIA]
ours = true
set = { "flows.download.controller" = "olia" }
[series.LIA]
set = { "flows.download.controller" = "lia" }

[measures.goodput]
of = "goodput"
flows = "download"
unit = "Mbit/s"
label = "Goodput"
[measures.rtt]
of = "rtt"
flows = "download"
unit = "ms"
label = "Round-trip time"

[[panels]]
form = "lines"
measure = "goodput"
[[panels]]
form = "bars"
measure = "rtt"
[[panels]]
form = "trace"
measures = ["goodput"]

[[published]]
measure = "goodput"
series = "LIA"
point = "1%"
value = "6Mbit/s"
[[published]]
measure = "goodput"
series = "OLIA"
point = "5%"
over = "LIA"
improvement = "20%"

[[checks]]
says = "LIA gets between 1 and 12 Mbit/s"
holds = "goodput('LIA', '1%') in 1 Mbit/s .. 12 Mbit/s"
why = "what the paths carry"
[[checks]]
says = "OLIA gets 20 % more than LIA at 5 % loss"
holds = "goodput('OLIA', '5%') / goodput('LIA', '5%') in 1.15 .. 1.25"
[[checks]]
says = "Loss costs goodput"
holds = "goodput('LIA', '1%') > goodput('LIA', '5%')"
"""


def tiny_recipe(folder: Path, text: str = TINY, name: str = "tiny") -> Recipe:
    """The recipe, read from a file beside its scenario."""
    (folder / "small.toml").write_text(SCENARIO)
    path = folder / f"{name}.toml"
    path.write_text(text)
    return load_recipe(str(path))
