"""A small experiment that runs in a second: two controllers, two losses, two seeds, and numbers from a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.helpers.window import TWO_PATHS

from subflow_app.features.gallery.core.recipe import Recipe
from subflow_app.features.gallery.core.recipe_reader import load_recipe
from subflow_app.features.gallery.core.results import Results
from subflow_store.values import Records

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
scenario = "base/small.toml"
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
cause = { kind = "contradiction", says = "The paths carry 12 Mbit/s.", holds = "goodput('LIA', '1%') < 12 Mbit/s" }
[[checks]]
says = "Loss costs goodput"
holds = "goodput('LIA', '1%') > goodput('LIA', '5%')"
"""


def tiny_recipe(folder: Path, text: str = TINY, name: str = "tiny") -> Recipe:
    """The recipe read from a file with its scenario."""
    # In a separate folder: a folder of recipes contains only recipes.
    (folder / "base").mkdir(exist_ok=True)
    (folder / "base" / "small.toml").write_text(SCENARIO)
    path = folder / f"{name}.toml"
    path.write_text(text)
    return load_recipe(str(path))


class FixedValues:
    """Given values in place of measured values."""

    note = ""

    def __init__(
        self, values: Mapping[tuple[str, str, str], Sequence[float]], problems: Mapping[str, str] | None = None
    ) -> None:
        self._values = values
        self._problems = problems or {}

    def values(self, measure: str, series: str, point: str) -> Sequence[float]:
        return self._values.get((measure, series, point), ())

    def trace(self, measure: str, series: str, point: str, seed: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
        values = self._values.get((measure, series, point))
        return None if values is None else (np.arange(5.0), np.full(5, values[0] + seed))

    def problem(self, series: str, point: str) -> str:
        return self._problems.get(series, "")

    def records(self) -> Records:
        return Records()


GOODPUT = {
    ("goodput", "OLIA", "1%"): (6e6, 7e6),
    ("goodput", "OLIA", "5%"): (4.2e6, 4.6e6),
    ("goodput", "LIA", "1%"): (5e6, 5.5e6),
    ("goodput", "LIA", "5%"): (3e6, 4e6),
    ("rtt", "OLIA", "1%"): (0.08, 0.09),
    ("rtt", "OLIA", "5%"): (0.1, 0.12),
    ("rtt", "LIA", "1%"): (0.09, 0.1),
    ("rtt", "LIA", "5%"): (0.11, 0.13),
}


def tiny_results(folder: Path, text: str = TINY, values: FixedValues | None = None) -> Results:
    """Results of the small experiment, without running it."""
    recipe = tiny_recipe(folder, text)
    return Results(recipe, values or FixedValues(GOODPUT), is_quick=False, seeds=recipe.seeds)
