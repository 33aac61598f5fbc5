"""The directions of a link are named by their ends and by what they carry."""

from __future__ import annotations

from tests.helpers.window import TWO_PATHS

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.editor.core.event_words import change_text
from subflow_app.features.editor.core.form import form_for
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.vocabulary.link_ways import BOTH, FORWARD, REVERSE, loss_note, way_of, way_words, with_way
from subflow_sim import parse_scenario

UPLOAD = TWO_PATHS.replace('from = "server"\nto = "client"', 'from = "client"\nto = "server"')
BESIDE = """
[flows.beside]
kind = "cbr"
from = "client"
to = "server"
rate = "1Mbit/s"
paths = [["wifi"]]
"""


def test_directions_are_those_of_data_and_acks() -> None:
    download = way_words(parse_scenario(TWO_PATHS), "wifi")
    assert (download[FORWARD], download[REVERSE]) == ("client → server: ACKs", "server → client: data")
    upload = way_words(parse_scenario(UPLOAD), "wifi")
    assert (upload[FORWARD], upload[REVERSE]) == ("client → server: data", "server → client: ACKs")
    both = way_words(parse_scenario(TWO_PATHS + BESIDE), "wifi")
    assert (both[FORWARD], both[REVERSE]) == ("client → server: data and ACKs", "server → client: data")


def test_a_direction_is_named_by_what_it_carries_or_by_its_ends() -> None:
    download, both = parse_scenario(TWO_PATHS), parse_scenario(TWO_PATHS + BESIDE)
    assert [way_of(download, "wifi", direction) for direction in (FORWARD, REVERSE, BOTH)] == ["ACKs", "data", ""]
    assert [way_of(both, "wifi", direction) for direction in (FORWARD, REVERSE)] == ["client → server", "data"]
    assert (way_of(None, "wifi", FORWARD), way_of(download, "dsl", FORWARD)) == ("", "")
    change = {"link": "wifi", "direction": REVERSE, "loss": "5%"}
    assert change_text(with_way(download, change)) == "wifi, direction of data: loss 5 %"
    assert with_way(download, {"link": "wifi", "loss": "5%"}) == {"link": "wifi", "loss": "5%"}


def test_a_link_without_a_flow_has_its_ends_alone() -> None:
    idle = parse_scenario(TWO_PATHS.replace('paths = [["wifi"], ["lte"]]', 'paths = [["wifi"]]'))
    assert way_words(idle, "lte")[FORWARD] == "client → server"
    assert loss_note(idle, "lte", BOTH) == ""
    assert way_words(None, "wifi")[FORWARD] == "Forward only"


def test_the_form_of_a_link_names_the_direction_of_its_loss() -> None:
    doc = ScenarioDoc(TWO_PATHS)
    assert note_of(doc, "links.wifi.loss") == (
        "Each direction on its own: client → server: ACKs; server → client: data"
    )
    doc.set_value("links.wifi.reverse.loss", "3%")
    assert note_of(doc, "links.wifi.loss") == "client → server: ACKs"
    assert note_of(doc, "links.wifi.reverse.loss") == "server → client: data"


def note_of(doc: ScenarioDoc, key: str) -> str:
    form = form_for(doc, "links.wifi", app_catalog(None))
    assert form is not None
    return next(field.note for group in form.groups for field in group.fields if field.key == key)
