from pathlib import Path

import pytest
from tests.helpers.present import present
from tests.helpers.window import TWO_PATHS

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.sweeps.core.axes import sweep_parameters
from subflow_app.features.sweeps.core.sweep_draft import ALL, SEEDS, SweepDraft, check_draft, estimate_draft, plan_of

CONTROLLER = "flows.download.controller"
LOSS = "links.wifi.loss"
RATE = "links.lte.rate"


def draft(*axes: tuple[str, str], seeds: str = "1..5", **more: object) -> SweepDraft:
    return SweepDraft("", axes, seeds, **more)  # type: ignore[arg-type]


def test_grid_has_every_combination_with_every_seed():
    check = check_draft(draft((LOSS, "1%..5%/5"), (CONTROLLER, "lia, olia")))
    assert (check.points, check.runs, check.problems) == (10, 50, {})
    assert check.counts == {LOSS: 5, CONTROLLER: 2}


def test_what_is_typed_wrongly_is_told_beside_its_field():
    check = check_draft(draft((LOSS, "1%..5%"), (RATE, ""), (CONTROLLER, "lia"), seeds="one"))
    assert set(check.problems) == {LOSS, RATE, SEEDS}
    assert "its number of values" in check.problems[LOSS]
    assert check.runs == 0


def test_nothing_to_vary_is_told():
    assert set(check_draft(draft()).problems) == {ALL}


def test_list_needs_equally_many_values():
    wrong = check_draft(draft((LOSS, "1%, 2%"), (RATE, "2Mbit/s"), kind="list"))
    assert f"{LOSS}: 2, {RATE}: 1" in wrong.problems[ALL]
    plan = plan_of(draft((LOSS, "1%, 2%"), (RATE, "2Mbit/s, 4Mbit/s"), kind="list"), TWO_PATHS, None)
    assert [point.values for point in plan.points()] == [("1%", "2Mbit/s"), ("2%", "4Mbit/s")]


@pytest.mark.parametrize("text", ["1Mbit/s..16Mbit/s", "1Mbit/s..16Mbit/s log", "1Mbit/s..16Mbit/s/9"])
def test_random_draws_from_what_is_typed(text: str):
    plan = plan_of(draft((RATE, text), (CONTROLLER, "lia, olia"), kind="random", draws=20), TWO_PATHS, None)
    assert plan.n_points == 20
    rates = [plan.swept(point)[0].number or 0.0 for point in plan.points()]
    assert all(1e6 <= rate <= 16e6 for rate in rates)
    assert len(set(rates)) > 10
    assert {plan.swept(point)[1].text for point in plan.points()} == {"lia", "olia"}


def test_estimate_tells_runs_time_and_disk(tmp_path: Path):
    found = estimate_draft(draft((LOSS, "1%, 2%"), seeds="1..3"), TWO_PATHS, None, tmp_path / "runs.db")
    assert found.problems == {}
    assert found.plan is not None
    assert present(found.cost).runs == 6
    text = found.text(2)
    assert text.startswith("6 runs, about ")
    assert "with 2 at once" in text


def test_values_that_the_scenario_does_not_take_are_told_beside_their_field():
    found = estimate_draft(draft((LOSS, "1%, 200%"), (CONTROLLER, "lia, olai")), TWO_PATHS, None, None)
    assert found.plan is None
    assert "200%" in found.problems[LOSS]
    assert 'did you mean "olia"' in found.problems[CONTROLLER]


def test_parameters_are_all_values_of_the_file_and_keys_it_could_have():
    doc = ScenarioDoc(TWO_PATHS, algorithms=app_catalog())
    found = {parameter.key: parameter for parameter in sweep_parameters(doc)}
    assert found[LOSS].present == "1%"
    assert found["links.lte.loss"].present == "0% (default)"
    assert found[CONTROLLER].present == "lia"
    assert "duration" in found
    # Seeds have a separate field; names and drawings are not parameters.
    assert {"seed", "name", "links.wifi.ends"}.isdisjoint(found)
    assert [p.key for p in found.values() if p.matches("WIFI loss")] == [LOSS, "links.wifi.retransmission.loss"]


def test_what_a_link_could_have_can_vary_where_one_key_says_it():
    text = TWO_PATHS.replace('loss = "1%"', 'loss = "1%"\naccess = { medium = "hall" }')
    found = {p.key: p.present for p in sweep_parameters(ScenarioDoc(text, algorithms=app_catalog()))}
    assert found["links.lte.jitter.spread"] == found["links.lte.grants.period"] == "–"
    assert found["links.wifi.access.window_min"] == "15 (default)"
    # A medium is not a value to vary, and an outage has two keys.
    assert {"links.lte.access.aggregation", "links.wifi.access.medium", "links.lte.outages.up"}.isdisjoint(found)


def test_values_inside_tables_can_vary_too():
    text = TWO_PATHS.replace('controller = "lia"', 'controller = { name = "mpcc-loss", alpha = 0.9 }').replace(
        'loss = "1%"', 'loss = { model = "gilbert", p = "1%", r = "50%" }\nreverse = { delay = "20ms" }'
    )
    found = {p.key: p.present for p in sweep_parameters(ScenarioDoc(text, algorithms=app_catalog()))}
    assert found[CONTROLLER] == "mpcc-loss"
    assert found[f"{CONTROLLER}.alpha"] == "0.9"
    assert found[f"{LOSS}.p"] == "1%"
    assert found["links.wifi.reverse.delay"] == "20ms"
