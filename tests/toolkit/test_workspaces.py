"""Workspaces arrange the panels for a task, and each keeps the changes of the person."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton, QWidget
from pytestqt.qtbot import QtBot
from tests.helpers.present import child, present
from tests.helpers.qt_fixtures import OpenWindow
from tests.helpers.window import at_rest
from tests.helpers.worn_window import close_window

from subflow_app.features.gallery.core import recipe_reader
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.foundation.resources import use_language
from subflow_app.shell.main_window import MainWindow
from subflow_app.toolkit.widgets.banner import Way
from subflow_app.toolkit.workspaces import ARRANGEMENTS, DEFAULT_WORKSPACE, PANELS, SIDE_WIDTH, WORKSPACES


@pytest.fixture(autouse=True)
def _no_experiments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty gallery, because the gallery of some workspaces would read all experiments for each database."""
    (tmp_path / "experiments").mkdir()
    monkeypatch.setattr(recipe_reader, "experiments_folder", lambda: tmp_path / "experiments")


def opened(window: MainWindow) -> set[str]:
    return {name for name in PANELS if window.docks.is_open(name)}


def show(window: MainWindow, name: str) -> None:
    window.bar.trigger(f"view.workspace_{name}")


def arrange(window: MainWindow, name: str, *size: int) -> None:
    """Shows a workspace in its default layout, in a window of this size."""
    if size:
        window.resize(QSize(*size))
    show(window, name)
    window.workspaces.reset()
    QApplication.processEvents()


def test_every_workspace_is_arranged_and_every_panel_has_its_place() -> None:
    assert set(ARRANGEMENTS) == set(WORKSPACES)
    assert {place.name for arrangement in ARRANGEMENTS.values() for place in arrangement.places} == set(PANELS)
    for arrangement in ARRANGEMENTS.values():
        assert {place.name for place in arrangement.places} <= set(PANELS)


def test_workspaces_open_the_panels_of_their_task(window: MainWindow) -> None:
    for name in WORKSPACES:
        show(window, name)

        assert opened(window) == {place.name for place in ARRANGEMENTS[name].places if place.is_open}, name
        assert window.bar[f"view.workspace_{name}"].isChecked()
        is_checked = {panel: window.bar[f"view.{panel}"].isChecked() for panel in PANELS}
        assert is_checked == {panel: window.docks.is_open(panel) for panel in PANELS}, name


@pytest.mark.parametrize(
    "name",
    [
        name if name == DEFAULT_WORKSPACE else pytest.param(name, marks=pytest.mark.full("each panel opened once more"))
        for name in WORKSPACES
    ],
)
def test_any_panel_can_be_closed_and_opened(window: MainWindow, name: str) -> None:
    show(window, name)
    for panel in PANELS:
        window.docks.set_open(panel, False)
        window.docks.set_open(panel, True)
        assert panel in opened(window)
    # The panels of the column are shown one at a time.
    column = set(ARRANGEMENTS[name].column)
    assert len(opened(window) & column) <= 1
    assert opened(window) - column == set(PANELS) - column


def test_reset_is_for_the_present_workspace_or_for_all(window: MainWindow) -> None:
    for action, topology in (("view.reset_layout", set()), ("view.reset_layouts", {"topology"})):
        window.docks.set_open("topology", False)
        show(window, "design")
        window.bar.trigger("view.inspector")
        window.bar.trigger(action)
        assert "inspector" in opened(window)
        show(window, DEFAULT_WORKSPACE)
        assert opened(window) & {"topology"} == topology


def test_tool_button_says_which_workspace_is_shown(window: MainWindow) -> None:
    show(window, "analyse")

    button = child(window, QToolButton, "workspace_button")
    assert button.text().startswith("Analysis")
    assert "Analysis" in button.accessibleName()


@pytest.mark.parametrize(
    "size",
    [
        (1280, 720),
        pytest.param((1920, 1080), marks=pytest.mark.full("the smallest has the least room")),
        pytest.param((3840, 2160), marks=pytest.mark.full("the smallest has the least room")),
    ],
)
def test_workspaces_leave_room_for_their_panels(window: MainWindow, size: tuple[int, int]) -> None:
    window.resize(QSize(*size))
    for name in WORKSPACES:
        arrange(window, name)

        for panel in ARRANGEMENTS[name].places:
            widget = window.docks.content(panel.name)
            if widget.isVisible():
                least = SIDE_WIDTH if name == DEFAULT_WORKSPACE else 300
                assert widget.width() >= least, (size, name, panel.name)
                assert widget.height() >= 130, (size, name, panel.name)
        if name not in ("design", "train", "study"):  # in these, another page covers the plots
            assert window.plots.width() >= 300, (size, name)
            assert window.plots.height() >= 200, (size, name)


# The page in front in those workspaces where the plots are in another tab.
MAIN_PAGES = {"design": "topology", "study": "sweeps", "train": "train"}


def share(window: MainWindow, widget: QWidget) -> float:
    seen = widget.visibleRegion().boundingRect()
    return seen.width() * seen.height() / (window.width() * window.height())


@pytest.mark.parametrize(
    ("size", "least_of_run"),
    [pytest.param((1366, 768), 0.45, marks=pytest.mark.full("the smaller has less room")), ((1280, 720), 0.42)],
)
def test_plots_take_much_of_a_small_window(
    window: MainWindow, run_once: Callable[[], int], size: tuple[int, int], least_of_run: float
) -> None:
    window.resize(QSize(*size))
    run_once()
    for name in WORKSPACES:
        arrange(window, name)
        if name in MAIN_PAGES:
            assert window.docks.front_of("plots") == MAIN_PAGES[name]
            # Not by its visible region: a page covered by its own parts would count as hidden.
            page = window.docks.content(MAIN_PAGES[name])
            assert page.isVisible()
            assert page.width() * page.height() >= 0.45 * window.width() * window.height(), name
            window.docks.raise_panel("plots")
            QApplication.processEvents()
        # The area of the plots with titles and axes, without the legend.
        # The plots of a lab are narrower to leave room for its text and the form, but not lower.
        least = least_of_run if name == "run" else 0.24 if name == "lab" else 0.35
        assert share(window, window.plots.stack.viewport()) >= least, name
        assert len(window.plots.stack.plots) == 3
        assert all(plot.item.height() >= 100 for plot in window.plots.stack.plots), name


def test_a_lab_has_room_for_its_words_and_for_the_form_in_a_small_window(window: MainWindow) -> None:
    # The room within a frame on a screen of 1366x768.
    arrange(window, "lab", 1358, 732)
    assert window.docks.content("lab").height() >= 0.75 * window.height()
    assert window.inspector.isVisible()
    assert window.topology.isVisible()
    # The form has room for at least six fields.
    area = present(window.inspector.form.parentWidget())
    assert area.height() >= 6 * 26
    # No field is cut off at its side, in any language.
    for code in ("en", "de"):
        use_language(code)
        try:
            for part in ("", "flows.download", "links.wifi"):
                window.inspector.show_key("nodes.phone")  # the form is built anew
                window.inspector.show_key(part)
                content = present(window.inspector.form.widget())
                assert content.minimumSizeHint().width() <= window.inspector.form.viewport().width(), (code, part)
        finally:
            use_language("en")
    tools = [button for button in window.topology.tools.findChildren(QToolButton) if button.isVisible()]
    assert all(button.geometry().bottom() <= window.topology.tools.height() for button in tools)


def test_canvas_and_plots_take_turns_in_drawing(window: MainWindow, run_once: Callable[[], int]) -> None:
    arrange(window, "design")
    assert window.docks.front_of("plots") == "topology"

    run_once()
    assert window.docks.front_of("plots") == "plots"
    QTest.mouseClick(window.docks.tab("topology"), Qt.MouseButton.LeftButton)
    assert window.topology.isVisible()
    # A change by the inspector keeps the curves in front; drawing and opening show the topology.
    window.docks.raise_panel("plots")
    window.bar.trigger("edit.undo")
    assert window.plots.isVisible()
    for draw in (
        lambda: window.bar.trigger("topology.tool_host"),
        lambda: window.documents.new(),
        lambda: window.bar.trigger("topology.paste"),
    ):
        window.topology.select("nodes.client")
        window.bar.trigger("topology.copy")
        window.docks.raise_panel("plots")
        draw()
        assert window.topology.isVisible()
        window.bar.trigger("topology.tool_select")


def test_another_panel_is_not_covered_by_the_canvas(window: MainWindow) -> None:
    arrange(window, "lab")
    window.docks.raise_panel("agent")

    window.documents.new()

    assert window.docks.front_of("inspector") == "agent"


def folded(window: MainWindow) -> bool:
    return not window.history.isVisible() and window.docks.is_open("history")


def test_history_folds_to_a_line_in_a_low_window(qtbot: QtBot, window: MainWindow, run_once: Callable[[], int]) -> None:
    run_once()
    window.resize(1366, 1000)
    show(window, "analyse")
    assert not folded(window)

    window.resize(1366, 768)
    assert folded(window)
    place = child(window, QToolButton, "panel_fold")
    qtbot.waitUntil(lambda: place.text().startswith("1 run   Newest: Two paths"))
    high = window.plots.height()

    # The same button shows and hides the list, with the mouse and with the keyboard.
    QTest.mouseClick(place, Qt.MouseButton.LeftButton)
    assert window.history.isVisible()
    assert window.history.height() > 100
    QTest.keyClick(place, Qt.Key.Key_Space)
    assert folded(window)
    QApplication.processEvents()
    assert window.plots.height() == high
    window.bar.trigger("view.fold")
    assert not folded(window)
    window.bar.trigger("view.fold")
    assert folded(window)

    # A search for a run shows the list.
    window.find_run()
    assert not folded(window)

    # The same applies to any other panel there: opened by its tab, from the View menu, or by a click on a curve.
    for ask in (
        lambda: QTest.mouseClick(window.docks.tab("explain"), Qt.MouseButton.LeftButton),
        lambda: window.docks.set_open("explain", True),
        lambda: window.docks.raise_panel("explain"),
    ):
        window.docks.raise_panel("events")
        window.bar.trigger("view.fold")
        assert not window.docks.content("events").isVisible()
        ask()
        qtbot.waitUntil(window.docks.content("explain").isVisible)
        assert window.docks.content("explain").height() > 100


def test_what_was_chosen_about_the_history_is_kept(qtbot: QtBot, open_window: OpenWindow) -> None:
    first = open_window()
    first.resize(1366, 768)
    show(first, "lab")
    assert folded(first)
    first.bar.trigger("view.fold")
    show(first, "analyse")
    assert folded(first)
    close_window(qtbot, first)

    second = open_window()
    second.resize(1366, 768)
    assert folded(second)
    show(second, "lab")
    assert not folded(second)
    second.resize(1366, 1000)
    second.resize(1366, 700)
    assert not folded(second)
    second.workspaces.reset()
    assert folded(second)


def places(window: MainWindow) -> list[QRect]:
    parts = (window.plots, window.topology, window.inspector, window.features[PlayheadFeature].strip)
    return [QRect(part.mapTo(window, QPoint()), part.size()) for part in parts]


def settled(qtbot: QtBot, window: MainWindow) -> list[QRect]:
    """Places of the parts after the layout has settled."""
    qtbot.waitUntil(at_rest(lambda: places(window)))
    return places(window)


def test_nothing_moves_for_a_run_or_a_banner(qtbot: QtBot, window: MainWindow, run_once: Callable[[], int]) -> None:
    window.resize(1366, 768)
    before = settled(qtbot, window)

    run_once()
    assert settled(qtbot, window) == before

    window.banners.show_banner("told", "warning", "Something happened. " * 20)
    assert settled(qtbot, window) == before
    strip = window.features[PlayheadFeature].strip
    banner = QRect(window.banners.mapTo(window, QPoint()), window.banners.size())
    assert banner.height() > 20
    # Over the plots, and clear of the time bar and the form.
    assert window.rect().contains(banner)
    assert banner.bottom() < strip.mapTo(window, QPoint()).y()
    assert not banner.intersects(QRect(window.inspector.mapTo(window, QPoint()), window.inspector.size()))

    window.banners.close_banner("told")
    assert window.banners.isHidden()
    assert settled(qtbot, window) == before


def test_a_banner_covers_neither_the_words_of_a_lab_nor_the_form(window: MainWindow, qtbot: QtBot) -> None:
    arrange(window, "lab", 1358, 732)
    settled(qtbot, window)
    ways = [Way("Choose another file…", lambda: None), Way("Try again", lambda: None)]
    window.banners.show_banner("told", "error", "Something happened. " * 20, ways)
    for panel in (window.docks.content("lab"), window.inspector):
        place = QRect(panel.mapTo(window, QPoint()), panel.size())
        at = QRect(window.banners.mapTo(window, QPoint()), window.banners.size())
        assert at.width() > 400
        assert not at.intersects(place)
    window.banners.close_banner("told")


def test_what_a_study_shows_goes_to_where_it_has_room(window: MainWindow) -> None:
    shown = {"gallery.show": "gallery", "arena.show": "arena", "history.tabulate": "compare"}
    for action, panel in shown.items():
        show(window, "design")
        assert window.bar[action].isEnabled()

        window.bar.trigger(action)

        assert window.workspaces.current == "study"
        assert window.docks.front_of("plots") == panel
        # Other panels are hidden: a banner leads back to them.
        window.banners.press("workspace", "Back to Drawing")
        assert window.workspaces.current == "design", panel
    window.bar.trigger("script.show")
    assert window.workspaces.current == "script"


def test_a_visit_leads_back_until_a_workspace_is_chosen(window: MainWindow) -> None:
    show(window, "design")
    window.docks.set_open("explain", True)
    assert not window.workspaces.can_go_back
    window.workspaces.visit("compare")
    assert (window.workspaces.current, window.docks.front_of("plots")) == ("study", "compare")
    window.workspaces.go_back()
    # The panels are those that were left, not the initial ones.
    assert window.workspaces.current == "design"
    assert window.docks.is_open("explain")
    assert not window.workspaces.can_go_back
    window.workspaces.visit("compare")
    show(window, "train")
    assert not window.workspaces.can_go_back
    window.workspaces.go_back()
    assert window.workspaces.current == "train"


def test_a_panel_stays_where_the_workspace_or_somebody_has_put_it(window: MainWindow) -> None:
    show(window, "analyse")
    window.bar.trigger("history.tabulate")
    assert window.workspaces.current == "analyse"

    show(window, "run")
    window.docks.set_open("compare", True)
    window.bar.trigger("history.tabulate")
    assert window.workspaces.current == "run"
