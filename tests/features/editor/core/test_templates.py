"""Templates: one for each topology of the reference, each a scenario that runs."""

from __future__ import annotations

from tests.helpers.members import for_each

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.core.templates import TEMPLATES, Template, check_value, filled_text, shown_text

BY_NAME = {template.scenario: template for template in TEMPLATES}


def test_every_topology_of_the_reference_and_each_access_network_of_today_has_one() -> None:
    assert [template.title.partition(":")[0] for template in TEMPLATES] == [
        "T-2link", "T-1link", "T-10a", "T-10b", "T-10c", "T-10d", "T-drl", "T-dql",
        "T-ddpg-a", "T-ddpg-b", "T-ddpg-c", "T-ddpg-bed", "T-rlx",
        "Home Wi-Fi", "LTE walk", "5G mmWave", "Starlink", "Conference Wi-Fi",
    ]  # fmt: skip


@for_each("template", TEMPLATES, ids=lambda template: template.scenario)
def test_it_is_a_scenario_as_it_is_and_with_other_values(template: Template) -> None:
    doc = template.document()
    assert doc.is_valid
    assert doc.path is None
    texts = {value: shown_text(doc, value) for value in template.values}
    assert all(texts.values())
    assert filled_text(template, texts) == doc.text, "nothing is rewritten that is left as it is"
    other = {"rate": "7Mbit/s", "delay": "33ms", "loss": "0.5%", "queue": "77pkt", "count": "3", "size": "9MB"}
    changed = {value: other[value.param.key] for value in template.values}
    filled = ScenarioDoc(filled_text(template, changed))
    assert filled.problems == ()
    for value in template.values:
        for key in value.keys:
            assert str(filled.value(key)) == other[value.param.key]


def test_impossible_values_are_explained() -> None:
    template = BY_NAME["t-10b"]
    doc = template.document()
    assert "number with a unit" in check_value(doc, template.values[0], "fast")
    assert check_value(doc, template.values[0], "8Mbit/s") == ""
    assert check_value(doc, template.values[-1], "-3") != ""


def test_a_bare_number_keeps_the_unit_of_the_value_that_it_replaces() -> None:
    template = BY_NAME["t-10b"]
    rate, delay = template.values[:2]
    doc = template.document()

    assert check_value(doc, rate, "30") == ""
    filled = ScenarioDoc(filled_text(template, {rate: "30", delay: "40"}))

    assert (shown_text(filled, rate), shown_text(filled, delay)) == ("30Mbit/s", "40ms")
