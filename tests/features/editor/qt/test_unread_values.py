"""The canvas of a scenario file with values that cannot be read."""

from __future__ import annotations

from PySide6.QtGui import QUndoStack
from pytestqt.qtbot import QtBot

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.qt.topology import TopologyView
from subflow_app.features.editor.qt.topology.labels import describe_link, link_caption
from subflow_app.foundation.resources import resource_path


def test_a_value_that_could_never_be_read_is_a_question_mark(qtbot: QtBot, stack: QUndoStack) -> None:
    """Not the reader's placeholder, which for a queue is one without a limit."""
    text = resource_path("scenarios/demo.toml").read_text(encoding="utf-8")
    doc = ScenarioDoc(text.replace('queue = "40pkt"', 'queue = "50 packets"', 1))
    view = TopologyView(doc, stack)
    qtbot.addWidget(view)
    assert doc.last_valid is None

    def buffer(name: str) -> str:
        assert view.scene.picture is not None
        drawn = view.scene.picture.links[name]
        assert f"queue {'?' if drawn.unread else drawn.link.forward.queue.limit_pkts}" in describe_link(drawn)
        return link_caption(drawn.link, "→", "←", drawn.unread).buffer

    assert buffer("wifi").startswith("queue ?")
    assert buffer("lte") == "queue 100 pkt"
    assert view.notice == "1 problem: unreadable values are shown as ?"

    doc.set_value("links.wifi.queue", "50pkt")
    doc.set_value("links.wifi.queue", "50 packets")
    assert buffer("wifi").startswith("queue 50 pkt")
    assert view.notice == "1 problem: affected parts are drawn in their last valid state"
