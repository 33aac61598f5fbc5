"""Takes the screenshots of the README by driving the window through its actions.

    python -m tests.helpers.screenshots [--without-trainings] [FOLDER]

Writes `window-light.png`, `window-dark.png`, `window-problems.png`, `window-design.png`, `window-fairness.png`,
`window-time.png`, `window-fork.png`, `window-sweep.png`, `window-gallery.png`, `window-lab.png`, `window-script.png`,
`train.png`, `train-policy.png` and `train-race.png` to `assets/screenshots`, or to another folder. Nothing is compared:
look at them. It needs no screen, and works on settings, a database and a data folder of its own. The trainings are real
and take a few minutes.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

# Before Qt reads it: the picture shall not depend on this machine's screen.
os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import QElapsedTimer, QSize
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from tests.helpers.journey import Journey
from tests.helpers.printed_code import blocks
from tests.helpers.time_journey import SweepDialogs, TimeJourney
from tests.helpers.window import ScriptedDialogs, make_window

from subflow_app.qt import commands
from subflow_app.qt.app import make_application
from subflow_app.qt.gallery.feature import GalleryFeature
from subflow_app.qt.labs.feature import LabFeature
from subflow_app.qt.main_window import MainWindow
from subflow_app.qt.script.feature import ScriptFeature
from subflow_app.qt.script.new_dialog import NewScript
from subflow_app.qt.sweeps.feature import SweepFeature

SIZE = QSize(1400, 900)
FOLDER = Path(__file__).resolve().parents[2] / "assets" / "screenshots"
_TIMEOUT_MS = 60_000
_TRAINING_STEPS = 300_000  # of each training
_TRAINING_TIMEOUT_MS = 20 * 60_000  # two trainings and their evaluations, on a busy computer


def main(folder: Path, *, with_trainings: bool = True) -> None:
    """Writes the screenshots to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    application = make_application([])
    with tempfile.TemporaryDirectory() as scratch:
        # Trainings and policies of the person at this computer stay out of the picture.
        os.environ["XDG_DATA_HOME"] = scratch
        dialogs = SweepDialogs()
        window = make_window(application, Path(scratch), database=Path(scratch) / "subflow.db", dialogs=dialogs)
        window.resize(SIZE)
        window.show()
        window.load()
        wait_for(lambda: not window.database.is_opening)
        window.workspaces.reset()
        shots = [_live, _crosshair, _problems, _journey, _time_machine, _gallery, _lab, _script]
        for shot in (*shots, *([_training] if with_trainings else [])):
            shot(window, folder)
        window.close_at_once()


def _live(window: MainWindow, folder: Path) -> None:
    """A run on its way, with the runs before it in the history."""
    window.bar.trigger("run.speed_express")
    for example in ("t-1link", "t-2link", "drlcc-sc1"):
        window.documents.open_example(example)
        run_to_end(window)
    window.documents.open_example("demo")
    window.bar.trigger("run.speed_brisk")
    window.bar.trigger("run.toggle")
    wait_for(lambda: window.runs.progress is not None and window.runs.progress.sim_time_s > 41.0)
    window.bar.trigger("run.toggle")  # paused, so that the picture holds still
    wait_for(lambda: window.runs.progress is not None and window.runs.progress.state == "paused")
    window.bar.trigger("run.toggle")
    save(window, folder / "window-light.png")
    window.bar.trigger("run.speed_express")
    wait_for(lambda: not window.runs.is_running)


def _crosshair(window: MainWindow, folder: Path) -> None:
    """The finished run, in the dark, with a link selected and the values at the crosshair."""
    window.bar.trigger("view.theme_dark")
    window.topology.select("links.wifi")
    window.plots.stack.set_cursor(23.4)
    save(window, folder / "window-dark.png")
    window.plots.stack.set_cursor(None)


def _problems(window: MainWindow, folder: Path) -> None:
    """A value that cannot be, beside its field, and a deleted run that can come back."""
    window.bar.trigger("view.theme_light")
    window.history.select([window.history.runs()[-1].id])
    window.bar.trigger("history.delete")
    commands.set_value(window.document_stack, window.documents.doc, "links.wifi.loss", "120%")
    window.show_first_problem()
    save(window, folder / "window-problems.png")


def _journey(window: MainWindow, folder: Path) -> None:
    """A topology drawn by hand, and two controllers on it over each other."""
    window.document_stack.undo()
    window.document_stack.setClean()
    for topic in window.banners.topics():
        window.banners.close_banner(topic)
    dialogs = window.dialogs
    assert isinstance(dialogs, ScriptedDialogs)
    with tempfile.TemporaryDirectory() as scratch:
        journey = Journey(window, dialogs, Path(scratch))
        journey.draw()
        window.topology.fit()
        save(window, folder / "window-design.png")
        for controller in ("lia", "olia"):
            journey.run(controller)
        journey.compare()
    save(window, folder / "window-fairness.png")
    window.bar.trigger("view.workspace_run")
    for plot in ("jain", "fairness_bars", "cwnd", "rtt"):
        window.bar.trigger(f"view.plot_{plot}")


def _time_machine(window: MainWindow, folder: Path) -> None:
    """A run scrubbed with a point of it explained, what would have been on another link, and a sweep."""
    window.document_stack.setClean()
    dialogs = window.dialogs
    assert isinstance(dialogs, SweepDialogs)
    with tempfile.TemporaryDirectory() as scratch:
        journey = dialogs.journey = TimeJourney(window, dialogs, Path(scratch))
        window.documents.open_example("demo")
        window.bar.trigger("view.workspace_run")
        window.bar.trigger("run.speed_express")
        run_to_end(window)
        journey.scrub((23.417,))
        journey.explain("download/1", 23.4)
        journey.scrub((23.417,))
        save(window, folder / "window-time.png")
        journey.fork(20.0, "lte", "3%")
        save(window, folder / "window-fork.png")
        journey.sweep()
        window.bar.trigger("view.workspace_study")
        page = window.features[SweepFeature].session.panel.page
        page.set_view("scatter")
        wait_for(lambda: page.is_drawn)
        save(window, folder / "window-sweep.png")
    window.bar.trigger("view.workspace_run")
    window.docks.raise_panel("plots")


def _gallery(window: MainWindow, folder: Path) -> None:
    """Experiments of the papers with the results that ship, and one of them large beside what its paper prints."""
    show_experiment(window, "drl-cc-sc1")
    save(window, folder / "window-gallery.png")


def _lab(window: MainWindow, folder: Path) -> None:
    """The first lab: what was sketched, what came out, and how far apart they are."""
    sketch_in_lab(window)
    save(window, folder / "window-lab.png")
    window.bar.trigger("view.workspace_run")
    window.bar.trigger("view.reset_layout")


def _script(window: MainWindow, folder: Path) -> None:
    """Scalable TCP as the guide writes it, with the run of the NewReno that it began with behind it."""
    window.document_stack.setClean()
    window.documents.open_example("reno-sawtooth")
    dialogs = window.dialogs
    assert isinstance(dialogs, ScriptedDialogs)
    scripts = window.features[ScriptFeature]
    dialogs.answer("NewScriptDialog", NewScript("scalable", ("reno",)))
    window.bar.trigger("script.new_controller")
    wait_for(lambda: not window.runs.is_running and scripts.is_settled)
    page = FOLDER.parents[1] / "docs" / "write-a-controller.md"
    (text,) = (block.text for block in blocks(page) if block.saved_as == "scalable.py")
    scripts.content.editor.put_text(text)
    window.bar.trigger("script.save")
    wait_for(lambda: not window.runs.is_running and scripts.is_settled)
    scripts.content.editor.show_line(1)
    save(window, folder / "window-script.png")
    window.document_stack.setClean()
    window.bar.trigger("view.workspace_run")
    window.bar.trigger("view.reset_layout")


def show_experiment(window: MainWindow, name: str) -> None:
    """The gallery with an experiment in front."""
    window.bar.trigger("view.workspace_study")
    window.bar.trigger("view.reset_layout")
    window.docks.set_open("gallery", True)
    window.docks.raise_panel("gallery")
    gallery = window.features[GalleryFeature].session
    wait_for(lambda: gallery.is_settled)
    gallery.panel.choose([name])
    wait_for(lambda: gallery.is_settled and not gallery.panel.page.figure.content.isNull())


def sketch_in_lab(window: MainWindow) -> None:
    """Begins the first lab, draws the window that one might expect, and runs it."""
    window.document_stack.setClean()
    window.bar.trigger("study.labs")
    labs = window.features[LabFeature]
    assert labs.panel.list is not None
    labs.panel.list.begin.click()
    wait_for(lambda: labs.session is not None)
    assert labs.panel.step is not None
    prediction = labs.panel.step.prediction
    assert prediction is not None
    assert prediction.canvas is not None
    prediction.canvas.show_points(((0, 10), (20, 100), (40, 160), (41, 80), (80, 160), (81, 80), (120, 160)))
    prediction.button.click()
    window.bar.trigger("run.speed_express")
    run_to_end(window)
    wait_for(lambda: not window.workers.is_busy)


def _training(window: MainWindow, folder: Path) -> None:
    """Two seeds of RL-explore by its recipe: curves, policy, and a race against a classic."""
    window.document_stack.setClean()
    window.documents.open_example("rlx-alternating")
    for topic in window.banners.topics():
        window.banners.close_banner(topic)
    window.docks.set_open("train", True)
    wait_for(lambda: window.training_session.page.form is not None)
    form = window.training_session.page.form
    assert form is not None
    form.draft.set_value("agent", "rl-explore")
    form.draft.set_value("recipe", "rl-explore")
    form.draft.set_value("steps", _TRAINING_STEPS)
    for seed in (1, 2):
        form.draft.set_value("seed", seed)
        form.show_draft()
        window.bar.trigger("train.start")
    trainings = window.training_session.page.trainings
    wait_for(lambda: all(training.state.is_over for training in trainings), _TRAINING_TIMEOUT_MS)
    window.training_session.page.select([training.id for training in trainings])
    save(window, folder / "train.png")
    window.bar.trigger("view.theme_dark")
    window.training_session.page.select([trainings[0].id])
    window.training_session.page.tabs.setCurrentWidget(window.training_session.page.policy)
    wait_for(lambda: window.training_session.page.policy.picture is not None and not window.workers.is_busy)
    save(window, folder / "train-policy.png")
    window.bar.trigger("view.theme_light")
    before = len(window.history.runs())
    window.bar.trigger("train.race")
    wait_for(lambda: len(window.history.runs()) == before + 2 and not window.runs.is_running)
    save(window, folder / "train-race.png")


def run_to_end(window: MainWindow) -> None:
    """Runs the scenario of the window."""
    window.bar.trigger("run.toggle")
    wait_for(lambda: not window.runs.is_running)


def save(subject: QWidget, path: Path) -> None:
    """Writes a picture of a window, or of a part of one."""
    for _ in range(5):
        QApplication.processEvents()
    if isinstance(subject, MainWindow):
        subject.statusBar().repaint()
    picture = subject.grab()
    if not picture.save(str(path)):
        sys.exit(f"{path} cannot be written")
    sys.stdout.write(f"{path} {path.stat().st_size // 1000} kB\n")


def wait_for(condition: Callable[[], bool], timeout_ms: int = _TIMEOUT_MS) -> None:
    """Lets the window work until something is so."""
    clock = QElapsedTimer()
    clock.start()
    while not condition():
        QTest.qWait(5)
        if clock.elapsed() > timeout_ms:
            sys.exit("the window did not get ready for its picture")


if __name__ == "__main__":
    folders = [Path(word) for word in sys.argv[1:] if not word.startswith("--")]
    main(folders[0] if folders else FOLDER, with_trainings="--without-trainings" not in sys.argv)
