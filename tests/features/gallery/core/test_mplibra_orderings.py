"""Orderings of MPLibra's experiments that hold in a single short run each."""

from __future__ import annotations

from dataclasses import replace

from tests.features.gallery.core.tiny import carried_out
from tests.helpers.members import for_each

from subflow_app.features.gallery.core.recipe_reader import load_recipe
from subflow_store import open_store


@for_each(
    ("name", "point", "measure", "order"),
    [
        # Half a percent of loss: learning beats the controllers that take loss for congestion.
        ("mplibra-fig9a", "0.5%", "throughput", ("CS-RL", "MPLibra", "Uncoupled", "LIA", "OLIA")),
        # Deep buffers: controllers based on delay have the least latency.
        ("mplibra-fig16", "100pkt", "latency", ("LIA", "MPCC", "wVegas")),
    ],
)
def test_series_are_in_the_order_of_the_paper(name: str, point: str, measure: str, order: tuple[str, ...]) -> None:
    recipe = load_recipe(name)
    few = replace(recipe, quick=replace(recipe.quick, seeds=(1,), points=(point,), series=order))
    with open_store(":memory:") as store:
        _, results = carried_out(few, store, is_quick=True)
        values = [results.cell(measure, series, point).mean for series in order]
    assert values == sorted(values, reverse=True)
