"""Importing and exporting topologies by their actions."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtGui import QImage
from tests.helpers.desk import Desk, MakeDesk, export_figure
from tests.helpers.policies import make_plan, write_random_policy
from tests.helpers.present import present
from tests.helpers.window import TWO_PATHS, ScriptedDialogs

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.editor.core.graph_import import import_graph
from subflow_app.features.editor.qt import documents
from subflow_app.features.exporting.core.page_import import read_page
from subflow_app.features.exporting.core.web_page import write_page
from subflow_app.features.exporting.qt.actions import rows
from subflow_app.features.exporting.qt.export_dialog import DATA, FigureDialog
from subflow_app.features.running.core.runs import RunJob
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.paths import policy_folder
from subflow_app.foundation.toml_edit import get_value, set_value
from subflow_sim import parse_scenario

GRAPH = Path(__file__).parents[3] / "helpers" / "graphs" / "alpine.graphml"


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(actions=rows())


def test_an_import_says_what_was_guessed_and_what_comes_next(desk: Desk, dialogs: ScriptedDialogs) -> None:
    desk.topology_files.import_file(GRAPH)
    assert len(desk.topology.scene.node_positions()) == 5
    assert desk.documents.doc.path is None
    assert "5 nodes and 6 links, 6 of them with guessed values" in desk.banners.text("import")
    assert "add one to run it" in desk.banners.text("import")
    desk.banners.press("import", "Details…")
    assert "2/3 of the speed of light" in dialogs.told[-1][1]


def test_a_broken_file_changes_nothing(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "broken.gml"
    path.write_text("graph [ node", encoding="utf-8")
    desk.topology_files.import_file(path)
    assert "broken.gml:1" in desk.banners.text("import")
    assert desk.documents.doc.text == TWO_PATHS


def test_unsaved_changes_are_asked_about(desk: Desk, dialogs: ScriptedDialogs) -> None:
    documents.set_value(desk.document_stack, desk.documents.doc, "seed", 9)
    before = desk.documents.doc.text
    dialogs.answer("ask_save_changes", "cancel")
    assert not desk.topology_files.import_file(GRAPH)
    assert desk.documents.doc.text == before


def test_a_run_of_a_web_page_is_imported_unless_damaged(desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    store = desk.store
    jobs = [RunJob(parse_scenario(TWO_PATHS), TWO_PATHS, seed=seed, store=store) for seed in (1, 7)]
    numbers = [present(job.run().run_id) for job in jobs]
    page = write_page(store, numbers, tmp_path / "two.html")
    dialogs.answer("choice", None)
    desk.topology_files.import_page(page)
    assert desk.documents.doc.text == TWO_PATHS
    dialogs.answer("choice", "2: Two paths")
    desk.topology_files.import_page(page)
    # The run of the page has a seed different from that of its text.
    assert get_value(desk.documents.doc.data, ("seed",)) == 7
    told = desk.banners.text("import")
    assert told.startswith("Imported from two.html: Two paths.")
    assert store.run(numbers[1]).signature in told
    page.write_bytes(page.read_bytes().replace(b'"format":1', b'"format":9'))
    desk.topology_files.import_page(page)
    with pytest.raises(InputError) as refused:
        read_page(page).scenario()
    assert desk.banners.text("import") == str(refused.value)
    assert "format = 9: this version reads 1" in str(refused.value)


def test_a_page_brings_the_policies_that_its_runs_need(desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    store = desk.store
    policy = policy_folder() / "mine.safetensors"
    policy.parent.mkdir(parents=True, exist_ok=True)
    write_random_policy(policy, make_plan("confluence"), seed=3)
    text = set_value(TWO_PATHS, ("flows", "download", "controller"), {"name": "confluence", "policy": "mine"})
    run_id = present(RunJob(parse_scenario(text, algorithms=app_catalog()), text, store=store).run().run_id)
    page = write_page(store, [run_id], tmp_path / "learned.html")
    policy.unlink()
    desk.topology_files.import_page(page)
    (added,) = policy_folder().iterdir()
    assert f"Added to the library of policies: {added.stem}." in desk.banners.text("import")
    assert desk.documents.doc.problems == ()
    assert get_value(desk.documents.doc.data, ("flows", "download", "controller", "policy")) == added.stem


def test_graphml_has_the_topology_without_flows(desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    dialogs.answer("save_path", tmp_path / "net.graphml")
    desk.bar.trigger("file.export_graphml")
    assert [link.name for link in import_graph(tmp_path / "net.graphml").links] == ["wifi", "lte"]
    assert "flows" in desk.banners.text("left_out")
    assert "net.graphml" in desk.banners.text("export")


def test_a_script_for_a_testbed_says_what_differs(desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    dialogs.answer("choice", None, "Network namespaces of Linux")
    dialogs.answer("save_path", tmp_path / "net.sh")
    desk.bar.trigger("file.export_testbed")
    desk.bar.trigger("file.export_testbed")
    text = (tmp_path / "net.sh").read_text(encoding="utf-8")
    assert text.startswith("#!/usr/bin/env bash\n# Two paths: the network of a scenario")
    assert "ip link add name wifi" in text
    assert "differs from the simulation in" in desk.banners.text("left_out")
    desk.banners.press("left_out", "Details…")
    assert "tc counts 14 bytes" in dialogs.told[-1][1]


def test_the_drawing_is_a_figure_with_a_legend_and_words(desk: Desk, tmp_path: Path) -> None:
    def choose(dialog: FigureDialog) -> None:
        assert not dialog.format_buttons[DATA].isEnabled(), "a drawing has no table"
        dialog.style_box.choose("page")
        assert not dialog.height_mm.isEnabled(), "the shape of the network determines it"
        assert {"client", "download · wifi", "wifi: 8 Mbit/s, 10 ms"} <= {word.source for word in dialog.words.rows}
        dialog.set_word("client", "Phone")
        dialog.set_word("download · wifi", "over Wi-Fi")

    export_figure(desk, "file.export_drawing", tmp_path / "net.svg", choose)
    text = (tmp_path / "net.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).get("width") == "453.543307pt", "160 mm"
    for shown in ("Phone", "server", "over Wi-Fi", "download · lte", "wifi: 8 Mbit/s, 10 ms"):
        assert f">{shown}</text>" in text
    assert ">client</text>" not in text


def test_the_drawing_has_the_width_of_a_column(desk: Desk, tmp_path: Path) -> None:
    def choose(dialog: FigureDialog) -> None:
        dialog.style_box.choose("ieee")
        dialog.dpi.setValue(100)

    export_figure(desk, "file.export_drawing", tmp_path / "net.png", choose)
    image = QImage(str(tmp_path / "net.png"))
    assert image.width() == 350
    assert image.pixelColor(2, 2).name() == "#ffffff"
    assert len({image.pixelColor(x, y).name() for x in range(0, 350, 2) for y in range(0, image.height(), 2)}) > 3


def test_a_place_that_cannot_be_written_is_explained(desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    dialogs.answer("save_path", tmp_path / "none" / "net.graphml")
    desk.bar.trigger("file.export_graphml")
    assert "cannot be written" in desk.banners.text("export")
