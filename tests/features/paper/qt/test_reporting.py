"""Reports on the selected runs with the chosen figures, and a message without a selection."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pypdf import PdfReader
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.paper.qt.report_dialog import ReportDialog
from subflow_app.features.paper.qt.reporting import rows


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(actions=rows())


Choose = Callable[[Callable[[ReportDialog], None]], None]


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch) -> Choose:
    """Lets a function answer the next dialog."""

    def answer_with(function: Callable[[ReportDialog], None]) -> None:
        def answer(dialog: ReportDialog) -> int:
            function(dialog)
            return int(ReportDialog.DialogCode.Accepted)

        monkeypatch.setattr(ReportDialog, "exec", answer)

    return answer_with


def test_report_on_chosen_runs(
    qtbot: QtBot, desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path, choose: Choose
) -> None:
    assert not desk.bar["file.export_report"].isEnabled()
    numbers = [desk.run_once(), desk.run_once()]
    desk.history.select(numbers)

    def html(dialog: ReportDialog) -> None:
        dialog.kind.setCurrentIndex(dialog.kind.findData("html"))
        assert not dialog.page.isEnabled()
        dialog.heading.setText("Lab 1")
        for box in dialog.boxes:
            box.setChecked(box.objectName() == "report_plot_cwnd")

    choose(html)
    dialogs.answer("save_path", tmp_path / "lab.html")

    with qtbot.waitSignal(desk.exports.written, timeout=60_000):
        desk.bar.trigger("file.export_report")

    text = (tmp_path / "lab.html").read_text()
    assert "<title>Lab 1 – Subflow report</title>" in text
    assert "Report on 2 runs" in text
    assert "Congestion window, 2 runs" in text
    assert "Throughput, 2 runs" not in text
    assert str(tmp_path / "lab.html") in desk.banners.text("export")
    assert dialogs.asked[-1][1][2].name == "two-paths-report.html"
    assert desk.preferences.settings.last_export_directory == str(tmp_path)


def test_report_on_the_shown_run(
    qtbot: QtBot, desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path, choose: Choose
) -> None:
    desk.run_once()
    desk.history.select([])
    choose(lambda dialog: dialog.page.setCurrentIndex(dialog.page.findData("letter")))
    dialogs.answer("save_path", tmp_path / "report.pdf")

    with qtbot.waitSignal(desk.exports.written, timeout=60_000):
        desk.bar.trigger("file.export_report")

    # Letter is 8.5 in wide.
    assert PdfReader(tmp_path / "report.pdf").pages[0].mediabox.width == 612
    # A failure to write is reported.
    for name, why in (("gone/x.pdf", "choose another folder"), ("x.docx", "reports are written as .html or .pdf")):
        dialogs.answer("save_path", tmp_path / name)
        with qtbot.waitSignal(desk.exports.failed, timeout=60_000):
            desk.bar.trigger("file.export_report")
        assert why in desk.banners.text("export")
    assert list(tmp_path.glob("x*")) == []
