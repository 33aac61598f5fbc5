"""Comparing controllers from the window: the dialog, its progress, and the page that it opens."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk, export_figure
from tests.helpers.present import present
from tests.helpers.scripts import CONTROLLER
from tests.helpers.window import TWO_PATHS

from subflow_app.features.comparison.qt.dialog import CompareDialog
from subflow_app.features.comparison.qt.feature import CompareFeature
from subflow_app.features.exporting.qt.export_dialog import FigureDialog
from subflow_app.features.sweeps.core.sweep_job import SweepJob
from subflow_app.features.sweeps.qt.feature import SweepFeature
from subflow_app.foundation.jobs.progress import JobState

STEADY = TWO_PATHS.replace('loss = "1%"\n', "")
LOSS = "links.wifi.loss"


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(CompareFeature, SweepFeature)


def opened(qtbot: QtBot, desk: Desk, text: str = TWO_PATHS) -> CompareDialog:
    """The dialog for a scenario, with its first estimate."""
    if text != TWO_PATHS:
        desk.documents.open_text(text, "scenario")
        desk.document_stack.setClean()
    desk.bar.trigger("run.compare")
    dialog = desk.features[CompareFeature].dialog
    assert dialog is not None
    estimated(qtbot, dialog)
    return dialog


def estimated(qtbot: QtBot, dialog: CompareDialog) -> None:
    dialog.estimate_now()
    qtbot.waitUntil(lambda: dialog.estimate is not None)


def choose(qtbot: QtBot, dialog: CompareDialog, *names: str) -> None:
    dialog.controllers.choose(names)
    estimated(qtbot, dialog)


def test_a_script_is_compared_with_the_standard_controller_at_first(qtbot: QtBot, desk: Desk) -> None:
    script = f"\n[controllers.mine]\nscript = \"mine.py\"\ncontent = '''\n{CONTROLLER}'''\n"
    text = TWO_PATHS.replace('controller = "lia"', 'controller = "mine"') + script
    dialog = opened(qtbot, desk, text)
    assert dialog.controllers.values == ["mine", "lia"]
    dialog.reject()


def compared(qtbot: QtBot, desk: Desk, runs: int) -> CompareFeature:
    """Waits for the page of a comparison."""
    feature = desk.features[CompareFeature]
    qtbot.waitUntil(lambda: feature.dialog is None and len(feature.view.page.model.rows) == runs)
    return feature


def heard(dialog: CompareDialog) -> list[str]:
    """Texts of the visible buttons."""
    buttons = (dialog.close_button, dialog.other, dialog.go)
    return [button.text() for button in buttons if not button.isHidden()]


def test_two_controllers_are_compared_over_five_seeds(qtbot: QtBot, desk: Desk) -> None:
    dialog = opened(qtbot, desk)
    assert dialog.controllers.values == ["lia"]
    assert dialog.draft.seeds == "7..11"  # from the seed of the scenario
    assert dialog.notice.isHidden()  # the losses are random
    choose(qtbot, dialog, "lia", "olia")
    assert (dialog.chosen.text(), dialog.count.text(), heard(dialog)) == ("2 chosen", "10 runs", ["Cancel", "Compare"])
    assert dialog.cost.text().startswith("10 to simulate: about ")
    dialog.go.click()
    feature = compared(qtbot, desk, 10)
    page = feature.view.page
    assert (page.title.text(), page.subtitle.text()) == ("lia against olia", "Two paths · 5 seeds each · 10 runs")
    assert {run.controllers for run in desk.history.runs()} == {"lia", "olia"}
    # The comparison is a sweep, which its panel lists.
    (entry,) = desk.features[SweepFeature].session.entries()
    assert (entry.name, entry.state, entry.runs) == ("lia against olia", "finished", 10)
    # Each measure has a figure with a dot for each run, and numbers for each group.
    assert [figure.title for figure in page.figures][:2] == ["Goodput", "Mean RTT"]
    assert len({figure.title for figure in page.figures}) == len(page.figures)
    for figure, row in zip(page.figures, page.rows, strict=True):
        assert len(figure.hits) == len(row.plot.hits()) == 10
        assert [line.label for line in figure.lines] == ["lia", "olia"]
        assert figure.lines[0].difference == ""
        assert figure.lines[1].result in ("better", "worse", "unclear")
        assert figure.lines[1].p.startswith("p ")
    assert page.lead.text().startswith("olia compared with lia: ")


def test_the_figures_are_exported_with_their_table(qtbot: QtBot, desk: Desk, tmp_path: Path) -> None:
    assert not desk.bar["compare.export_figure"].isEnabled()
    dialog = opened(qtbot, desk)
    choose(qtbot, dialog, "lia", "olia")
    dialog.seeds.setValue(2)
    dialog.go.click()
    page = compared(qtbot, desk, 4).view.page

    def rename(asked: FigureDialog) -> None:
        asked.style_box.choose("page")
        asked.data.setChecked(True)
        assert [box.text() for box in asked.plots] == [figure.title for figure in page.figures]
        asked.set_word("olia", "OLIA (RFC draft)")

    export_figure(desk, "compare.export_figure", tmp_path / "figure.svg", rename)
    text = (tmp_path / "figure.svg").read_text()
    for shown in ("lia", "OLIA (RFC draft)", *(figure.title for figure in page.figures)):
        assert f">{shown}</text>" in text
    assert ">olia</text>" not in text
    assert "lia" in (tmp_path / "figure.csv").read_text()


def test_a_run_is_one_click_away_and_two_steps_lead_back(qtbot: QtBot, desk: Desk) -> None:
    choose(qtbot, opened(qtbot, desk), "lia", "olia")
    dialog = desk.features[CompareFeature].dialog
    assert dialog is not None
    dialog.seeds.setValue(2)
    dialog.go.click()  # the start waits for the estimate
    page = compared(qtbot, desk, 4).view.page
    page.list.selectRow(3)
    run = page.model.rows[3]
    assert all(len(row.plot._ring.data) == 1 for row in page.rows)  # its dots are ringed
    with qtbot.waitSignal(desk.shown.changed):
        QTest.keyClick(page.list, Qt.Key.Key_Return)
    assert desk.shown.ids == {run.run.id}
    assert "olia, seed 8" in desk.banners.text("compared_run")
    desk.banners.press("compared_run", "Back to the comparison")
    assert desk.docks.front_of("plots") == "compare"
    assert desk.bar["compare.back"].isEnabled()
    desk.bar.trigger("compare.back")
    assert desk.docks.front_of("plots") == "plots"
    assert not desk.bar["compare.back"].isEnabled()
    with qtbot.waitSignal(desk.shown.changed):
        page.all.click()
    assert len(desk.shown.ids) == 4
    # A click on a dot selects its run.
    page.rows[0].plot.chosen.emit(page.figures[0].hits[0])
    assert [index.row() for index in page.list.selectionModel().selectedRows()] == [0]


def test_the_comparison_shown_can_be_changed_and_turned_around(qtbot: QtBot, desk: Desk) -> None:
    choose(qtbot, opened(qtbot, desk), "lia", "olia")
    feature = desk.features[CompareFeature]
    dialog = present(feature.dialog)
    dialog.seeds.setValue(2)
    dialog.varied.choose(LOSS)
    dialog.values.setText("1%")
    before = dialog.draft
    dialog.go.click()
    page = compared(qtbot, desk, 4).view.page
    # A click on the name of a group makes it the reference.
    plot = page.rows[0].plot
    area = plot.mapFromScene(plot.view.sceneBoundingRect()).boundingRect()
    name = QPoint(max(area.left() - 12, 2), round(area.top() + 0.75 * area.height()))
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=name)
    qtbot.waitUntil(lambda: [line.difference == "" for line in page.figures[0].lines] == [False, True])
    # The dots of the run under the mouse are ringed in all figures, until the mouse leaves.
    plot.pointed.emit(page.figures[0].hits[0])
    assert all(len(row.plot._ring.data) == 1 for row in page.rows)
    assert all(len(row.plot.hits()) == 4 for row in page.rows)
    plot.pointed.emit(None)
    assert all(len(row.plot._ring.data) == 0 for row in page.rows)
    # The dialog opens as it was.
    assert page.change.isVisibleTo(page)
    page.change.click()
    assert present(feature.dialog).draft == before
    present(feature.dialog).reject()
    # Stored runs that are tabulated have no dialog to return to.
    feature.compare_runs(sorted(row.run.id for row in page.model.rows))
    qtbot.waitUntil(lambda: not page.change.isVisibleTo(page))


def test_seeds_that_are_one_run_are_told_with_a_way_to_make_them_differ(qtbot: QtBot, desk: Desk) -> None:
    dialog = opened(qtbot, desk, STEADY)
    choose(qtbot, dialog, "lia", "olia")
    assert dialog.notice.text.text() == "Nothing in this scenario is random: 5 seeds are one run."
    assert dialog.count.text() == "2 runs"
    dialog.apart.click()
    estimated(qtbot, dialog)
    assert dialog.count.text() == "10 runs"
    assert not dialog.apart.isHidden()  # so that it can be switched off again
    assert desk.documents.doc.text == STEADY
    dialog.apart.click()
    estimated(qtbot, dialog)
    dialog.go.click()
    page = compared(qtbot, desk, 2).view.page
    assert page.lead.text() == "One run each: no interval, and no verdict."
    assert page.figures[0].lines[1].result == ""


def test_one_more_parameter_varies_with_its_suggested_values(qtbot: QtBot, desk: Desk) -> None:
    dialog = opened(qtbot, desk)
    dialog.varied.choose(LOSS)
    assert dialog.values.text() == "0.5%, 1%, 2%"
    choose(qtbot, dialog, "lia", "olia")
    assert dialog.count.text() == "30 runs"
    dialog.values.setText("1, many")
    estimated(qtbot, dialog)
    assert "many" in dialog.problem.text()
    assert not dialog.go.isEnabled()
    # The keys of the controllers vary already.
    assert dialog.varied.findData("flows.download.controller") < 0


def test_what_cannot_start_says_why(qtbot: QtBot, desk: Desk) -> None:
    dialog = opened(qtbot, desk)
    choose(qtbot, dialog)
    assert dialog.problem.text() == "Choose controllers to compare."
    assert not dialog.go.isEnabled()
    choose(qtbot, dialog, "lia")
    dialog.seeds.setValue(1)
    estimated(qtbot, dialog)
    assert "two runs or more" in dialog.problem.text()


def test_the_list_is_filtered_by_typing_and_escape_clears(qtbot: QtBot, desk: Desk) -> None:
    dialog = opened(qtbot, desk)
    controls = dialog.controllers
    headings = [controls.item(0).text(), controls.item(2).text()]
    assert headings == ["In the scenario", "Built in"]
    QTest.keyClicks(controls, "ol")
    assert dialog.filter.text() == "ol"
    shown = [controls.item(row).text() for row in range(controls.count()) if not controls.item(row).isHidden()]
    assert shown[:2] == ["Built in", "olia"]
    assert "lia" not in shown
    assert controls.values == ["lia"]  # hidden, and still chosen
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialog.filter.text() == ""
    assert dialog.isVisible()
    # A click anywhere on a line ticks it, and Space does.
    line = controls.visualItemRect(controls.item_of("olia"))
    QTest.mouseClick(controls.viewport(), Qt.MouseButton.LeftButton, pos=line.center())
    assert controls.values == ["lia", "olia"]
    QTest.keyClick(controls, Qt.Key.Key_Space)
    assert controls.values == ["lia"]
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert desk.features[CompareFeature].dialog is None


def slowed(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Lets a comparison wait after its second run until the returned function is called."""
    go_on, make = threading.Event(), SweepJob._keep

    def keep(job: SweepJob, *arguments: object) -> None:
        make(job, *arguments)  # type: ignore[arg-type] # passed on
        while job.progress.finished >= 2 and not job.is_stopped and not go_on.wait(0.02):
            pass

    monkeypatch.setattr(SweepJob, "_keep", keep)
    return go_on.set


def test_cancelling_keeps_what_has_run_and_the_rest_follows(
    qtbot: QtBot, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = slowed(monkeypatch)
    dialog = opened(qtbot, desk)
    choose(qtbot, dialog, "lia", "olia")
    dialog.go.click()
    qtbot.waitUntil(lambda: dialog.count.text() == "2 of 10 runs")
    assert heard(dialog) == ["Cancel, keep 2 runs", "Continue in background"]
    assert not dialog.controllers.isEnabled()
    assert not dialog.bar.isHidden()
    dialog.close_button.click()
    qtbot.waitUntil(lambda: heard(dialog) == ["Close", "Run the other 8", "Show these 2"])
    assert dialog.notice.text.text() == "Cancelled. The 2 runs that had ended are kept."
    go_on()
    dialog.other.click()
    page = compared(qtbot, desk, 10).view.page
    assert page.subtitle.text().endswith("10 runs")
    assert len(desk.history.runs()) == 10
    assert len(desk.features[SweepFeature].session.entries()) == 1


def test_a_cancelled_comparison_shows_the_runs_that_it_has(
    qtbot: QtBot, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    slowed(monkeypatch)
    dialog = opened(qtbot, desk)
    choose(qtbot, dialog, "lia", "olia")
    dialog.go.click()
    qtbot.waitUntil(lambda: dialog.count.text() == "2 of 10 runs")
    dialog.close_button.click()
    qtbot.waitUntil(lambda: dialog.go.text() == "Show these 2")
    dialog.go.click()
    assert compared(qtbot, desk, 2).view.page.subtitle.text().endswith("2 of 10 runs")


def test_in_the_background_it_ends_with_a_message(qtbot: QtBot, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = slowed(monkeypatch)
    dialog = opened(qtbot, desk)
    dialog.seeds.setValue(2)
    choose(qtbot, dialog, "lia", "olia")
    dialog.go.click()
    qtbot.waitUntil(lambda: dialog.go.text() == "Continue in background")
    dialog.go.click()
    assert desk.features[CompareFeature].dialog is None
    go_on()
    qtbot.waitUntil(lambda: desk.banners.text("comparison") == "lia against olia is done.")
    desk.banners.press("comparison", "Show")
    compared(qtbot, desk, 4)


def test_a_failed_run_is_told(qtbot: QtBot, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = SweepJob._keep

    def refuse(job: SweepJob, wanted: object, outcome: object) -> None:
        if job.progress.finished == 1 and not job.progress.failed:
            job._give_up(wanted, "out of memory")  # type: ignore[arg-type] # passed on
        else:
            keep(job, wanted, outcome)  # type: ignore[arg-type] # passed on

    monkeypatch.setattr(SweepJob, "_keep", refuse)
    dialog = opened(qtbot, desk)
    dialog.seeds.setValue(2)
    choose(qtbot, dialog, "lia", "olia")
    dialog.go.click()
    qtbot.waitUntil(lambda: dialog.job is not None and dialog.job.state is JobState.FAILED)
    qtbot.waitUntil(lambda: dialog.go.text() == "Show these 3")
    assert "out of memory" in dialog.notice.text.text()
    texts = [item.data(Qt.ItemDataRole.AccessibleDescriptionRole) for item in dialog.controllers._items]
    assert sum("1 failed" in text for text in texts) == 1
