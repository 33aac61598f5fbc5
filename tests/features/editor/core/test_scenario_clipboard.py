"""Parts of a scenario as text on the clipboard."""

from __future__ import annotations

import tomllib

import pytest
from tests.helpers.members import for_each

from subflow_app.features.editor.core.scenario_clipboard import copy_parts, has_parts, paste_parts
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.foundation.errors import InputError

SCENARIO = """\
format = 1
name = "Clipboard"
duration = "60s"
[nodes]
a = { at = [0, 0] }
b = { at = [100, 0] }
c = {}
[links]
ab = { ends = ["a", "b"], rate = "8Mbit/s", reverse = { loss = 0 } }
bc = { ends = ["b", "c"], rate = "8Mbit/s" }
[flows]
f1 = { kind = "mptcp", from = "a", to = "b", paths = [["ab"]] }
[[events]]
at = "10s"
link = "ab"
up = false
[[events]]
at = "10s"
flow = "f1"
open = false
[[notes]]
at = [5, 5]
text = "here"
"""


def test_nodes_bring_what_lies_between_them() -> None:
    copied = tomllib.loads(copy_parts(SCENARIO, ["nodes.a", "nodes.b", "notes.0"]))

    assert [set(copied[part]) for part in ("nodes", "links", "flows")] == [{"a", "b"}, {"ab"}, {"f1"}]
    assert len(copied["events"]) == 2
    assert copied["notes"] == [{"at": [5, 5], "text": "here"}]


def test_pasted_parts_have_names_of_their_own_and_stand_aside() -> None:
    edited = paste_parts(SCENARIO, copy_parts(SCENARIO, ["nodes.a", "nodes.b", "notes.0"]))

    assert edited.keys[:4] == ("nodes.a-2", "nodes.b-2", "links.ab-2", "flows.f2")
    doc = ScenarioDoc(edited.text)
    assert doc.problems == ()
    assert doc.value("nodes.b-2.at") == [140, 40]
    assert doc.value("links.ab-2.ends") == ["a-2", "b-2"]
    assert doc.value("flows.f2.paths") == [["ab-2"]]
    assert [event.get("link") or event.get("flow") for event in doc.data["events"]] == ["ab", "f1", "ab-2", "f2"]
    assert doc.value("notes.1.at") == [45, 45]


def test_a_link_alone_comes_back_as_a_parallel_one_and_a_flow_as_a_second() -> None:
    edited = paste_parts(SCENARIO, copy_parts(SCENARIO, ["links.ab", "flows.f1"]))

    doc = ScenarioDoc(edited.text)
    assert doc.value("links.ab-2.ends") == ["a", "b"]
    assert doc.value("links.ab-2.reverse.loss") == 0
    assert doc.value("flows.f2.paths") == [["ab-2"]]
    assert doc.problems == ()


def test_parts_go_from_one_scenario_to_another() -> None:
    empty = ScenarioDoc.empty().text

    doc = ScenarioDoc(paste_parts(empty, SCENARIO, shift=0).text)

    assert doc.problems == ()
    assert tomllib.loads(SCENARIO)["links"] == doc.data["links"]
    assert tomllib.loads(SCENARIO)["events"] == doc.data["events"]


def test_paths_over_links_that_are_missing_are_left_out() -> None:
    flow = '[flows.f]\nkind = "mptcp"\nfrom = "a"\nto = "b"\npaths = [["ab"], ["moon"]]\nbackup = [2]\n'

    doc = ScenarioDoc(paste_parts(SCENARIO, flow).text)

    assert doc.value("flows.f.paths") == [["ab"]]
    assert doc.problems == ()


@for_each(
    ("pasted", "message"),
    [
        ("", "holds no parts"),
        ("dear reader", "holds no parts"),
        ("x = 1", "holds no parts"),
        ('[links.x]\nends = ["p", "q"]', "link x joins nodes that this scenario does not have"),
        ('[flows.x]\nfrom = "p"\nto = "a"', "flow x ends at nodes"),
        ('[nodes."a b"]\nkind = "host"', '"a b" on the clipboard is not a name'),
        ("[nodes.x]\nborn = 2020-01-01", "a date or time of day"),
        ("[nodes.x]\nat = [inf, 0]", "nodes.x on the clipboard holds a number that no scenario has"),
        ("[[notes]]\nat = [1e308, 9999999999999999999]", "notes on the clipboard holds a number"),
        (f"[nodes.x]\nat = {'[' * 60}{']' * 60}", "holds no parts"),
    ],
)
def test_what_cannot_be_pasted_is_refused_with_its_reason(pasted: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        paste_parts(SCENARIO, pasted)


def test_parts_on_the_clipboard_are_recognised() -> None:
    assert has_parts(copy_parts(SCENARIO, ["links.ab"]))
    assert not has_parts(copy_parts(SCENARIO, ["links.moon"]))
