"""Orderings from experiments of papers that hold in a single short run each."""

from __future__ import annotations

from dataclasses import replace

from tests.features.gallery.core.tiny import carried_out
from tests.helpers.members import for_each

from subflow_app.features.gallery.core.recipe_reader import load_recipe
from subflow_app.features.gallery.core.reproduction import Reproduction
from subflow_app.features.gallery.core.results import VerdictKind
from subflow_store import open_store


@for_each(
    ("name", "point", "measure", "order"),
    [
        # Half a percent of loss: learned controllers beat those that take loss for congestion.
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


@for_each(
    ("name", "told"),
    [
        ("drl-cc-sc1", "DRL-CC is ahead of all others at 8 MB, wVegas is the best of them"),
        ("dql-mptcp-exp4", "MPTCP connections get more with DQL-MPTCP than with any other"),
    ],
)
def test_the_learned_controller_is_ahead_of_the_classic_ones(name: str, told: str) -> None:
    recipe = load_recipe(name)
    with open_store(":memory:") as store:
        reproduction = Reproduction(recipe, store, is_quick=True, seeds=(1,), jobs=1)
        assert reproduction.run().state == "finished"
        verdicts = {verdict.check.says: verdict.kind for verdict in reproduction.results().verdicts()}
    assert VerdictKind.NOT_MEASURED not in verdicts.values()
    assert verdicts[told] is VerdictKind.HOLDS
