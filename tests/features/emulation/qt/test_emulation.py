"""Run > On this computer: programs, needs, the run with its output and changes, and the simulation over it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from pytestqt.qtbot import QtBot
from tests.helpers import fake_emulation
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.fake_emulation import FakeEmulation
from tests.helpers.present import present
from tests.helpers.window import TWO_PATHS

from subflow_app.features.comparison.core.conditions import group_runs
from subflow_app.features.emulation.core import readiness
from subflow_app.features.emulation.qt.dialog import EmulationDialog
from subflow_app.features.emulation.qt.feature import EmulationFeature
from subflow_app.features.emulation.qt.panel import ProgramsPanel
from subflow_app.features.explain.core.replay import Replay
from subflow_app.features.explain.qt.feature import ExplainFeature
from subflow_app.features.forking.qt.feature import ForkFeature
from subflow_app.features.history.core.run_names import run_names
from subflow_app.features.kernel.core.probe import Machine
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.features.running.qt.queue import QueueSession
from subflow_app.features.script.qt.feature import ScriptFeature
from subflow_app.features.training.qt.agent_feature import AgentFeature
from subflow_app.foundation.errors import InputError

Ask = Callable[[], EmulationDialog]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeEmulation]:
    return fake_emulation.install(monkeypatch.setattr)


@pytest.fixture
def desk(make_desk: MakeDesk, fake: type[FakeEmulation]) -> Desk:
    made = make_desk(EmulationFeature)
    assert made.session is not None  # made on first use, which then shows runs
    return made


@pytest.fixture
def ask(desk: Desk, qtbot: QtBot) -> Ask:
    """Opens the dialog, and waits for its check."""

    def opened() -> EmulationDialog:
        desk.bar.trigger("run.emulate")
        dialog = present(desk.features[EmulationFeature].dialog)
        qtbot.waitUntil(lambda: dialog.start.isEnabled() or dialog.problem.isVisible())
        return dialog

    return opened


def dialog_says(dialog: EmulationDialog, text: str) -> bool:
    return text in dialog.problem.text()


def panel_of(desk: Desk) -> ProgramsPanel:
    return present(desk.features[EmulationFeature].shown)


def test_iperf3_runs_over_the_network_and_the_simulation_is_drawn_over_it(desk: Desk, qtbot: QtBot, ask: Ask) -> None:
    dialog = ask()
    assert dialog.commands.toPlainText().splitlines() == [
        "client: iperf3 --server --one-off --forceflush",
        "server: iperf3 --client client --time 1 --forceflush",
    ]
    assert dialog.mptcp.isChecked()
    assert "Linux has no lia" in dialog.notes.text()
    dialog.start.click()
    qtbot.waitUntil(lambda: not desk.runs.is_running and bool(desk.banners.text("emulation")))
    assert "iperf3 │ iperf3 <b>runs</b> on client" in panel_of(desk).text.toPlainText()
    assert "iperf3 ended at 2 s" in panel_of(desk).state.text()
    row = desk.store.run(1)
    assert (row.tags, row.status, present(row.summary)["emulation"]["is_reliable"]) == (("emulated",), "finished", True)
    assert "at most 0.06 ms late, all at most 0.3 ms" in desk.banners.text("emulation")
    assert "Run 1 on this computer: 99 % of packets at most 0.06 ms late" in desk.plots._results.text
    desk.banners.press("emulation", "Overlay the simulation")
    qtbot.waitUntil(lambda: desk.shown.ids == {1, 2} and not desk.runs.is_running)
    assert desk.store.run(2).tags == ()
    assert [name.rpartition(": ")[2] for name in run_names(desk.plots.runs)] == ["programs", "simulated"]


def test_presets_are_added_removed_and_checked(desk: Desk, qtbot: QtBot, ask: Ask) -> None:
    dialog = ask()
    dialog.add.click()
    dialog.rows[0].preset.choose("web")
    dialog.rows[1].preset.choose("ping")
    dialog.seconds.setValue(5)
    qtbot.waitUntil(lambda: "ping" in dialog.commands.toPlainText())
    server, curl, ping = dialog.commands.toPlainText().splitlines()
    assert server == "server: python3 -u -m http.server 8000 --directory FOLDER"
    assert curl.endswith("http://server:8000/download")
    assert ping == "server: ping -i 0.2 -w 5 client"
    for text, reason in (("20", '"20" is not a size'), ("2000GB", "not between 1 B and 1 TB")):
        dialog.rows[0].text.setText(text)
        qtbot.waitUntil(partial(dialog_says, dialog, reason))
        assert not dialog.start.isEnabled()
    dialog.rows[0].remove.click()
    (row,) = dialog.rows
    row.peer.choose("server")
    qtbot.waitUntil(lambda: "ping needs two different nodes, not server twice." in dialog.problem.text())
    row.preset.choose("command")
    qtbot.waitUntil(lambda: "The command is empty" in dialog.problem.text())
    assert not row.peer.isVisible()
    row.text.setText("echo $HOME | wc")
    qtbot.waitUntil(dialog.start.isEnabled)
    assert dialog.commands.toPlainText() == "server: sh -c 'echo $HOME | wc'"
    row.remove.click()
    qtbot.waitUntil(lambda: "No program is chosen" in dialog.problem.text())


def test_everything_that_is_missing_has_one_sentence(
    desk: Desk, qtbot: QtBot, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacks = {"namespace": "no namespaces here", "mptcp": "no MPTCP here"}
    monkeypatch.setattr(readiness, "machine", lambda: Machine("6.1", (), lacks))
    monkeypatch.setattr(readiness, "missing_programs", lambda programs: [f"no {each.name} here" for each in programs])
    drops = TWO_PATHS.replace('loss = "1%"', 'drops = ["download/1:17"]')
    desk.documents.open_text(drops, "drops")
    dialog = ask()
    lines = dialog.problem.text().splitlines()
    assert "scripted drops" in lines[1]
    assert lines[2:] == ["no namespaces here", "no iperf3 here", "no iperf3 here"]
    assert not dialog.start.isEnabled()


def test_links_and_programs_change_while_they_run(
    desk: Desk, qtbot: QtBot, ask: Ask, fake: type[FakeEmulation], monkeypatch: pytest.MonkeyPatch
) -> None:
    live = desk.live
    dialog = ask()
    dialog.seconds.setValue(600)
    qtbot.waitUntil(dialog.start.isEnabled)
    dialog.start.click()
    panel = panel_of(desk)
    qtbot.waitUntil(lambda: panel.program.count() == 3)
    desk.runs.toggle_pause()
    assert not desk.runs.is_paused
    desk.topology.select("flows.download")
    assert not live.isVisible()
    desk.topology.select("links.wifi")
    qtbot.waitUntil(live.isVisible)
    with qtbot.waitSignal(desk.runs.live_changed):
        live._want_of_link("rate", "2Mbit/s")
    with qtbot.waitSignal(desk.runs.live_changed):
        live._up.click()
    assert fake.last.changes == [
        {"link": "wifi", "direction": "both", "rate_bps": 2e6},
        {"link": "wifi", "direction": "both", "up": False},
    ]
    with qtbot.waitSignal(desk.runs.live_refused) as refused:
        desk.runs.change({"flow": "download", "subflow": 1, "open": False})
    assert "only links can be changed" in refused.args[0]
    panel.node.setCurrentText("server")
    panel.command.setText("hostname")
    panel.start.click()
    qtbot.waitUntil(lambda: "sh │ sh <b>runs</b> on server" in panel.text.toPlainText())
    panel.program.setCurrentIndex(3)
    assert panel.text.toPlainText() == "sh <b>runs</b> on server"
    panel.end.click()
    qtbot.waitUntil(lambda: "ended by signal 15" in panel.state.text())
    job = present(desk.runs.job)
    with pytest.raises(InputError, match="was measured, not simulated"):
        Replay.live(job)
    desk.runs.stop()
    qtbot.waitUntil(lambda: not desk.runs.is_running)
    row = desk.store.run(1)
    assert row.tags == ("emulated",)
    assert str(row.scenario_text).count("[[events]]") == 2
    assert not panel.command.isEnabled()


def test_a_late_emulator_is_reported_wherever_its_numbers_are_read(
    desk: Desk, qtbot: QtBot, ask: Ask, fake: type[FakeEmulation], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fake, "lateness", {"p50_s": 1e-4, "p99_s": 2e-3, "max_s": 5e-3})
    ask().start.click()
    qtbot.waitUntil(lambda: not desk.runs.is_running and bool(desk.banners.text("emulation")))
    late = "unreliable, this computer was too slow or too busy: 99 % of packets at most 2 ms late"
    assert late in desk.banners.text("emulation")
    assert late in desk.plots._results.text
    row = desk.store.run(1)
    assert row.tags == ("emulated", "unreliable")
    assert any(late in notice for notice in group_runs([row, row]).notices)


def test_a_failed_worker_is_reported(
    desk: Desk, qtbot: QtBot, ask: Ask, fake: type[FakeEmulation], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fake, "refusal", "veth cannot be made")
    ask().start.click()
    qtbot.waitUntil(lambda: bool(desk.banners.topics()))
    assert any("veth cannot be made" in desk.banners.text(topic) for topic in desk.banners.topics())


def test_a_run_of_programs_is_explained_by_its_values_and_not_forked(
    make_desk: MakeDesk, fake: type[FakeEmulation], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = (QueueSession, AgentFeature, PlayheadFeature, ExplainFeature, ForkFeature, ScriptFeature, EmulationFeature)
    desk = make_desk(*kinds)
    assert desk.session is not None
    desk.bar.trigger("run.emulate")
    dialog = present(desk.features[EmulationFeature].dialog)
    qtbot.waitUntil(dialog.start.isEnabled)
    dialog.start.click()
    qtbot.waitUntil(lambda: not desk.runs.is_running and bool(desk.banners.text("emulation")))
    explain = desk.features[ExplainFeature]
    said: list[tuple[str, str]] = []
    monkeypatch.setattr(explain.content, "show_nothing", lambda title, text: said.append((title, text)))
    explain.explain(0, "download/1", 1.0)
    ((title, text),) = said
    assert title == "A measured point"
    assert "cwnd: 52 → 53 packets" in text
    with pytest.raises(InputError, match="it cannot be forked"):
        desk.features[ForkFeature].fork_shown()


def test_this_machine_runs_a_command_on_a_node(make_desk: MakeDesk, qtbot: QtBot) -> None:
    if reasons := readiness.machine().reasons_against():
        pytest.skip("; ".join(reasons))
    desk = make_desk(EmulationFeature)
    assert desk.session is not None
    desk.bar.trigger("run.emulate")
    dialog = present(desk.features[EmulationFeature].dialog)
    (row,) = dialog.rows
    row.preset.choose("command")
    row.node.choose("server")
    row.text.setText("getent hosts client; exit 3")
    dialog.mptcp.setChecked(False)
    dialog.seconds.setValue(1)
    qtbot.waitUntil(lambda: dialog.readiness is not None and dialog.start.isEnabled())
    dialog.start.click()
    qtbot.waitUntil(lambda: not desk.runs.is_running and bool(desk.banners.text("emulation")), timeout=60_000)
    assert "client" in panel_of(desk).text.toPlainText()
    assert "ended with code 3" in panel_of(desk).state.text()
    emulation = present(desk.store.run(1).summary)["emulation"]
    assert emulation["programs"][0]["node"] == "server"
    assert emulation["lateness"] is None or emulation["lateness"]["p99_s"] >= 0
