"""The recipes of DRL-CC and DQL-MPTCP: a point of each, and the orders that have to hold there."""

from __future__ import annotations

from tests.helpers.members import for_each

from subflow_app.features.gallery.core.recipe_reader import load_recipe
from subflow_app.features.gallery.core.reproduction import Reproduction
from subflow_app.features.gallery.core.results import VerdictKind
from subflow_store import open_store


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
