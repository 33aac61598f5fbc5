"""Every edit is one step, and undoing all steps gives the file back byte for byte."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QUndoStack

from subflow_app.features.editor.core.scenario_doc import Change, ScenarioDoc
from subflow_app.features.editor.qt import documents
from subflow_app.foundation.toml_edit import TomlEditError

DEMO = """\
# A file with a mind of its own
format=1
duration   = '60s'   # a minute

[nodes]
client = {at = [ 0,0 ]}  # odd spacing
server = { }
[links]
wifi = { ends = ["client", "server"], rate = 8_000_000 }
# what comes now is slow
lte = { ends = ["client", "server"], rate = "8Mbit/s" }

[flows]
download = { kind = "mptcp", from = "server", to = "client" }
"""


@pytest.fixture
def doc() -> ScenarioDoc:
    return ScenarioDoc(DEMO)


def test_undoing_everything_restores_the_file(doc: ScenarioDoc, stack: QUndoStack) -> None:
    documents.set_value(stack, doc, "links.wifi.rate", "9Mbit/s")
    documents.set_value(stack, doc, "links.wifi.loss", "120%")  # invalid, kept, and undone like any other
    documents.set_value(stack, doc, "links.lte.reverse.rate", "1Mbit/s")
    documents.set_value(stack, doc, "flows.download.controller", "uncoupled")
    documents.set_value(stack, doc, "flows.download.controller.base", "newreno")
    documents.move_nodes(stack, doc, {"client": (3.0, 4.0), "server": (5.0, 6.0)})
    documents.add_event(stack, doc, {"at": "3s", "link": "wifi", "up": False})
    documents.set_value(stack, doc, "events.0.at", "4s")
    documents.remove_event(stack, doc, 0)
    documents.set_text(stack, doc, "not TOML at all [")
    texts = []
    while stack.canUndo():
        texts.append(doc.text)
        stack.undo()

    assert doc.text == DEMO
    assert len(texts) == 10
    while stack.canRedo():
        stack.redo()
        assert doc.text == texts.pop()


def test_a_step_is_told_alike_when_made_undone_and_made_again(doc: ScenarioDoc, stack: QUndoStack) -> None:
    heard: list[Change] = []
    doc.subscribe(heard.append)

    documents.move_nodes(stack, doc, {"client": (3.0, 4.0)})
    stack.undo()
    stack.redo()

    assert heard == [Change("layout", ("nodes.client.at",))] * 3


def test_edits_of_one_session_are_one_step(doc: ScenarioDoc, stack: QUndoStack) -> None:
    for text in ("9Mbit/s", "90Mbit/s", "91Mbit/s"):
        documents.set_value(stack, doc, "links.wifi.rate", text, session=7)
    assert stack.count() == 1
    documents.set_value(stack, doc, "links.wifi.rate", "1Mbit/s", session=8)
    assert stack.count() == 2

    stack.undo()
    assert 'rate = "91Mbit/s"' in doc.text
    stack.undo()
    assert doc.text == DEMO


def test_edits_of_different_values_are_different_steps(doc: ScenarioDoc, stack: QUndoStack) -> None:
    documents.set_value(stack, doc, "links.wifi.rate", "9Mbit/s", session=7)
    documents.set_value(stack, doc, "links.lte.rate", "9Mbit/s", session=7)
    documents.set_value(stack, doc, "links.lte.rate", None, session=7)

    assert stack.count() == 3
    assert [stack.text(index) for index in range(3)] == ["Change wifi rate", "Change lte rate", "Reset lte rate"]


def test_a_saved_state_stays_a_place_to_go_back_to(doc: ScenarioDoc, stack: QUndoStack) -> None:
    documents.set_value(stack, doc, "links.wifi.rate", "9Mbit/s", session=7)
    stack.setClean()

    documents.set_value(stack, doc, "links.wifi.rate", "91Mbit/s", session=7)
    assert not stack.isClean()
    stack.undo()

    assert stack.isClean()
    assert 'rate = "9Mbit/s"' in doc.text


def test_typing_back_what_was_there_is_no_step(doc: ScenarioDoc, stack: QUndoStack) -> None:
    documents.set_value(stack, doc, "links.lte.rate", "8Mbit/s")
    assert stack.count() == 0

    documents.set_value(stack, doc, "links.lte.rate", "9Mbit/s", session=7)
    documents.set_value(stack, doc, "links.lte.rate", "8Mbit/s", session=7)
    assert stack.count() == 0
    assert doc.text == DEMO


def test_an_edit_that_is_refused_leaves_no_trace(doc: ScenarioDoc, stack: QUndoStack) -> None:
    with pytest.raises(TomlEditError):
        documents.move_nodes(stack, doc, {"nobody": (0.0, 0.0)})

    assert stack.count() == 0
    assert doc.text == DEMO
