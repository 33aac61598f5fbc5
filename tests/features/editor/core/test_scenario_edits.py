"""Edits of the parts of a scenario: dependent values change too, others stay, and no reference dangles."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.core.scenario_edits import (
    Edited,
    add_flow,
    add_link,
    add_node,
    add_note,
    fresh_name,
    remove_parts,
    rename_part,
    set_paths,
)
from subflow_app.features.editor.core.topology import picture_of
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.resources import resource_path
from subflow_app.foundation.toml_edit import TomlEditError

SCENARIO = """\
# A scenario with everything that can name something else.
format = 1
name = "All"
duration = "60s"

[nodes.client]   # the sink
at = [0, 0]

[nodes.server]
[nodes.r1]
kind = "router"
at = [300, 0]

# the fast one
[links.wifi]
ends = ["client", "server"]
rate = "8Mbit/s"
[links.wifi.reverse]
loss = 0   # of ACKs

[links.lte]
ends = ["client", "server"]
rate = "8Mbit/s"
drops = ["download.2/3:17", "download.1/3:1@2s"]   # for the lecture
[links.in]
ends = ["server", "r1"]
rate = "8Mbit/s"
[links.out]
ends = ["r1", "client"]
rate = "8Mbit/s"

[flows.download]
kind = "mptcp"
from = "server"
to = "client"
paths = [["wifi"], ["in", "out"], ["lte"]]   # in this order
backup = [1, 3]
count = 2

[flows.cross]
kind = "cbr"
rate = "1Mbit/s"
from = "server"
to = "client"
paths = [["wifi"]]

[[events]]
at = "10s"
link = "wifi"
up = false

[[events]]   # the last one
at = "20s"
flow = "download.2"
subflow = 3
open = false

[[notes]]
at = [0, -100]
text = "wifi is fast"
"""


def data(edited: Edited) -> dict[str, Any]:
    return tomllib.loads(edited.text)


def test_a_drawing_from_nothing_becomes_a_scenario_step_by_step() -> None:
    text = ScenarioDoc.empty().text
    lacking = [ScenarioDoc(text).missing_part]
    for edit in (
        lambda text: add_node(text, "host", (0.4, 0)),
        lambda text: add_node(text, "host", (600, 0)),
        lambda text: add_node(text, "router", (300, -100)),
        lambda text: add_link(text, "h1", "h2"),
        lambda text: add_link(text, "h1", "h2"),
        lambda text: add_flow(text, "h1", "h2", {"kind": "mptcp", "controller": "lia"}),
    ):
        text = edit(text).text
        lacking.append(ScenarioDoc(text).missing_part)

    assert lacking == ["nodes", "links", "links", "links", "flows", "flows", ""]
    scenario = present(ScenarioDoc(text).scenario)
    assert scenario.nodes["h1"].at == (0, 0)
    assert scenario.nodes["r1"].kind == "router"
    assert [link.ends for link in scenario.links.values()] == [("h1", "h2")] * 2
    assert scenario.flows["f1"].paths == (("l1",), ("l2",))


def test_parts_are_added_beside_their_like_and_comments_stay() -> None:
    text = add_link(SCENARIO, "client", "r1").text
    added = '[links.l1]\nends = ["client", "r1"]\nrate = "10Mbit/s"\ndelay = "10ms"\nqueue = "50pkt"\n'
    assert text.replace(added, "") == SCENARIO
    assert text.index("[links.out]") < text.index("[links.l1]") < text.index("[flows.download]")


@for_each(
    ("edit", "message"),
    [
        (lambda: add_link(SCENARIO, "client", "client"), "cannot be connected to itself"),
        (lambda: add_link(SCENARIO, "client", "moon"), "unknown node moon"),
        (lambda: add_flow(SCENARIO, "r1", "client", {"kind": "tcp"}), "r1 is a router"),
        (lambda: add_flow(SCENARIO, "client", "client", {"kind": "tcp"}), "cannot send to itself"),
        (lambda: rename_part(SCENARIO, "links.wifi", "lte"), "another link is called lte already"),
        (lambda: rename_part(SCENARIO, "links.wifi", "wi fi"), '"wi fi" is not a name'),
        (lambda: rename_part(SCENARIO, "links.moon", "x"), "links.moon does not exist"),
        (lambda: set_paths(SCENARIO, "moon", None), "unknown flow moon"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_reason(edit: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        edit()


def test_removing_a_link_takes_paths_and_events_along_and_counts_subflows_anew() -> None:
    edited = remove_parts(SCENARIO, ["links.wifi"])

    left = data(edited)
    assert edited.keys == ("links.wifi", "events.0")
    assert left["flows"]["download"]["paths"] == [["in", "out"], ["lte"]]
    assert left["flows"]["download"]["backup"] == [2]
    assert "paths" not in left["flows"]["cross"]
    assert left["events"] == [{"at": "20s", "flow": "download.2", "subflow": 2, "open": False}]
    assert left["links"]["lte"]["drops"] == ["download.2/2:17", "download.1/2:1@2s"]
    assert "# the fast one" not in edited.text
    assert "# in this order" in edited.text
    assert ScenarioDoc(edited.text).problems == ()


def test_removing_a_node_takes_everything_along_that_ends_there() -> None:
    edited = remove_parts(SCENARIO, ["nodes.client", "notes.0"])

    left = data(edited)
    assert set(left["nodes"]) == {"server", "r1"}
    assert set(left["links"]) == {"in"}
    assert "drops" not in data(remove_parts(SCENARIO, ["flows.download"]))["links"]["lte"]
    assert {"flows", "events", "notes"}.isdisjoint(left)


def test_removing_all_paths_of_a_flow_leaves_it_the_shortest_ones() -> None:
    edited = remove_parts(SCENARIO, ["links.wifi", "links.lte", "links.in"])

    assert data(edited)["flows"]["download"] == {"kind": "mptcp", "from": "server", "to": "client", "count": 2}
    assert "events" not in data(edited)


@pytest.mark.parametrize(
    ("key", "name"),
    [("nodes.client", "phone"), ("nodes.r1", "core"), ("links.wifi", "wlan"), ("flows.download", "web")],
)
def test_renaming_reaches_every_mention(key: str, name: str) -> None:
    old = key.split(".")[1]
    edited = rename_part(SCENARIO, key, name)

    assert ScenarioDoc(edited.text).problems == ()
    assert f'"{old}"' not in edited.text
    assert f'"{old}.' not in edited.text
    # Renaming back restores the same scenario.
    assert tomllib.loads(rename_part(edited.text, edited.keys[0], old).text) == tomllib.loads(SCENARIO)
    assert "# of ACKs" in edited.text


def test_renaming_reaches_the_draws_of_a_training() -> None:
    text = resource_path("scenarios/rlx-training.toml").read_text()

    doc = ScenarioDoc(rename_part(rename_part(text, "links.data", "radio").text, "flows.download", "web").text)

    assert doc.problems == ()
    draws = doc.data["training"]["draws"]
    assert {kind: set(names) for kind, names in draws.items()} == {"links": {"radio"}, "flows": {"web"}}
    assert all(row.get("link") == "radio" for row in doc.data["training"]["events"])


def test_paths_are_set_and_taken_back() -> None:
    assert data(set_paths(SCENARIO, "cross", [["lte"]]))["flows"]["cross"]["paths"] == [["lte"]]
    assert "paths" not in data(set_paths(SCENARIO, "cross", None))["flows"]["cross"]


def test_what_is_said_of_a_subflow_follows_its_path() -> None:
    left = data(set_paths(SCENARIO, "download", [["lte"], ["in", "out"]]))

    assert left["flows"]["download"]["backup"] == [1]
    assert left["events"][1]["subflow"] == 1
    assert left["links"]["lte"]["drops"] == ["download.2/1:17", "download.1/1:1@2s"]
    assert "drops" not in data(set_paths(SCENARIO, "download", [["wifi"]]))["links"]["lte"]
    assert "backup" not in data(set_paths(SCENARIO, "download", None))["flows"]["download"]
    assert len(data(set_paths(SCENARIO, "download", None))["events"]) == 1


def test_notes_are_added_with_lines_and_quotes() -> None:
    doc = ScenarioDoc(add_note(SCENARIO, (1, 2), 'two\nlines, "quoted"').text)

    assert present(doc.scenario).notes[1].text == 'two\nlines, "quoted"'


@pytest.mark.parametrize(
    "text",
    [
        "nodes = { a = {}, b = {} }\n",
        'format = 1\n[nodes]\na = {}\nb = { kind = "router" }\n[links]\nx.ends = ["a", "b"]\nx.rate = 5\n',
        'format = 1\r\n[nodes.a]\r\n[nodes.b]\r\n[links.x]\r\nends = ["a", "b"]',
    ],
)
def test_other_ways_of_writing_are_edited_or_refused_but_never_damaged(text: str) -> None:
    for edit in (
        lambda: remove_parts(text, ["nodes.a"]),
        lambda: rename_part(text, "nodes.a", "z"),
        lambda: add_node(text, "host", (0, 0)),
    ):
        try:
            edited = edit()
        except TomlEditError:
            assert text.startswith("nodes =")
        else:
            assert set(data(edited)["nodes"]) in ({"b"}, {"z", "b"}, {"a", "b", "h1"})
            assert ("\r" in edited.text) == ("\r" in text)


def test_fresh_names_count_on() -> None:
    assert fresh_name("wifi", ()) == "wifi"
    assert fresh_name("wifi", ("wifi",)) == "wifi-2"
    assert fresh_name("h1", ("h1", "h2")) == "h3"
    assert fresh_name("path-9", ("path-9",)) == "path-10"
    assert len(fresh_name("a" * 64, ("a" * 64,))) == 64


def test_a_sketch_shows_what_holds_together() -> None:
    doc = ScenarioDoc(SCENARIO)
    doc.set_value("links.wifi.loss", "120%")
    assert present(doc.sketch).links["wifi"].forward.rate_bps == 8e6
    doc.set_value("links.lte.ends", ["client", "moon"])
    assert set(present(doc.sketch).links) == {"wifi", "in", "out"}
    doc.set_text("not TOML [")
    assert doc.sketch is doc.last_valid


def test_what_has_no_last_valid_state_is_not_taken_for_a_value() -> None:
    """The reader's placeholder for a queue has no limit; a file opened with an invalid queue has no valid value."""
    text = SCENARIO.replace("[links.wifi]", '[links.wifi]\nqueue = "50 packets"', 1)
    assert text != SCENARIO
    doc = ScenarioDoc(text)
    assert doc.last_valid is None
    assert doc.unread == {"wifi": {"queue"}}
    links = picture_of(present(doc.sketch), None, doc.unread).links
    assert links["wifi"].unread == {"queue"}
    assert not links["lte"].unread

    doc.set_value("links.wifi.queue", "50pkt")
    assert doc.unread == {}
    doc.set_value("links.wifi.queue", "50 packets")
    doc.set_value("links.wifi.reverse.rate", "fast")
    assert doc.unread == {}
    assert present(doc.sketch).links["wifi"].forward.queue.limit_pkts == 50


# --- properties -----------------------------------------------------------------------------------------------------

EDITS = st.lists(
    st.tuples(
        st.sampled_from(["node", "router", "link", "flow", "note", "remove", "rename", "paths"]),
        st.integers(0, 30),
        st.integers(0, 30),
    ),
    max_size=12,
)


def _keys(text: str) -> list[str]:
    tree = tomllib.loads(text)
    keys = [f"{section}.{name}" for section in ("nodes", "links", "flows") for name in tree.get(section, {})]
    return keys + [f"{rows}.{i}" for rows in ("events", "notes") for i in range(len(tree.get(rows, [])))]


def _edited(text: str, kind: str, a: int, b: int) -> Edited | None:
    tree = tomllib.loads(text)
    nodes, keys = list(tree.get("nodes", {})) or ["none"], _keys(text) or ["nodes.none"]
    flows = list(tree.get("flows", {})) or ["none"]
    try:
        match kind:
            case "node" | "router":
                return add_node(text, "router" if kind == "router" else "host", (a, b))
            case "link":
                return add_link(text, nodes[a % len(nodes)], nodes[b % len(nodes)])
            case "flow":
                return add_flow(text, nodes[a % len(nodes)], nodes[b % len(nodes)], {"kind": "mptcp"})
            case "note":
                return add_note(text, (a, b), f"note {a}\n{b}")
            case "remove":
                return remove_parts(text, [keys[a % len(keys)], keys[b % len(keys)]])
            case "rename":
                return rename_part(text, keys[a % len(keys)], f"name{b}")
            case _:
                return set_paths(text, flows[a % len(flows)], None)
    except InputError:
        return None


@given(st.sampled_from([SCENARIO, SCENARIO.replace("\n", "\r\n"), ScenarioDoc.empty().text]), EDITS)
def test_any_edits_leave_no_dangling_names_and_undo_to_the_byte(start: str, edits: list[tuple[str, int, int]]) -> None:
    doc = ScenarioDoc(start)
    history = [doc.text]
    for kind, a, b in edits:
        edited = _edited(doc.text, kind, a, b)
        if edited is not None:
            doc.apply(edited)
            history.append(doc.text)
        assert doc.is_toml
        # A drawing may lack parts, and a flow may lack a path; but no name refers to a missing part.
        assert [p for p in doc.problems if "unknown" in p.message] == []
        assert doc.sketch is not None
    for text in reversed(history):
        doc.restore(text, doc.set_text(doc.text))
    assert doc.text == start
