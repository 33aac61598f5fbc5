"""Orderings of MPLibra's experiments that hold in a single short run each."""

from __future__ import annotations

from dataclasses import replace

from subflow_app.features.gallery.core.kinds import KINDS
from subflow_app.features.gallery.core.recipe_reader import load_recipe
from subflow_app.features.gallery.core.results import Results, stored_results
from subflow_app.foundation.jobs.executors import executor_maker
from subflow_store import open_store


def results_of(name: str, *, point: str, series: tuple[str, ...]) -> Results:
    """One seed of a shipped experiment, at one point."""
    recipe = load_recipe(name)
    few = replace(recipe, quick=replace(recipe.quick, seeds=(1,), points=(point,) if point else (), series=series))
    with open_store(":memory:") as store:
        KINDS[few.kind]().job(few, store, is_quick=True, seeds=(1,), executor=executor_maker(1)).run()
        results = stored_results(few, store, is_quick=True)
        assert results is not None
        return results


def test_at_half_a_percent_of_loss_learning_beats_what_takes_loss_for_congestion() -> None:
    order = ("CS-RL", "MPLibra", "Uncoupled", "LIA", "OLIA")
    results = results_of("mplibra-fig9a", point="0.5%", series=order)
    throughputs = [results.cell("throughput", series, "0.5%").mean for series in order]
    assert throughputs == sorted(throughputs, reverse=True)


def test_in_deep_buffers_delay_based_controllers_have_the_least_latency() -> None:
    order = ("LIA", "MPCC", "wVegas")
    results = results_of("mplibra-fig16", point="100pkt", series=order)
    latencies = [results.cell("latency", series, "100pkt").mean for series in order]
    assert latencies == sorted(latencies, reverse=True)
