"""Drawing a topology in the window: actions, gestures, and undo to the byte."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication
from tests.helpers.window import TWO_PATHS, ScriptedDialogs

from subflow_app.core.scenario_doc import ScenarioDoc
from subflow_app.qt.main_window import MainWindow


def doc_of(window: MainWindow) -> ScenarioDoc:
    return window.documents.doc


def undo_all(window: MainWindow) -> None:
    while window.document_stack.canUndo():
        window.document_stack.undo()


def test_new_empty_scenario_says_how_to_begin(window: MainWindow) -> None:
    window.bar.trigger("file.new_empty")

    assert doc_of(window).data.keys() == {"format", "name", "duration", "seed"}
    assert "Drag a host" in window.topology.notice
    assert not window.bar["run.toggle"].isEnabled()


def test_deleting_takes_what_hangs_on_it_along_and_comes_back_to_the_byte(window: MainWindow) -> None:
    window.topology.scene.choose(["links.wifi"])
    window.bar.trigger("topology.delete")

    assert doc_of(window).value("flows.download.paths") == [["lte"]]
    assert window.document_stack.undoText() == "Delete wifi"
    assert doc_of(window).is_valid
    window.topology.scene.choose(["nodes.client"])
    window.bar.trigger("topology.delete")
    assert "flows" not in doc_of(window).data
    undo_all(window)
    assert doc_of(window).text == TWO_PATHS


def test_copy_and_paste_go_through_text_on_the_clipboard(window: MainWindow) -> None:
    window.bar.trigger("topology.select_all")
    window.bar.trigger("topology.copy")
    window.bar.trigger("topology.paste")

    assert "[links.wifi]" in QGuiApplication.clipboard().text()
    assert set(doc_of(window).data["nodes"]) == {"client", "server", "client-2", "server-2"}
    assert doc_of(window).value("flows.download-2.paths") == [["wifi-2"], ["lte-2"]]
    assert set(window.topology.scene.chosen) == {"nodes.client-2", "nodes.server-2", "links.wifi-2", "links.lte-2"}
    # Into another document.
    window.document_stack.setClean()
    window.bar.trigger("file.new_empty")
    window.bar.trigger("topology.paste")
    assert doc_of(window).is_valid


def test_cut_parts_come_back_by_paste_and_by_undo(window: MainWindow) -> None:
    window.topology.scene.choose(["links.lte"])
    window.bar.trigger("topology.cut")
    assert "lte" not in doc_of(window).data["links"]
    window.bar.trigger("topology.paste")
    assert doc_of(window).value("links.lte.rate") == "4Mbit/s"
    undo_all(window)
    assert doc_of(window).text == TWO_PATHS


def test_pasting_what_is_no_part_says_so(window: MainWindow) -> None:
    QGuiApplication.clipboard().setText("dear reader")
    window.bar.trigger("topology.paste")

    assert "holds no parts of a scenario" in window.banners.text("action")
    assert doc_of(window).text == TWO_PATHS


def test_duplicating_a_link_makes_a_parallel_one(window: MainWindow) -> None:
    window.topology.scene.choose(["links.wifi"])
    window.bar.trigger("topology.duplicate")

    assert doc_of(window).value("links.wifi-2.ends") == ["client", "server"]
    assert window.topology.scene.chosen == ("links.wifi-2",)


def test_renaming_asks_for_the_name_and_refuses_a_taken_one(window: MainWindow, dialogs: ScriptedDialogs) -> None:
    window.topology.scene.choose(["links.wifi"])
    dialogs.answer("line", "lte", "wlan", None)
    window.bar.trigger("topology.rename")
    assert "another link called lte" in window.banners.text("action")

    window.bar.trigger("topology.rename")
    assert doc_of(window).value("flows.download.paths") == [["wlan"], ["lte"]]
    assert window.topology.scene.chosen == ("links.wlan",)
    assert window.inspector.key == "links.wlan"
    window.bar.trigger("topology.rename")
    window.document_stack.undo()
    assert doc_of(window).text == TWO_PATHS


def test_two_selected_nodes_are_connected(window: MainWindow) -> None:
    assert not window.bar["topology.connect"].isEnabled()
    window.topology.scene.choose(["nodes.client", "nodes.server"])
    window.bar.trigger("topology.connect")

    assert doc_of(window).value("links.l1.ends") == ["client", "server"]
    assert window.topology.scene.chosen == ("links.l1",)


@pytest.mark.parametrize("key", ["", "nodes.client", "links.wifi", "flows.download"])
def test_right_click_offers_what_fits(window: MainWindow, key: str) -> None:
    window.topology.select(key)
    names = [action.objectName() for action in window.topology.build_menu(key).actions()]

    assert ("topology.paste" in names) == (key == "")
    assert ("topology.delete" in names) == (key != "")


def test_text_that_is_no_toml_cannot_be_drawn_in(window: MainWindow) -> None:
    doc_of(window).set_text("not TOML [")
    window.topology.scene.choose(["nodes.client"])

    names = ("paste", "delete", "copy", "rename")
    assert not any(window.bar[f"topology.{name}"].isEnabled() for name in names)


def test_several_selected_parts_stay_selected_while_the_inspector_shows_the_latest(window: MainWindow) -> None:
    window.topology.scene.choose(["nodes.client", "links.wifi"])

    assert list(window.topology.scene.chosen) == ["nodes.client", "links.wifi"]
    assert window.inspector.key == "links.wifi"
    window.inspector.show_key("links.lte")
    assert list(window.topology.scene.chosen) == ["links.lte"]
