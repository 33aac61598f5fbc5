"""The journey of a person with only the window: draws T-10b, runs LIA and OLIA, reads fairness, exports.

    QT_SCALE_FACTOR=2 python -m tests.helpers.journey FOLDER

All actions use the means of a person: mouse and keys on the canvas, fields of the inspector, actions. The journey
writes pictures of the window into FOLDER for viewing, with the figure (PDF) and the data (CSV).
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QElapsedTimer, QPoint, QPointF, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from tests.helpers.inspector import choice_editor, choose, type_text
from tests.helpers.window import ScriptedDialogs, make_window

from subflow_app.shell.main_window import MainWindow

SIZE = QSize(1400, 900)
THEMES = ("light", "dark", "contrast")

# Places on the canvas; routers are drawn after the hosts, and keep the names given by the window.
HOSTS = {
    "h1": (-400, -200),  # a TCP flow over the upper bottleneck
    "h2": (-400, 0),  # the multipath sender
    "h3": (-400, 200),  # a TCP flow over the lower bottleneck
    "h4": (400, -200),
    "h5": (400, 0),
    "h6": (400, 200),
}
ROUTERS = {"r1": (-140, -100), "r2": (140, -100), "r3": (-140, 100), "r4": (140, 100)}
BOTTLENECKS = (("r1", "r2"), ("r3", "r4"))
ACCESS = (
    ("h1", "r1"),
    ("h2", "r1"),
    ("h2", "r3"),
    ("h3", "r3"),
    ("r2", "h4"),
    ("r2", "h5"),
    ("r4", "h5"),
    ("r4", "h6"),
)
FLOWS = (("h2", "h5", "mptcp"), ("h1", "h4", "tcp"), ("h3", "h6", "tcp"))
_TIMEOUT_MS = 60_000


class Journey:
    """The stages of the journey in order; each leaves the window in the initial state of the next."""

    def __init__(self, window: MainWindow, dialogs: ScriptedDialogs, folder: Path) -> None:
        self.window = window
        self.dialogs = dialogs
        self.folder = folder
        self.run_ids: dict[str, int] = {}

    def draw(self) -> None:
        """Hosts, routers, links and flows on an empty canvas."""
        window = self.window
        window.bar.trigger("file.new_empty")
        window.bar.trigger("view.workspace_design")
        QApplication.processEvents()
        canvas = window.topology.canvas
        window.activateWindow()
        canvas.setFocus()
        # The canvas must show the whole drawing, for which a person may zoom out.
        while canvas.zoom > 0.75:
            window.bar.trigger("view.zoom_out")
        for key, places in ((Qt.Key.Key_H, HOSTS), (Qt.Key.Key_R, ROUTERS)):
            QTest.keyClick(canvas, key)
            for place in places.values():
                QTest.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=self._pixel(*place))
        QTest.keyClick(canvas, Qt.Key.Key_L)
        for first, second in (*BOTTLENECKS, *ACCESS):
            self._pull(first, second)
        self._set("links.l1", {"rate": "5Mbit/s", "delay": "60ms"})
        self._set("links.l2", {"rate": "5Mbit/s", "delay": "60ms"})
        for number in range(3, 3 + len(ACCESS)):
            self._set(f"links.l{number}", {"rate": "1Gbit/s", "delay": "0ms", "queue": "1000pkt"})
        canvas.setFocus()
        QTest.keyClick(canvas, Qt.Key.Key_T)
        for source, destination, kind in FLOWS:
            self._pull(source, destination)
            dialog = window.drawing.flows.dialog
            assert dialog is not None
            dialog.kind.setCurrentText(kind)
            dialog.kind.activated.emit(dialog.kind.currentIndex())
            if kind == "mptcp":
                self.picture("1-paths")
                self.picture("1-flow", dialog)
            dialog.accept_button.click()
            # Without a screen, no window manager returns the keyboard focus to the window.
            window.activateWindow()
            canvas.setFocus()
            self.wait_for(canvas.hasFocus)
        QTest.keyClick(canvas, Qt.Key.Key_V)
        self._set("", {"name": "T-10b by hand", "duration": "120s", "warmup": "20s"})
        self.picture("2-drawn")

    def run(self, controller: str) -> None:
        """Runs the multipath flow under this controller to the end."""
        window = self.window
        before = len(window.history.runs())
        choose(choice_editor(window.inspector, "flows.f1.controller"), controller)
        window.bar.trigger("view.workspace_run")
        window.bar.trigger("run.speed_express")
        window.bar.trigger("run.toggle")
        self.wait_for(lambda: not window.runs.is_running and window.database.store is not None)
        self.wait_for(lambda: len(window.history.runs()) == before + 1)
        self.run_ids[controller] = window.history.runs()[0].id
        self.picture(f"3-{controller}")

    def compare(self) -> None:
        """Overlays both runs: throughput, Jain's index over time, and a bar of the index for each run."""
        window = self.window
        window.bar.trigger("view.workspace_analyse")
        window.history.select(list(self.run_ids.values()))
        window.bar.trigger("history.open")
        for plot in ("cwnd", "rtt"):
            window.bar.trigger(f"view.plot_{plot}")
        for plot in ("jain", "fairness_bars"):
            window.bar.trigger(f"view.plot_{plot}")
        for theme in THEMES:
            window.bar.trigger(f"view.theme_{theme}")
            self.picture(f"4-fairness-{theme}")
        window.bar.trigger(f"view.theme_{THEMES[0]}")

    def export(self) -> tuple[Path, Path]:
        """Exports a figure as wide as a column of an IEEE paper, and its data."""
        window = self.window
        figure, data = self.folder / "fairness.pdf", self.folder / "fairness.csv"
        self.dialogs.answer("save_path", figure, data)
        written: list[object] = []
        window.exports.written.connect(written.append)
        window.bar.trigger("file.export_figure")
        self._choose_column()
        self.wait_for(lambda: len(written) == 1)
        window.bar.trigger("file.export_data")
        self.wait_for(lambda: len(written) == 2)
        return figure, data

    def picture(self, name: str, widget: QWidget | None = None) -> None:
        """Writes a picture of the window, or of a dialog in front of it."""
        for _ in range(5):
            QApplication.processEvents()
        (widget or self.window).grab().save(str(self.folder / f"{name}.png"))

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Lets the window work until the condition holds.

        Raises:
            TimeoutError: if it does not hold within a minute.
        """
        clock = QElapsedTimer()
        clock.start()
        while not condition():
            QTest.qWait(5)
            if clock.elapsed() > _TIMEOUT_MS:
                raise TimeoutError("the window did not get there")

    # --- inside -----------------------------------------------------------------------------------------------------

    def _choose_column(self) -> None:
        dialog = self.window.exports.dialog
        assert dialog is not None
        dialog.style_box.setCurrentIndex(dialog.style_box.findData("ieee"))
        dialog.format_buttons["pdf"].setChecked(True)
        self.wait_for(lambda: dialog.preview.is_up_to_date)
        self.picture("5-figure", dialog)
        dialog.export_button.click()

    def _set(self, part: str, values: Mapping[str, str]) -> None:
        for key, text in values.items():
            type_text(self.window.inspector, f"{part}.{key}" if part else key, text)

    def _pixel(self, x: float, y: float) -> QPoint:
        return self.window.topology.canvas.mapFromScene(QPointF(x, y))

    def _pull(self, first: str, second: str) -> None:
        canvas = self.window.topology.canvas
        places = self.window.topology.scene.node_positions()
        start, end = (canvas.mapFromScene(places[name]) for name in (first, second))
        QTest.mousePress(canvas.viewport(), Qt.MouseButton.LeftButton, pos=start)
        for share in (0.1, 0.5, 1.0):
            QTest.mouseMove(canvas.viewport(), start + (end - start) * share)
        QTest.mouseRelease(canvas.viewport(), Qt.MouseButton.LeftButton, pos=end)


def main(folder: Path) -> None:
    """The whole journey, in a separate window."""
    from subflow_app.shell.app import make_application

    folder.mkdir(parents=True, exist_ok=True)
    application = make_application([])
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["XDG_DATA_HOME"] = scratch
        dialogs = ScriptedDialogs()
        window = make_window(application, Path(scratch), database=Path(scratch) / "subflow.db", dialogs=dialogs)
        window.resize(SIZE)
        window.show()
        window.load()
        journey = Journey(window, dialogs, folder)
        journey.wait_for(lambda: not window.database.is_opening)
        journey.draw()
        journey.run("lia")
        journey.run("olia")
        journey.compare()
        journey.export()
        window.close_at_once()


if __name__ == "__main__":
    # Before Qt reads it: the pictures must not depend on this machine's screen.
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    main(Path(sys.argv[1]))
