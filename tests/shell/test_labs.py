"""Labs in the window: parts named by a step are found and outlined, and the text has room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.labs import small_lab
from tests.helpers.present import child

from subflow_app.features.labs.core import lab_file
from subflow_app.features.labs.core.lab import Target
from subflow_app.features.labs.qt.feature import LabFeature
from subflow_app.features.labs.qt.places import place_of, reveal
from subflow_app.features.labs.qt.step_page import StepPage
from subflow_app.features.labs.qt.teacher import Teacher
from subflow_app.features.plots.core import PLOTS_BY_ID
from subflow_app.shell.main_window import MainWindow
from subflow_app.toolkit.plotting.plot_scroll import PlotScroll


@pytest.fixture
def labs(window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Teacher]:
    """The teacher with only the small lab in its list."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    lab = small_lab(tmp_path)
    monkeypatch.setattr(lab_file, "shipped_labs", lambda: [lab])
    feature = window.features[LabFeature]
    if feature.made is not None:
        feature.made._read_labs()
    window.bar.trigger("study.labs")
    teacher = feature.session
    yield teacher
    teacher.to_list()
    teacher.begun = teacher._doc = teacher._evidence = teacher._step = None


@pytest.fixture
def page(labs: Teacher, qtbot: QtBot) -> StepPage:
    """The first step of the lab just begun."""
    labs.panel.list.begin.click()
    qtbot.waitUntil(lambda: labs.begun is not None)
    return labs.panel.step


def test_the_button_that_a_step_speaks_of_is_outlined(labs: Teacher, page: StepPage, window: MainWindow) -> None:
    button = window.toolbar.widgetForAction(window.bar["run.toggle"])
    middle = button.mapTo(window, button.rect().center())
    assert any(place.contains(middle) for place in labs.spotlight.places)


def test_a_plot_below_the_fold_is_scrolled_to(window: MainWindow, run_once: Callable[[], int], qtbot: QtBot) -> None:
    window.resize(1358, 732)
    for plot_id in ("cwnd", "rtt", "queue", "utilisation", "goodput", "inflight", "drops", "loss_ratio"):
        window.set_plot_shown(plot_id, True)
    run_once()
    scroll = child(window.plots, PlotScroll)
    qtbot.waitUntil(lambda: scroll.verticalScrollBar().maximum() > 150)
    scroll.verticalScrollBar().setValue(0)
    target = Target("plot", "utilisation")
    reveal(window, target)
    qtbot.waitUntil(lambda: scroll.verticalScrollBar().value() > 0)
    place = place_of(window, target)
    seen = QRect(scroll.viewport().mapTo(window, QPoint()), scroll.viewport().size())
    assert place is not None
    assert seen.contains(place)
    assert place.height() > 60
    scroll.verticalScrollBar().setValue(0)
    place = place_of(window, target)
    assert place is None or seen.contains(place)


def test_help_is_of_the_lab_where_it_is_under_the_mouse(
    labs: Teacher, page: StepPage, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The text of a step takes no keyboard focus.
    monkeypatch.setattr(QApplication, "focusWidget", lambda: window.toolbar)
    monkeypatch.setattr(QApplication, "widgetAt", lambda _position: page.step_title)
    window.bar.trigger("help.panel")
    assert window.help.page == "lab"


def test_a_small_window_shows_sixteen_lines_of_the_text(page: StepPage, window: MainWindow, qtbot: QtBot) -> None:
    # The room within a frame on a screen of 1366x768; the missing action takes two lines below the text.
    window.resize(1358, 732)
    window.workspaces.reset()
    page.say("What is missing. " * 6)
    QApplication.processEvents()

    assert page.scrolled.viewport().height() >= 16 * page.text.fontMetrics().lineSpacing()


def test_what_a_step_speaks_of_is_found(window: MainWindow) -> None:
    targets = ["link:wifi", "node:client", "flow:download", "panel:topology", "panel:sweeps", "field:links.wifi.loss"]
    for target in targets:
        kind, _, name = target.partition(":")
        window.bar.trigger("view.workspace_lab")
        window.workspaces.reset()
        reveal(window, Target(kind, name))
        QApplication.processEvents()
        place = place_of(window, Target(kind, name))
        assert place is not None, target
        assert window.rect().contains(place.center()), target
        assert place_of(window, Target(kind, "none")) is None


def test_a_field_of_another_form_is_pointed_at_where_its_part_is_drawn(window: MainWindow) -> None:
    window.bar.trigger("view.workspace_lab")
    for link in ("lte", "wifi"):
        reveal(window, Target("field", f"links.{link}.loss"))
    QApplication.processEvents()
    assert place_of(window, Target("field", "links.lte.loss")) == place_of(window, Target("link", "lte"))


def test_all_of_the_window_that_the_shipped_labs_speak_of_is_there(window: MainWindow) -> None:
    window.resize(1400, 900)
    window.bar.trigger("view.workspace_lab")
    window.workspaces.reset()
    steps = [step for lab in lab_file.shipped_labs() for step in lab.steps]
    together = {tuple(each for each in step.shows if each.kind in ("panel", "action")) for step in steps}
    plots = {each.name for step in steps for each in step.shows if each.kind == "plot"}
    missing: list[Target | str] = [*sorted(plots - PLOTS_BY_ID.keys())]
    for targets in together:
        for target in reversed(targets):
            reveal(window, target)
        seen, places = window.rect(), {target: place_of(window, target) for target in targets}
        missing += [each for each, place in places.items() if place is None or not seen.contains(place)]
    assert missing == []
