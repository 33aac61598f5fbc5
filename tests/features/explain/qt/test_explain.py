"""Explaining a point: a click on a curve shows the decision behind it, even if the run recorded no decisions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QLabel, QMenu
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.present import present
from tests.helpers.window import TWO_PATHS

from subflow_app.features.explain.core.decisions import WorkedRule
from subflow_app.features.explain.core.explained import ExplainedDecision
from subflow_app.features.explain.core.replay import Replay
from subflow_app.features.explain.qt.feature import ExplainFeature, deciding_owner
from subflow_app.features.explain.qt.panel import prr_text
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.features.plots.qt.curve_id import CurveId
from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.script.qt.feature import ScriptFeature
from subflow_app.features.traces.core.traces import LiveTraces, StoredTraces, TraceMark, nearest_mark_s
from subflow_app.features.training.qt.agent_feature import AgentFeature
from subflow_app.foundation.resources import resource_path
from subflow_sim.decisions import DecisionLimits
from subflow_sim.scenario import parse_scenario

WITH_CROSS = (
    TWO_PATHS
    + """
[flows]
cross = { kind = "tcp", from = "server", to = "client", controller = "newreno", paths = [["lte"]] }
noise = { kind = "cbr", from = "server", to = "client", rate = "100kbit/s", paths = [["wifi"]] }
"""
)


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """A desk with explained decisions, the open panel, and the features that the panel opens."""
    made = make_desk(AgentFeature, PlayheadFeature, ExplainFeature, ScriptFeature)
    made.docks.set_open("explain", True)
    return made


def show_run(desk: Desk, qtbot: QtBot, decisions: DecisionLimits | None = None, text: str = TWO_PATHS) -> int:
    """Stores a run and shows it in the plots."""
    store = desk.store
    run_id = present(RunJob(parse_scenario(text), text, store=store, decisions=decisions).run().run_id)
    desk.shown.show_stored(store, [run_id])
    qtbot.waitUntil(lambda: len(desk.plots.runs) == 1)
    return run_id


def click(desk: Desk, owner: str, kind: str, time_s: float, run: int = 0) -> None:
    """Emits the signals of the plots for a click on a curve."""
    desk.plots.curve_clicked.emit(CurveId(run, owner, kind))
    desk.plots.time_clicked.emit(time_s)


def explained(desk: Desk, qtbot: QtBot) -> ExplainFeature:
    """The feature after it has found the requested decision."""
    feature = desk.features[ExplainFeature]
    qtbot.waitUntil(lambda: not feature.is_busy)
    return feature


def point_of(desk: Desk, qtbot: QtBot) -> ExplainedDecision:
    """The explained point, once it is found."""
    return present(explained(desk, qtbot).content.point)


def current(desk: Desk, run_id: int, owner: str, time_s: float) -> str:
    """Every number of a decision as text, in which NaN equals NaN."""
    return repr(Replay.stored(desk.store, run_id).explain(owner, time_s).current)


def test_a_click_tells_the_decision_and_its_formula_gives_the_drawn_change(desk: Desk, qtbot: QtBot) -> None:
    run_id = show_run(desk, qtbot)
    click(desk, "download/1", "subflow", 1.5)
    panel = explained(desk, qtbot).content
    point = present(panel.point)

    assert repr(point.told) == current(desk, run_id, "download/1", 1.5)
    assert [rule.is_same for rule in point.worked] == [True]
    assert "✓" in panel.worked.text()
    assert f"{point.told.time_s:.6f} s" in panel.where.text()
    assert "cwnd" in panel.change.text()
    assert "so it was simulated again" in panel.notice.text()
    assert panel.numbers.model().rowCount() == len(point.told.numbers)
    # The line in the plots marks the decision, not the click.
    assert desk.plots.stack.pin_s == point.told.time_s


def test_actions_walk_to_the_neighbours(desk: Desk, qtbot: QtBot) -> None:
    show_run(desk, qtbot, DecisionLimits())
    assert not desk.bar["explain.next"].isEnabled()
    click(desk, "download/2", "subflow", 1.0)
    first = point_of(desk, qtbot)
    desk.bar["explain.next"].trigger()
    second = point_of(desk, qtbot)
    desk.bar["explain.previous"].trigger()

    assert repr(point_of(desk, qtbot)) == repr(first)
    assert first.told.time_s <= 1.0 < second.told.time_s
    assert not first.is_resimulated
    content = desk.features[ExplainFeature].content
    assert not content.notice.isVisibleTo(content)


def test_the_panel_explains_the_point_that_was_clicked_before_it_opened(desk: Desk, qtbot: QtBot) -> None:
    show_run(desk, qtbot)
    desk.docks.set_open("explain", False)
    click(desk, "download/1", "subflow", 1.5)
    feature = desk.features[ExplainFeature]
    assert feature.shown is None or feature.shown.point is None
    desk.docks.set_open("explain", True)
    assert point_of(desk, qtbot).told.time_s <= 1.5


def test_clicks_beside_curves_and_on_links_explain_nothing(desk: Desk, qtbot: QtBot) -> None:
    show_run(desk, qtbot)
    desk.set_plot_shown("queue", True)
    feature = desk.features[ExplainFeature]
    desk.plots.time_clicked.emit(1.0)
    # The menu of a curve sends no time; a later click beside the curve does not belong to it.
    desk.plots.curve_clicked.emit(CurveId(0, "download/1", "subflow"))
    QApplication.processEvents()
    desk.plots.time_clicked.emit(1.0)
    click(desk, "wifi/forward", "link", 1.0)

    assert feature.content.point is None
    assert not feature.is_busy


def test_of_several_runs_the_clicked_one_is_explained(desk: Desk, qtbot: QtBot) -> None:
    first = show_run(desk, qtbot)
    text = TWO_PATHS.replace('"lia"', '"olia"')
    second = present(RunJob(parse_scenario(text), text, store=desk.store, name="The other").run().run_id)
    desk.shown.show_stored(desk.store, [first, second])
    qtbot.waitUntil(lambda: len(desk.plots.runs) == 2)
    click(desk, "download/1", "subflow", 1.9, run=1)
    panel = explained(desk, qtbot).content

    assert repr(present(panel.point).told) == current(desk, second, "download/1", 1.9)
    assert "The other" in panel.where.text()


def test_why_there_is_no_decision_is_said(desk: Desk, qtbot: QtBot) -> None:
    desk.store.add_tag(show_run(desk, qtbot), "kernel")
    click(desk, "download/1", "subflow", 1.0)
    panel = explained(desk, qtbot).content

    assert panel.point is None
    assert any("was measured, not simulated" in label.text() for label in panel.findChildren(QLabel))


def test_other_runs_take_the_decision_away(desk: Desk, qtbot: QtBot) -> None:
    show_run(desk, qtbot)
    click(desk, "download/1", "subflow", 1.0)
    feature = explained(desk, qtbot)
    assert feature.content.point is not None
    show_run(desk, qtbot)

    assert feature.content.point is None
    assert feature.possible() == {"explain.here"}


def test_a_source_opens_where_it_can_be_read(desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    show_run(desk, qtbot)
    desk.features[ExplainFeature].explain(0, "download/1", 0.021)  # the handshake is complete
    panel = explained(desk, qtbot).content

    assert 'href="https://www.rfc-editor.org/rfc/rfc6928"' in panel.source.text()
    panel.source.linkActivated.emit("https://www.rfc-editor.org/rfc/rfc6928")
    assert opened == ["https://www.rfc-editor.org/rfc/rfc6928"]


def test_who_decides_at_a_curve() -> None:
    job = RunJob(parse_scenario(WITH_CROSS), WITH_CROSS)
    job.stop()
    job.run()
    traces = job.traces
    assert isinstance(traces, LiveTraces | StoredTraces)

    assert deciding_owner(traces, "download/2", "subflow") == "download/2"
    assert deciding_owner(traces, "download", "flow") == "download"
    assert deciding_owner(traces, "cross", "flow") == "cross/1"
    assert deciding_owner(traces, "noise", "flow") is None


def test_a_closed_panel_says_how_to_explain_it(desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = show_run(desk, qtbot)
    desk.docks.set_open("explain", False)
    click(desk, "download/1", "subflow", 1.5)
    assert desk.features[ExplainFeature].content.point is None
    assert "1.500 s: Explain (Alt+Shift+Up) shows its cause" in desk.statusBar().currentMessage()
    desk.bar["explain.here"].trigger()
    assert desk.docks.is_open("explain")
    assert repr(point_of(desk, qtbot).told) == current(desk, run_id, "download/1", 1.5)

    # The chosen curve is explained without a click on it, at the time of the playhead, the crosshair or the line.
    desk.plots.time_clicked.emit(1.0)
    stack = desk.plots.stack
    # The opening menu takes the mouse out of the plots, and the crosshair returns to the line.
    leave = QEvent(QEvent.Type.Leave)
    monkeypatch.setattr(QMenu, "popup", lambda _menu, _position: QApplication.sendEvent(stack, leave))
    stack.set_cursor(1.0)
    desk.plots.curve_clicked.emit(CurveId(0, "download/2", "subflow"))
    desk.plots.menu_requested.emit(QPoint())
    desk.bar["explain.here"].trigger()
    told = point_of(desk, qtbot).told
    assert (told.owner, told.time_s <= 1.0) == ("download/2", True)


def test_the_way_to_a_decision_is_told_in_per_cent(desk: Desk, qtbot: QtBot) -> None:
    run_id = show_run(desk, qtbot)
    replay = Replay.stored(desk.store, run_id)
    shares: list[float] = []
    replay.explain("download/1", 1.9, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert any(0.0 < share < 1.0 for share in shares)
    panel = desk.features[ExplainFeature].content
    panel.set_waiting(True, 0.42)
    assert panel.progress.text() == "42%"
    assert panel.progress.isVisibleTo(panel)
    panel.set_waiting(True, 1.0)
    assert not panel.progress.isTextVisible()
    panel.set_waiting(False)
    assert not panel.progress.isVisibleTo(panel)


def test_the_button_leads_to_what_the_agent_saw(desk: Desk, qtbot: QtBot) -> None:
    agent = '{ name = "drl-cc", policy = "drl-cc-wide" }'
    show_run(desk, qtbot, text=TWO_PATHS.replace('"lia"', agent))
    desk.features[ExplainFeature].explain(0, "download/1", 1.525)
    point, feature = point_of(desk, qtbot), desk.features[ExplainFeature]
    assert point.told.cause == "action"
    assert point.agent is not None
    desk.docks.set_open("agent", True)
    desk.docks.raise_panel("explain")
    qtbot.waitUntil(lambda: feature.content.agent.isVisible())
    feature.content.agent.click()
    qtbot.waitUntil(desk.features[AgentFeature].panel.isVisible)
    assert present(desk.features[AgentFeature].content.replay).decision == point.agent


def test_a_reduction_by_prr_says_where_the_window_goes() -> None:
    def point(rule: str) -> Any:
        halving = WorkedRule("ssthresh", "max(194 / 2, 2)", 97.0, 97.0)
        told = SimpleNamespace(rule=SimpleNamespace(name=rule))
        return SimpleNamespace(told=told, reduced_by=object(), worked=(halving,))

    assert "ssthresh, 97 pkt, " in prr_text(point("proportional_rate_reduction"))
    assert prr_text(point("sack_recovery")) == ""


def test_a_click_within_six_pixels_of_a_loss_is_meant_for_it(desk: Desk, qtbot: QtBot) -> None:
    text = resource_path("scenarios/reno-sawtooth.toml").read_text(encoding="utf-8")
    show_run(desk, qtbot, text=text)
    traces = desk.plots.runs[0]
    loss_s = [mark.time_s for mark in traces.marks() if mark.kind == "loss"][-1]
    px_s = float(desk.plots.stack.time_plots[0].view.viewPixelSize()[0])
    assert px_s > 0

    playhead = desk.features[PlayheadFeature].playhead
    playhead.seek(1.0)
    for distance_px in (-5, 5):
        click(desk, "reno/1", "subflow", loss_s + distance_px * px_s)
        panel = explained(desk, qtbot).content
        assert present(panel.point).told.time_s == pytest.approx(loss_s)
        assert playhead.time_s == pytest.approx(loss_s)
        assert "Third duplicate ACK" in panel.where.text()
        # 169 packets fill pipe and queue; the window is halved.
        assert "ssthresh = max(168.992 / 2, 2) = 84.4959 pkt" in panel.worked.text()
        assert all(rule in panel.rule.text() for rule in ("halving", "sack recovery"))

    click(desk, "reno/1", "subflow", loss_s + 8 * px_s)
    assert point_of(desk, qtbot).told.time_s > loss_s


def test_the_nearest_of_several_losses_is_taken() -> None:
    marks = ((1.0, "a/1", "loss"), (1.1, "a/2", "loss"), (1.11, "a/1", "recovered"), (1.2, "a/1", "rto"))
    traces = RunJob(parse_scenario(TWO_PATHS), TWO_PATHS).traces
    traces.add_marks(TraceMark(time_s, owner, kind, 0.0) for time_s, owner, kind in marks)

    assert nearest_mark_s(traces, "a/1", 1.09, 0.2) == 1.0
    assert nearest_mark_s(traces, "a/1", 1.12, 0.2) == 1.2
    assert nearest_mark_s(traces, "a/1", 1.1, 0.05) == 1.1
    assert nearest_mark_s(traces, "b/1", 1.0, 0.2) == 1.0


DROPPING = (
    TWO_PATHS.replace('duration = "2s"', 'duration = "10s"') + '[[events]]\nat = "2s"\nlink = "wifi"\nup = false\n'
)


def first_loss(desk: Desk) -> TraceMark:
    """The first loss of the first subflow in the shown run."""
    return next(mark for mark in desk.plots.runs[0].marks() if (mark.kind, mark.owner) == ("loss", "download/1"))


def test_the_card_names_the_cause_the_notice_and_the_rule_and_draws_the_queue(desk: Desk, qtbot: QtBot) -> None:
    show_run(desk, qtbot, text=TWO_PATHS.replace('loss = "2%"', ""))
    mark = first_loss(desk)
    click(desk, "download/1", "subflow", mark.time_s)
    card = explained(desk, qtbot).content.card

    assert card.title.text().startswith("Window halved: ")
    assert card.rows["cause"].title.text() == "Dropped at wifi: its queue was full"
    assert "20 of 20 packets" in card.rows["cause"].text.text()
    assert card.rows["noticed"].title.text().startswith("The sender noticed ")
    assert card.rows["rule"].title.text().startswith("Rule: ")
    curve = present(present(card.rows["cause"].picture).curve)
    assert (curve.link, curve.limit_pkts, max(curve.pkts)) == ("wifi/reverse", 20, 20)
    assert present(card.rows["cause"].picture).grab().toImage().size().height() > 0
    assert [button.text() for button in card.try_buttons] == ["Try a longer queue at wifi"]


def test_explain_follows_the_playhead_and_reports_that_nothing_happened(desk: Desk, qtbot: QtBot) -> None:
    show_run(desk, qtbot, text=DROPPING)
    click(desk, "download/1", "subflow", 1.0)
    feature = explained(desk, qtbot)
    playhead = desk.features[PlayheadFeature].playhead
    playhead.seek(8.0)
    qtbot.waitUntil(lambda: present(feature.content.point).told.time_s > 2.0)

    story = present(feature.content.card.story)
    assert playhead.time_s == 8.0  # following does not move the playhead
    assert story.quiet.startswith("Nothing happened here: ")
    assert "wifi has been down since 2" in story.quiet.replace("\N{NO-BREAK SPACE}", " ")
    assert story.cause in ("down", "lost_acks")


def test_the_link_of_the_cause_moves_the_playhead_there(desk: Desk, qtbot: QtBot) -> None:
    show_run(desk, qtbot, text=TWO_PATHS.replace('loss = "2%"', ""))
    click(desk, "download/1", "subflow", first_loss(desk).time_s)
    card = explained(desk, qtbot).content.card
    card.rows["cause"].link.linkActivated.emit("#")

    at_s = present(present(card.story).queue).at_s
    assert desk.features[PlayheadFeature].playhead.time_s == pytest.approx(at_s)
    assert list(desk.topology.scene.chosen) == ["links.wifi"]
