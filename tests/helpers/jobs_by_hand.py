"""Common jobs with real mouse and keyboard, from the empty start of a new user, with the number of acts that they take.

    python -m tests.helpers.jobs_by_hand compare [--pictures FOLDER] [--theme dark] [--language de]

`figure` ends with the cause of a point. `emulate` runs a fake in place of real programs. `after` opens runs of a
comparison, and `states` shows its dialog in its other states. Prints a JSON document with the clicks and keys of each
job. A step without its result, a warning or an error ends the program with 1.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QLabel, QMenu, QPushButton, QToolButton, QWidget
from tests.helpers import fake_emulation
from tests.helpers.printed_code import ROOT, blocks
from tests.helpers.real_hands import RealHands, window_manager
from tests.helpers.walk.hands import front_dialog
from tests.helpers.window import TWO_PATHS, fall_of_window
from tests.helpers.x_screen import on_own_screen

from subflow_app.features.comparison.qt.feature import CompareFeature
from subflow_app.features.emulation.qt.feature import EmulationFeature
from subflow_app.features.explain.qt.feature import ExplainFeature
from subflow_app.features.script.qt.desk import NewScriptDialog
from subflow_app.features.script.qt.feature import ScriptFeature
from subflow_app.features.training.qt.session import TrainingSession
from subflow_app.shell.help_dialogs import WelcomeDialog
from subflow_app.shell.main_window import MainWindow
from subflow_app.shell.selftest.window_story import Until, play

JOBS = ("compare", "figure", "controller", "training", "emulate", "after", "states")


SCRIPT = next(
    block.text for block in blocks(ROOT / "docs" / "write-a-controller.md") if block.saved_as == "scalable.py"
)
"""The first controller of the guide."""
LONG = TWO_PATHS.replace('duration = "2s"', 'duration = "200s"')


def reached_s(window: MainWindow) -> float:
    """Time that the run in progress has reached, s; 0 without a run."""
    return 0.0 if window.runs.progress is None else window.runs.progress.sim_time_s


class Jobs:
    """The jobs; each is a story for `play`."""

    def __init__(self, pictures: Path | None) -> None:
        """Pictures are written to the folder, if given."""
        self._pictures = pictures
        self._taken = 0
        self.hands = RealHands()
        self.acts: dict[str, dict[str, int]] = {}

    def compare(self, window: MainWindow) -> Iterator[Until]:
        """LIA against OLIA in the demo: from the welcome of a first start to the comparison."""
        yield from self._demo(window)
        yield from self._ask(window, self.hands)
        yield from self._compare(window, self.hands, runs=2)
        self._count("compare")

    def _demo(self, window: MainWindow) -> Iterator[Until]:
        """Runs the demo by its door of the welcome."""
        yield Until("the welcome", lambda: isinstance(front_dialog(), WelcomeDialog))
        welcome = front_dialog()
        assert isinstance(welcome, WelcomeDialog)
        yield from self._picture(window, "welcome")
        yield from self.hands.click(welcome.doors["demo"])
        yield Until("the demo to run", lambda: window.runs.is_running and window.isActiveWindow())

    def _ask(self, window: MainWindow, hands: RealHands) -> Iterator[Until]:
        """Opens the dialog by its button, and chooses OLIA, too."""
        feature = window.features[CompareFeature]
        button = window.toolbar.widgetForAction(window.bar["run.compare"])
        assert isinstance(button, QWidget)
        yield from hands.click(button)
        yield Until("the dialog", lambda: feature.dialog is not None and feature.dialog.isActiveWindow())
        dialog = feature.dialog
        assert dialog is not None
        yield Until("the estimate", lambda: dialog.estimate is not None)
        line = dialog.controllers.visualItemRect(dialog.controllers.item_of("olia"))
        yield from hands.click(dialog.controllers.viewport(), line.center())
        yield Until("OLIA to be chosen", lambda: dialog.controllers.values == ["lia", "olia"])
        yield Until("the estimate", lambda: dialog.estimate is not None)
        assert dialog.estimate is not None
        assert dialog.estimate.is_one_run
        assert dialog.notice.isVisible()
        yield from self._picture(window, "asked")

    def _compare(self, window: MainWindow, hands: RealHands, *, runs: int) -> Iterator[Until]:
        """Starts the comparison, and waits for its page."""
        feature = window.features[CompareFeature]
        dialog = feature.dialog
        assert dialog is not None
        yield from hands.click(dialog.go)
        yield Until("the comparison", lambda: feature.dialog is None and len(feature.view.page.model.rows) == runs)
        yield from self._picture(window, f"compared-{runs}")
        assert [line.label for line in feature.view.page.figures[0].lines] == ["lia", "olia"]

    def figure(self, window: MainWindow) -> Iterator[Until]:
        """The plots of the demo as a figure as wide as a column of IEEE, from the welcome to the file."""
        yield from self._demo(window)
        yield Until("the run to end", lambda: not window.runs.is_running and bool(window.shown.ids))
        yield from self.hands.press("ctrl+e")
        yield Until("the dialog", lambda: window.exports.dialog is not None and window.exports.dialog.isActiveWindow())
        dialog = window.exports.dialog
        assert dialog is not None
        yield Until("the preview", lambda: dialog.preview.is_up_to_date and not dialog.preview.pixmap.isNull())
        yield from self._picture(window, "figure")
        yield from self.hands.press("Return")
        yield Until("the question for the file", lambda: isinstance(front_dialog(), QFileDialog))
        files = front_dialog()
        assert isinstance(files, QFileDialog)
        yield Until("the keyboard", files.isActiveWindow)
        path = Path(files.selectedFiles()[0])
        yield from self.hands.press("Return")
        yield Until("the dialog to close", lambda: window.exports.dialog is None)
        assert path.name.endswith(".pdf")
        content = path.read_bytes()
        assert content.startswith(b"%PDF")
        box = content.split(b"/MediaBox [")[1].split(b"]")[0].split()
        assert abs(float(box[2]) / 72 * 25.4 - 88.9) < 0.1
        yield from self._picture(window, "exported")
        self._count("figure")
        yield from self._cause(window)
        self._count("cause")

    def _cause(self, window: MainWindow) -> Iterator[Until]:
        """The cause of a fall of a congestion window, from the run in the plots."""
        feature, stack = window.features[ExplainFeature], window.plots.stack
        yield from self.hands.click(stack.viewport(), fall_of_window(stack))
        button = window.toolbar.widgetForAction(window.bar["view.explain"])
        assert isinstance(button, QWidget)
        yield from self.hands.click(button)
        yield Until("the explanation", lambda: window.docks.is_open("explain") and feature.content.point is not None)
        yield from self._picture(window, "cause")
        assert any("queue was full" in title.text() for title in feature.content.findChildren(QLabel))

    def controller(self, window: MainWindow) -> Iterator[Until]:
        """A controller from the guide against LIA, from the welcome to the comparison; the text is pasted."""
        yield from self._demo(window)
        yield Until("the run to end", lambda: not window.runs.is_running and bool(window.shown.ids))
        yield from self._choose(window, "menu_study", "script.new_controller")
        yield Until("the question for a name", lambda: isinstance(front_dialog(), NewScriptDialog))
        question = front_dialog()
        assert isinstance(question, NewScriptDialog)
        yield from self._picture(window, "new-controller")
        yield from self.hands.click(question.add)
        editor = window.features[ScriptFeature].session.panel.editor
        yield Until("the editor", lambda: editor.hasFocus() and window.isActiveWindow())
        yield from self.hands.paste(SCRIPT)
        yield Until("the text", lambda: editor.text == SCRIPT)
        yield from self._picture(window, "written")
        feature = window.features[CompareFeature]
        button = window.toolbar.widgetForAction(window.bar["run.compare"])
        assert isinstance(button, QWidget)
        yield from self.hands.click(button)
        yield Until("the dialog", lambda: feature.dialog is not None and feature.dialog.isActiveWindow())
        dialog = feature.dialog
        assert dialog is not None
        assert dialog.controllers.values == ["my-controller", "lia"]
        yield Until("the estimate", lambda: dialog.estimate is not None)
        yield from self._picture(window, "asked")
        yield from self.hands.click(dialog.go)
        yield Until("the comparison", lambda: feature.dialog is None and len(feature.view.page.model.rows) == 2)
        yield from self._picture(window, "compared")
        assert [line.label for line in feature.view.page.figures[0].lines] == ["my-controller", "lia"]
        assert "Scalable" in window.documents.doc.text
        window.document_stack.setClean()
        self._count("controller")

    def training(self, window: MainWindow) -> Iterator[Until]:
        """A training of 5 s whose policy the demo uses, from the welcome to the scenario; then a run of it."""
        yield Until("the welcome", lambda: isinstance(front_dialog(), WelcomeDialog))
        yield from self.hands.press("Escape")
        yield Until("the window", lambda: front_dialog() is None and window.isActiveWindow())
        yield from self.hands.press("ctrl+5")
        session = window.features[TrainingSession]
        yield Until("the form", lambda: window.docks.is_open("train") and session.content.form is not None)
        form = session.content.form
        assert form is not None
        # The budget is a number that a person types, and does not count, like the text of a controller.
        form.draft.set_value("time", "5s")
        form.show_draft()
        yield from self._picture(window, "training-asked")
        yield from self.hands.click(form.button)
        page = session.content
        yield Until("the training", lambda: len(page.selected()) == 1)
        (training,) = page.selected()
        yield Until("the training to end", lambda: training.state.is_over and window.bar["train.use"].isEnabled())
        yield from self._picture(window, "trained")
        button = page.findChild(QToolButton, "training_use")
        assert isinstance(button, QToolButton)
        before = window.documents.doc.text
        yield from self.hands.click(button)
        yield Until("the policy in the scenario", lambda: window.documents.doc.text != before)
        self._count("training")
        chosen = window.documents.doc.value("flows.download.controller")
        assert chosen == {"name": training.controller, "policy": f"my-{training.agent}-1"}
        yield from self._picture(window, "used")
        yield from self.hands.press("F7")
        yield from self.hands.press("F5")
        yield Until("the run", lambda: not window.runs.is_running and bool(window.history.runs()))
        assert window.history.runs()[0].controllers == training.controller
        yield from self._picture(window, "run")
        window.document_stack.setClean()

    def emulate(self, window: MainWindow) -> Iterator[Until]:
        """iperf3 on the network of the demo, with an outage by hand, and the simulation over it; a fake worker."""
        fake = fake_emulation.install(setattr)
        fake.speed = 30
        yield from self._demo(window)
        yield Until("the run to end", lambda: not window.runs.is_running and bool(window.shown.ids))
        self._count("demo")
        yield from self._choose(window, "menu_run", "run.emulate")
        feature = window.features[EmulationFeature]
        yield Until("the dialog", lambda: feature.dialog is not None and feature.dialog.isActiveWindow())
        dialog = feature.dialog
        assert dialog is not None
        yield Until("the check", dialog.start.isEnabled)
        yield from self._picture(window, "asked")
        yield from self.hands.click(dialog.start)
        yield Until("the programs", lambda: feature.shown is not None and "iperf3" in feature.shown.text.toPlainText())
        self._count("emulate")
        window.topology.select("links.wifi")
        yield Until("the link", lambda: bool(window.live.link))
        yield Until("ten seconds", lambda: feature.shown is not None and reached_s(window) > 10)
        yield from self._picture(window, "running")
        yield from self.hands.press("ctrl+shift+Next")
        yield Until("the outage", lambda: bool(fake.last.changes))
        assert fake.last.changes == [{"link": "wifi", "direction": "both", "up": False}]
        self._count("outage")
        yield Until("the end", lambda: not window.runs.is_running and bool(window.banners.text("emulation")))
        yield from self._picture(window, "ended")
        button = window.banners.findChild(QPushButton)
        assert isinstance(button, QPushButton)
        yield from self.hands.click(button)
        yield Until("the simulation", lambda: window.shown.count == 2 and not window.runs.is_running)
        yield from self._picture(window, "overlaid")
        self._count("overlay")
        assert [row.tags for row in window.history.runs()][:2] == [(), ("emulated",)]

    def _choose(self, window: MainWindow, menu_name: str, action: str) -> Iterator[Until]:
        """Chooses an action in a menu of the menu bar."""
        bar = window.menuBar()
        menu = window.findChild(QMenu, menu_name)
        assert isinstance(menu, QMenu)
        yield from self.hands.click(bar, bar.actionGeometry(menu.menuAction()).center())
        yield Until("the menu", menu.isVisible)
        yield from self.hands.click(menu, menu.actionGeometry(window.bar[action]).center())

    def after(self, window: MainWindow) -> Iterator[Until]:
        """Ten runs that start apart; one of them is opened, and two steps lead back."""
        yield from self._demo(window)
        feature, hands = window.features[CompareFeature], self.hands
        yield from self._ask(window, hands)
        dialog = feature.dialog
        assert dialog is not None
        yield from hands.click(dialog.apart)
        yield Until("the estimate of ten runs", lambda: dialog.estimate is not None and dialog.estimate.runs == 10)
        yield from self._picture(window, "apart")
        yield from self._compare(window, hands, runs=10)
        page = feature.view.page
        yield from hands.click(page.list.viewport(), page.list.visualRect(page.model.index(1, 0)).center())
        yield Until("the run", lambda: window.shown.count == 1 and window.workspaces.current == "run")
        yield from self._picture(window, "run")
        yield from self._return(window, hands)
        yield from hands.click(page.all)
        yield Until("all runs", lambda: window.shown.count == 10)
        yield from self._picture(window, "overlay")
        yield from self._return(window, hands)
        yield from hands.press("Escape")
        yield Until("the workspace", lambda: window.workspaces.current == "run" and not page.isVisible())
        yield from self._picture(window, "back")

    def _return(self, window: MainWindow, hands: RealHands) -> Iterator[Until]:
        """Returns to the comparison by the button of the banner."""
        button = window.banners.findChild(QPushButton)
        assert isinstance(button, QPushButton)
        yield from hands.click(button)
        yield Until("the comparison", window.features[CompareFeature].view.page.isVisible)

    def states(self, window: MainWindow) -> Iterator[Until]:
        """The dialog while a comparison runs, and after it was cancelled; then the rest runs in the background."""
        feature, hands = window.features[CompareFeature], self.hands
        window.documents.open_text(LONG, "long")
        window.document_stack.setClean()
        yield from hands.press("ctrl+shift+m")
        yield Until("the dialog", lambda: feature.dialog is not None and feature.dialog.isActiveWindow())
        dialog = feature.dialog
        assert dialog is not None
        dialog.controllers.choose(["lia", "olia"])
        yield Until("the estimate", lambda: dialog.estimate is not None)
        yield from hands.press("Return")
        yield Until("some runs", lambda: dialog.job is not None and dialog.job.progress.finished > 3)
        yield from self._picture(window, "running")
        yield from hands.click(dialog.close_button)
        yield Until("the end", lambda: dialog._outcome is not None)
        yield from self._picture(window, "cancelled")
        yield from hands.click(dialog.other)
        yield Until("the rest", lambda: dialog._outcome is None)
        yield from hands.click(dialog.go)
        yield Until("the dialog to close", lambda: feature.dialog is None)
        yield Until("the message", lambda: bool(window.banners.text("comparison")))
        yield from self._picture(window, "background")

    def story(self, name: str, window: MainWindow) -> Iterator[Until]:
        """A job, and the number of its acts."""
        yield from getattr(self, name)(window)
        sys.stdout.write(json.dumps(self.acts) + "\n")

    def _count(self, job: str) -> None:
        """Keeps the acts of a job, and starts to count again."""
        self.acts[job] = {"clicks": self.hands.clicks, "keys": self.hands.keys}
        self.hands.clicks = self.hands.keys = 0

    def _picture(self, window: MainWindow, name: str) -> Iterator[Until]:
        if name != "running":
            yield Until("the window to be done", lambda: not window.workers.is_busy)
        if self._pictures is not None:
            self._taken += 1
            assert window.screen().grabWindow(0).save(str(self._pictures / f"{self._taken:02}-{name}.png"))


def main(words: Sequence[str]) -> int:
    """Starts a job in a process with its own screen, or does it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("job", choices=JOBS)
    parser.add_argument("--pictures", type=lambda text: Path(text).resolve())
    parser.add_argument("--size", default="1366x768")
    parser.add_argument("--theme", default="light")
    parser.add_argument("--language", default="en")
    parser.add_argument("--in", dest="folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.folder is None:
        done = on_own_screen("tests.helpers.jobs_by_hand", words, options.size)
        sys.stdout.write(done.stdout)
        sys.stderr.write(done.stderr)
        return done.returncode
    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
    jobs = Jobs(options.pictures)
    settings = {"theme": options.theme, "language": options.language, "is_welcomed": options.job == "states"}
    with window_manager():
        play(lambda window: jobs.story(options.job, window), settings=settings)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
