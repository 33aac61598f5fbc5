"""The gallery of topologies for new scenarios."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from tests.helpers.desk import MakeDesk
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.core.templates import TEMPLATES, examples
from subflow_app.features.editor.qt.template_gallery import TemplateGallery
from subflow_app.foundation.resources import scenario_names
from subflow_app.shell.actions.file import file_rows


@pytest.fixture
def gallery(qtbot: QtBot) -> TemplateGallery:
    made = TemplateGallery()
    qtbot.addWidget(made)
    made.show()
    return made


def test_every_template_and_example_has_a_picture_a_name_and_a_sentence(gallery: TemplateGallery, qtbot: QtBot) -> None:
    model = gallery.list.model()
    assert model.rowCount() == len(scenario_names())
    assert all(example.sentence.endswith(".") for example in examples())
    qtbot.waitUntil(lambda: not gallery._drawing.isActive(), timeout=30_000)
    for row in range(model.rowCount()):
        index = model.index(row, 0)
        assert not index.data(Qt.ItemDataRole.DecorationRole).isNull()
        assert index.data(Qt.ItemDataRole.AccessibleTextRole)


def test_it_is_used_by_keyboard(gallery: TemplateGallery, qtbot: QtBot) -> None:
    QTest.keyClick(gallery.list, Qt.Key.Key_Down)
    assert gallery.template is TEMPLATES[1]
    with qtbot.waitSignal(gallery.accepted):
        QTest.keyClick(gallery.list, Qt.Key.Key_Return)


def test_a_search_finds_an_example_by_its_words(gallery: TemplateGallery) -> None:
    gallery.search.setText("fq-codel call")
    assert gallery.template.scenario not in {template.scenario for template in TEMPLATES}
    text, name = gallery.answer
    assert name.endswith(" (example)")
    assert ScenarioDoc(text).is_valid
    gallery.search.setText("no such network")
    assert not gallery.create_button.isEnabled()


def test_values_go_into_the_scenario(gallery: TemplateGallery) -> None:
    gallery.choose("t-10b")
    gallery.fields["Rate of each path"].setText("12Mbit/s")
    doc = ScenarioDoc(gallery.text)
    assert doc.value("links.top.rate") == doc.value("links.bottom.rate") == "12Mbit/s"


def test_a_value_that_cannot_be_keeps_it_from_being_created(gallery: TemplateGallery) -> None:
    gallery.choose("t-10b")
    gallery.fields["Rate of each path"].setText("12 parsecs")
    assert "Rate of each path" in gallery.problem.text()
    assert not gallery.create_button.isEnabled()
    gallery.accept()
    assert gallery.isVisible()


def test_the_action_opens_a_scenario_without_a_file(make_desk: MakeDesk, dialogs: ScriptedDialogs) -> None:
    desk = make_desk(actions=file_rows())
    text = TEMPLATES[3].document().text
    dialogs.answer("TemplateGallery", None, (text, "t-10b"))
    before = desk.documents.doc.text
    desk.bar.trigger("file.new_template")
    assert desk.documents.doc.text == before
    desk.bar.trigger("file.new_template")
    assert desk.documents.doc.text == text
    assert desk.documents.doc.path is None
    assert desk.documents.shown_name == "t-10b"
