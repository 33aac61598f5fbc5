"""The dialog for a new sweep: its fields, its feedback, and the resulting plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from tests.helpers.present import present
from tests.helpers.window import TWO_PATHS

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.editor.core.algorithm_choices import controller_choices
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.sweeps.core.axes import sweep_parameters
from subflow_app.features.sweeps.core.sweep_draft import estimate_draft
from subflow_app.features.sweeps.qt.new_dialog import NewSweepDialog, SweepSubject, SweepSuggestion
from subflow_app.toolkit.workers import Workers

CONTROLLER = "flows.download.controller"
LOSS = "links.wifi.loss"


@pytest.fixture
def dialog(qtbot: QtBot) -> Iterator[NewSweepDialog]:
    owner = QObject()
    workers = Workers(owner)
    doc = ScenarioDoc(TWO_PATHS, algorithms=app_catalog())
    subject = SweepSubject(
        "Two paths",
        sweep_parameters(doc),
        controller_choices(doc.data or {}, present(doc.scenario)),
        2,
        0.1,
        lambda draft: estimate_draft(draft, TWO_PATHS, None, None),
    )
    made = NewSweepDialog(subject, workers)
    qtbot.addWidget(made)
    made.show()
    yield made
    made.close()
    workers.finish_all()


def estimated(qtbot: QtBot, dialog: NewSweepDialog) -> None:
    """Waits until the dialog shows the estimate for its current fields."""
    dialog.estimate_now()
    qtbot.waitUntil(lambda: dialog._estimated == dialog.draft)


def test_suggests_the_controllers_with_five_seeds(dialog: NewSweepDialog, qtbot: QtBot):
    estimated(qtbot, dialog)
    assert dialog.controllers.values == ["lia", "olia"]
    assert dialog.start.isEnabled()
    assert dialog.answer is not None
    assert (dialog.answer.plan.keys, dialog.answer.plan.n_runs) == ((CONTROLLER,), 10)
    # The name contains the parameter that varies.
    assert dialog.answer.plan.name == dialog.name.placeholderText() == "Two paths by controller"
    assert dialog.estimate_text.text().startswith("10 runs, about ")


def test_the_choice_of_the_scenario_and_its_controller_by_itself_are_two(dialog: NewSweepDialog, qtbot: QtBot) -> None:
    text = TWO_PATHS.replace('"lia"', '{ name = "mpcc-loss", beta = 20 }')
    doc = ScenarioDoc(text, algorithms=app_catalog())
    subject = replace(
        dialog._subject,
        controllers=controller_choices(doc.data or {}, present(doc.scenario)),
        estimate=lambda draft: estimate_draft(draft, text, None, None),
    )
    made = NewSweepDialog(subject, dialog._workers)
    qtbot.addWidget(made)
    texts = [choice.text for choice in made.controllers.choices]
    assert texts[0] == "mpcc-loss, beta = 20"
    assert made.controllers.item_of(made.controllers.choices[0].value).checkState() == Qt.CheckState.Checked
    assert {"mpcc-loss, with its defaults", "bbr3", "mplibra, policy = mplibra-even"} <= set(texts)
    made.controllers.choose([made.controllers.choices[0].value, {"name": "mpcc-loss"}])
    told = "flows.download.controller = mpcc-loss: the options set for mpcc-loss (beta"
    assert made.replaced.text().startswith(told)
    estimated(qtbot, made)
    points = [point.values for point in present(made.answer).plan.points()]
    assert points == [({"name": "mpcc-loss", "beta": 20},), ({"name": "mpcc-loss"},)]
    made.controllers.choose(["mpcc-loss"])  # no entry has that value
    assert made.controllers.chosen == []


def test_a_controller_that_varies_twice_is_refused(dialog: NewSweepDialog) -> None:
    row = dialog.add_parameter(CONTROLLER, "balia, wvegas")
    assert "the key is swept twice" in row.problem.text()
    assert not dialog.start.isEnabled()
    dialog.remove_parameter(CONTROLLER)
    dialog.add_parameter(f"{CONTROLLER}.beta", "10, 20")
    # The controllers come first, which keeps the option.
    assert [key for key, _values in dialog.draft.axes] == [CONTROLLER, f"{CONTROLLER}.beta"]


def test_begins_with_what_is_suggested(dialog: NewSweepDialog, qtbot: QtBot):
    subject = replace(dialog._subject, suggestion=SweepSuggestion("1", compares_controllers=False))
    made = NewSweepDialog(subject, dialog._workers)
    qtbot.addWidget(made)
    assert (made.flow.currentIndex(), made.seeds.text()) == (0, "1")
    assert made.draft.axes == ()


def test_parameter_is_searched_taken_and_given_values(dialog: NewSweepDialog, qtbot: QtBot):
    dialog.parameters.search.setText("wifi loss")
    assert [parameter.key for parameter in dialog.parameters.model.rows] == [LOSS, "links.wifi.retransmission.loss"]
    qtbot.keyClick(dialog.parameters.search, Qt.Key.Key_Return)
    row = dialog.rows[0]
    assert row.key == LOSS
    assert not dialog.hint.isVisible()
    assert dialog.name.placeholderText() == "Two paths by loss, controller"
    # Enter confirmed the parameter and did not start the sweep.
    assert dialog.isVisible()
    assert not dialog.start.isEnabled()
    row.values.setText("1%..3%/3")
    assert row.count.text() == "3 values"
    estimated(qtbot, dialog)
    assert present(dialog.answer).plan.n_runs == 3 * 2 * 5
    row.removed.click()
    estimated(qtbot, dialog)
    assert present(dialog.answer).plan.keys == (CONTROLLER,)
    # Without a row, a hint explains how to add one.
    assert dialog.hint.isVisible()
    assert LOSS in dialog.hint.text()
    assert "vary already" in dialog.hint.text()
    dialog.controllers.choose([])
    assert "vary already" not in dialog.hint.text()


def test_tab_goes_through_the_dialog_as_one_reads(dialog: NewSweepDialog, qtbot: QtBot):
    estimated(qtbot, dialog)  # otherwise it cannot be started
    dialog.parameters.search.setFocus()
    seen = []
    for _ in range(12):
        QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Tab)
        seen.append(dialog.focusWidget().objectName())
    order = ["sweep_parameters", "sweep_add_parameter", "sweep_flow", "sweep_controllers", "sweep_kind", "sweep_seeds"]
    order += ["sweep_jobs", "sweep_traces", "sweep_name", "sweep_start"]
    assert [name for name in seen if name in order] == order


def test_problems_stand_beside_their_fields(dialog: NewSweepDialog, qtbot: QtBot):
    row = dialog.add_parameter(LOSS, "1%..5%")
    assert "lacks its number of values" in row.problem.text()
    assert not row.problem.isHidden()
    row.values.setText("1%, 200%")
    assert row.problem.isHidden()
    estimated(qtbot, dialog)
    assert "200%" in row.problem.text()
    assert dialog.answer is None
    dialog.seeds.setText("first")
    assert '"first" is not a seed' in dialog.seeds_problem.text()


def test_sweep_that_is_too_large_is_refused_with_its_estimate(dialog: NewSweepDialog, qtbot: QtBot):
    dialog.add_parameter(LOSS, "0%..50%/1000000000")
    estimated(qtbot, dialog)
    assert not dialog.start.isEnabled()
    assert "more than the limit of 100 000" in dialog.problem.text()
    assert "in the settings" in dialog.problem.text()
    assert "--max-runs" not in dialog.problem.text()
    assert "runs, about" in dialog.estimate_text.text()


def test_random_points_are_drawn_as_often_as_asked(dialog: NewSweepDialog, qtbot: QtBot):
    dialog.kind.setCurrentIndex(2)
    assert dialog.draws.isVisible()
    dialog.draws.setValue(7)
    dialog.add_parameter(LOSS, "1%..5%")
    estimated(qtbot, dialog)
    assert (present(dialog.answer).plan.kind, present(dialog.answer).plan.n_runs) == ("random", 35)


def test_a_row_completes_bare_numbers(dialog: NewSweepDialog, qtbot: QtBot) -> None:
    rate = dialog.add_parameter("links.wifi.rate")  # the value is 8Mbit/s
    qtbot.keyClicks(rate.values, "10, 30")
    assert dict(dialog.draft.axes)["links.wifi.rate"] == "10Mbit/s, 30Mbit/s"
    QTest.keyClick(rate.values, Qt.Key.Key_Return)

    assert rate.values.text() == "10Mbit/s, 30Mbit/s"


@pytest.mark.parametrize(
    ("key", "kind", "example"),
    [
        ("links.wifi.queue", 0, "10pkt, 20pkt, 40pkt   or   10pkt..40pkt/5"),
        ("links.wifi.queue", 1, "10pkt, 20pkt, 40pkt: as many values for each parameter"),
        ("links.wifi.queue", 2, "10pkt, 20pkt, 40pkt   or   10pkt..40pkt"),
        (LOSS, 0, "0.5%, 1%, 2%   or   0.5%..2%/5"),
    ],
)
def test_an_empty_row_shows_what_it_could_say(dialog: NewSweepDialog, key: str, kind: int, example: str) -> None:
    dialog.kind.setCurrentIndex(kind)

    assert dialog.add_parameter(key).values.placeholderText() == example


def test_nothing_moves_while_values_are_typed(dialog: NewSweepDialog, qtbot: QtBot):
    row = dialog.add_parameter(LOSS)

    def places(*fields: QWidget) -> list[tuple[int, int]]:
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        return [(field.mapTo(dialog, field.rect().topLeft()).y(), field.height()) for field in fields]

    fields: tuple[QWidget, ...] = (
        row.values,
        dialog.flow,
        dialog.seeds,
        dialog.traces,
        dialog.name,
        dialog.parameters.table,
    )
    qtbot.waitUntil(lambda: row.problem.isVisible())
    before = places(*fields)
    for values, told in (("1%", ""), ("1%, x", "value x"), ("1%, 2%", ""), ("1%..", "range")):
        row.values.setText(values)
        qtbot.waitUntil(row.problem.isVisible if told else row.problem.isHidden)
        assert told in row.problem.text()
        assert places(*fields) == before, (values, row.problem.text())

    dialog.remove_parameter(LOSS)
    fields = (dialog.flow, dialog.seeds, dialog.traces, dialog.name, dialog.parameters.table)
    estimated(qtbot, dialog)
    before = places(*fields)
    dialog.controllers.choose([])
    assert dialog.problem.isVisible()
    assert places(*fields) == before
