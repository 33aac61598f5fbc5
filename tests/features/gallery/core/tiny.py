"""A tiny experiment with every element of a recipe: two series, three points, runs of a second."""

from __future__ import annotations

from pathlib import Path

from subflow_app.features.gallery.core.kind import Kind
from subflow_app.features.gallery.core.kinds import KINDS
from subflow_app.features.gallery.core.recipe import Recipe
from subflow_app.features.gallery.core.recipe_reader import load_recipe
from subflow_app.features.gallery.core.results import Results
from subflow_app.foundation.jobs.executors import executor_maker
from subflow_app.foundation.jobs.progress import JobProgress
from subflow_store import Store

RECIPE = """\
# What the paper did.
#
# What is done here.
format = 1
paper = "mplibra"
figure = "9a"
title = "Throughput against loss"
claim = "Coupled controllers lose most of it."
rulings = ["M1"]
disagrees = "Our runs are short."
scenario = "t-2link"
seeds = "1..2"
expected = "3s"
traces = true

[set]
duration = "2s"
warmup = "500ms"

[quick]
seeds = "1"
points = ["0%", "5%"]
series = ["LIA", "Ours"]
[quick.set]
duration = "1s"

[axis]
label = "Loss"
unit = "%"
keys = ["links.top.loss", "links.bottom.loss"]
values = ["0%", "1%", "5%"]

[series.LIA]
[series.Reno]
set = { "flows.mptcp.controller" = "uncoupled" }
[series.Ours]
ours = true
set = { "flows.mptcp.controller" = { name = "mplibra", policy = "gone" } }

[measures.goodput]
of = "goodput"
unit = "Mbit/s"
label = "Throughput"
[measures.late]
of = "throughput"
since = "1s"
wire = true
unit = "Mbit/s"

[[panels]]
form = "lines"
measure = "goodput"
[[panels]]
form = "trace"
measures = ["goodput", "late"]
point = "5%"
window = "200ms"

[[published]]
measure = "goodput"
series = "LIA"
point = "0%"
value = "9.5Mbit/s"
[[published]]
measure = "goodput"
series = "Ours"
over = "LIA"
point = "5%"
improvement = "40%"

[[checks]]
says = "LIA loses with loss"
holds = "goodput('LIA', '0%') > goodput('LIA', '5%')"
[[checks]]
says = "LIA fills half of it at least"
holds = "goodput('LIA', '0%') in 50 Mbit/s .. 60 Mbit/s"
why = "a band that no run is in"
[[checks]]
says = "LIA has a goodput"
holds = "mean(goodput('LIA')) in 0.1 Mbit/s .. 12 Mbit/s"
[[checks]]
says = "Reno gets more than LIA everywhere"
holds = "goodput('Reno') < 0.5 * goodput('LIA')"
[[checks]]
says = "Ours is best"
holds = "goodput('Ours') > goodput('LIA')"
[[checks]]
says = "In the long run"
holds = "late('LIA', '0%') > 1 kbit/s"
full = true
"""


def write_tiny(folder: Path, text: str = RECIPE, name: str = "tiny") -> Path:
    """Writes the recipe to a file and returns its path."""
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def read_text(folder: Path, text: str, name: str = "tiny") -> Recipe:
    """The recipe read from a text."""
    return load_recipe(str(write_tiny(folder, text, name)))


def carried_out(
    recipe: Recipe, store: Store, kind: Kind | None = None, *, is_quick: bool = False
) -> tuple[JobProgress, Results]:
    """The progress of the experiment and its stored results."""
    kind, seeds = kind or KINDS[recipe.kind](), recipe.seeds_of(is_quick=is_quick)
    job = kind.job(recipe, store, is_quick=is_quick, seeds=seeds, executor=executor_maker(1, None))
    job.run().check()
    values = kind.stored(recipe, store, is_quick=is_quick, seeds=seeds)
    return job.progress, Results(recipe, values, is_quick=is_quick, seeds=seeds)
