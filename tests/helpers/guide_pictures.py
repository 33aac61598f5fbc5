"""Takes the pictures of README, user guide and software centres from the real window: one line in `PICTURES` for each.

    python -m tests.helpers.guide_pictures [--to FOLDER] [NAME ...]

Writes `docs/images/NAME.png`: all pictures, or the named ones, for which earlier ones are prepared as well. Needs no
screen, and uses separate settings, a separate database and a separate data folder.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

# Before Qt reads it: the picture must not depend on this machine's screen.
os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PIL import Image
from PySide6.QtCore import QElapsedTimer, QSize
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from tests.helpers.time_journey import SweepDialogs, TimeJourney
from tests.helpers.window import make_window

from subflow_app.features.arena.core.entrants import chosen_entrants
from subflow_app.features.arena.qt.feature import ArenaFeature
from subflow_app.features.breaking.core.claim_file import load_claim
from subflow_app.features.breaking.core.job import BreakJob, Question
from subflow_app.features.breaking.core.space import load_space
from subflow_app.features.breaking.qt.feature import BreakFeature
from subflow_app.features.comparison.qt.feature import CompareFeature
from subflow_app.features.editor.qt import documents
from subflow_app.features.emulation.qt.dialog import EmulationDialog
from subflow_app.features.emulation.qt.feature import EmulationFeature
from subflow_app.features.gallery.qt.feature import GalleryFeature
from subflow_app.features.importing.qt.feature import ImportFeature
from subflow_app.features.importing.qt.import_dialog import ImportDialog
from subflow_app.features.labs.qt.feature import LabFeature
from subflow_app.features.script.qt.desk import NewScript
from subflow_app.features.script.qt.feature import ScriptFeature
from subflow_app.features.sweeps.qt.feature import SweepFeature
from subflow_app.foundation.resources import resource_path
from subflow_app.foundation.session_log import SESSION_LOG
from subflow_app.shell.app import make_application
from subflow_app.shell.main_window import MainWindow
from subflow_app.toolkit.docks import Side

SIZE = QSize(1400, 900)
FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"
_TIMEOUT_MS = 5 * 60_000  # also enough beside other work
_NETWORKS = 480  # networks tried by a search
_TRAINING_STEPS = 60_000
_TRAINING_TIMEOUT_MS = _EXPERIMENT_TIMEOUT_MS = 10 * 60_000


class Studio:
    """The window, and helpers for its pictures."""

    def __init__(self, window: MainWindow, journey: TimeJourney, dialogs: SweepDialogs) -> None:
        self.window, self.journey, self.dialogs = window, journey, dialogs

    def run(self, example: str, controller: str = "", flow: str = "") -> None:
        """Runs a shipped scenario to its end, with another controller if given."""
        window = self.window
        window.document_stack.setClean()
        window.documents.open_example(example)
        if controller:
            documents.set_value(window.document_stack, window.documents.doc, f"flows.{flow}.controller", controller)
        window.bar.trigger("view.workspace_run")
        window.bar.trigger("run.speed_express")
        run_to_end(window)
        window.document_stack.setClean()
        wait_for(lambda: not window.workers.is_busy)

    def panel(self, name: str) -> QWidget:
        """A single panel, as large as the plots and in their place."""
        docks = self.window.docks
        if name == "plots":
            docks.raise_panel("plots")
            return self.window.plots
        docks.place(name, Side.TAB, "plots")
        docks.set_open(name, True)
        QApplication.processEvents()
        wait_for(lambda: not self.window.workers.is_busy)
        content = self.window.docks._panels[name].dock.widget()
        assert isinstance(content, QWidget)
        return content


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture.

    Attributes:
        name: name of the file without suffix.
        prepare: brings the window into its state, after all earlier pictures in the list; a dialog that it returns is
            pictured in place of the window.
        panel: the pictured panel; empty: the whole window.
    """

    name: str
    prepare: Callable[[Studio], object]
    panel: str = ""


def _demo(studio: Studio) -> None:
    for example in ("t-1link", "t-2link"):
        studio.run(example)
    studio.run("demo")


def _link(studio: Studio) -> None:
    studio.window.topology.select("links.wifi")


def _dark(studio: Studio) -> None:
    """The finished run in dark colours, with the values at the crosshair."""
    studio.window.bar.trigger("view.theme_dark")
    studio.window.plots.stack.set_cursor(23.4)


def _design(studio: Studio) -> None:
    """A hand-drawn topology."""
    studio.window.document_stack.setClean()
    studio.journey.draw()
    studio.window.topology.fit()
    studio.window.document_stack.setClean()


def _queue(studio: Studio) -> None:
    window = studio.window
    for name in ("drlcc-sc1", "t-2link", "t-1link", "lte-walk"):
        window.documents.open_example(name)
        window.bar.trigger("queue.add")
    queue = window.queue_session.queue
    wait_for(lambda: len(queue.entries()) == 4 and all(entry.state.is_over for entry in queue.entries()))
    window.queue_session.refresh()
    wait_for(lambda: not window.workers.is_busy)


def _time(studio: Studio) -> None:
    window = studio.window
    window.documents.open_example("demo")
    studio.journey.show(min(row.id for row in window.history.runs() if row.scenario_name.startswith("Demo")))
    studio.journey.scrub((23.417,))


def _explain(studio: Studio) -> None:
    studio.journey.explain("download/1", 23.4)


def _fork(studio: Studio) -> None:
    studio.journey.fork(20.0, "lte", "3%")


def _compare(studio: Studio) -> None:
    window = studio.window
    feature = window.features[CompareFeature]
    window.documents.open_example("drlcc-sc1")
    window.bar.trigger("run.compare")
    dialog = feature.dialog
    assert dialog is not None
    dialog.controllers.choose(["lia", "olia"])
    dialog.go.click()
    wait_for(lambda: feature.dialog is None and len(feature.view.page.model.rows) == 10)
    wait_for(lambda: not window.workers.is_busy)


def _sweep(studio: Studio) -> None:
    window = studio.window
    studio.journey.sweep()
    page = window.features[SweepFeature].session.panel.page
    page.set_view("scatter")
    wait_for(lambda: page.is_drawn)


def _fairness(studio: Studio) -> None:
    studio.run("t-1link")


def _agent(studio: Studio) -> None:
    studio.run("rlx-alternating")
    studio.window.bar.trigger("agent.last")


def _lab(studio: Studio) -> None:
    """Begins the first lab, draws the window as a person might expect it, and runs it."""
    window = studio.window
    window.document_stack.setClean()
    window.bar.trigger("study.labs")
    labs = window.features[LabFeature].session
    labs.panel.list.begin.click()
    wait_for(lambda: labs.begun is not None)
    prediction = labs.panel.step.prediction
    assert prediction is not None
    assert prediction.canvas is not None
    prediction.canvas.show_points(((0, 10), (20, 100), (40, 160), (41, 80), (80, 160), (81, 80), (120, 160)))
    prediction.button.click()
    window.bar.trigger("run.speed_express")
    run_to_end(window)
    wait_for(lambda: not window.workers.is_busy)


def _import(studio: Studio) -> QDialog:
    """The import of a log of `ss` that ships."""
    window = studio.window
    window.features[ImportFeature].import_file(resource_path("measurements/ss-mptcp.log"))
    wait_for(lambda: any(dialog.model.rows for dialog in window.findChildren(ImportDialog)))
    return window.findChildren(ImportDialog)[0]


def _emulate(studio: Studio) -> EmulationDialog:
    """The dialog with iperf3 and ping on the network of the demo."""
    window = studio.window
    window.document_stack.setClean()
    window.documents.open_example("demo")
    documents.set_value(window.document_stack, window.documents.doc, "flows.download.controller", "uncoupled")
    feature = window.features[EmulationFeature]
    window.bar.trigger("run.emulate")
    dialog = feature.dialog
    assert dialog is not None
    dialog.add.click()
    dialog.rows[1].preset.choose("ping")
    wait_for(lambda: dialog.start.isEnabled() or dialog.problem.isVisible())
    if not dialog.start.isEnabled():
        raise TimeoutError(dialog.problem.text())
    return dialog


def _programs(studio: Studio) -> None:
    """iperf3 on the network of the demo, 40 s after its start; real programs, so that Linux is needed."""
    window = studio.window
    dialog = _emulate(studio)
    dialog.start.click()
    wait_for(lambda: window.runs.progress is not None and window.runs.progress.sim_time_s > 40)


def _overlaid(studio: Studio) -> None:
    """The ended run, and the simulation over it."""
    window = studio.window
    window.docks.raise_panel("plots")
    wait_for(lambda: not window.runs.is_running)
    window.docks.set_open("programs", False)
    window.bar.trigger("run.overlay_simulation")
    wait_for(lambda: window.shown.count == 2 and not window.runs.is_running)
    wait_for(lambda: not window.workers.is_busy)
    window.document_stack.setClean()


def _gallery(studio: Studio) -> None:
    """The gallery with an experiment in front, which runs now unless its results ship."""
    window = studio.window
    window.bar.trigger("view.workspace_study")
    window.bar.trigger("view.reset_layout")
    window.docks.set_open("gallery", True)
    window.docks.raise_panel("gallery")
    gallery = window.features[GalleryFeature].session
    wait_for(lambda: not window.workers.is_busy)
    gallery.panel.choose(["drl-cc-sc1"])
    wait_for(lambda: not window.workers.is_busy)
    if gallery.panel.page.exhibit is not None and gallery.panel.page.exhibit.results is None:
        # Results of former recipes do not count, so this happens until the library is made anew.
        gallery.run(is_quick=True)
        wait_for(lambda: not gallery.is_busy, _EXPERIMENT_TIMEOUT_MS)
    wait_for(lambda: not window.workers.is_busy and not gallery.panel.page.figure.content.isNull())


def _arena(studio: Studio) -> None:
    arena = studio.window.features[ArenaFeature]
    studio.panel("arena")
    wait_for(lambda: not studio.window.workers.is_busy and bool(arena.content.rows))


def _break(studio: Studio) -> None:
    store = studio.window.database.store
    assert store is not None
    claim = load_claim("improve")
    question = Question(claim, chosen_entrants(["olia"])[0], load_space(claim.spaces[0]))
    BreakJob(question, store, minutes=None, networks=_NETWORKS).run().check()
    breaking = studio.window.features[BreakFeature]
    studio.panel("break")
    breaking.read()
    wait_for(lambda: not studio.window.workers.is_busy)
    breaking.content.tabs.setCurrentIndex(1)


def _script(studio: Studio) -> None:
    window = studio.window
    window.documents.open_example("demo")
    studio.dialogs.answer("NewScriptDialog", NewScript("my-controller", ("download",)))
    window.bar.trigger("script.new_controller")
    scripts = window.features[ScriptFeature].session
    wait_for(lambda: not (window.runs.is_running or scripts.study.is_running or scripts.reader.is_busy))
    editor = scripts.panel.editor
    editor.put_text(editor.text.replace("w.cwnd / 2", "0.8 * w.cwnd"))
    window.bar.trigger("script.save")
    wait_for(lambda: not (window.runs.is_running or scripts.study.is_running or scripts.reader.is_busy))
    editor.show_line(1)


def _train(studio: Studio) -> None:
    window = studio.window
    studio.panel("train")
    wait_for(lambda: window.training_session.content.form is not None)
    form = window.training_session.content.form
    assert form is not None
    form.draft.set_value("agent", "rl-explore")
    form.draft.set_value("recipe", "rl-explore")
    form.draft.set_value("steps", _TRAINING_STEPS)
    for seed in (1, 2):
        form.draft.set_value("seed", seed)
        form.show_draft()
        window.bar.trigger("train.start")
    trainings = window.training_session.content.trainings
    wait_for(lambda: all(training.state.is_over for training in trainings), _TRAINING_TIMEOUT_MS)
    window.training_session.content.select([training.id for training in trainings])


ACCESS_NETWORKS = ("wifi-home", "lte-walk", "5g-mmwave", "starlink", "wifi-conference")


def _access_network(name: str) -> Callable[[Studio], object]:
    return lambda studio: studio.run(name)


PICTURES: tuple[Picture, ...] = (
    Picture("window", _demo),
    Picture("inspector", _link, "inspector"),
    Picture("topology", _link, "topology"),
    Picture("plots", lambda _: None, "plots"),
    Picture("dark", _dark),
    Picture("design", _design),
    Picture("queue", _queue, "queue"),
    Picture("history", lambda _: None, "history"),
    Picture("compare", _compare, "compare"),
    Picture("log", lambda _: None, "log"),
    Picture("time", _time),
    Picture("explain", _explain, "explain"),
    Picture("fork", _fork, "plots"),
    Picture("sweeps", _sweep, "sweeps"),
    Picture("fairness", _fairness, "fairness"),
    Picture("agent", _agent, "agent"),
    Picture("import", _import),
    Picture("emulate", _emulate),
    Picture("programs", _programs, "programs"),
    Picture("overlaid", _overlaid),
    Picture("lab", _lab),
    Picture("lab-step", lambda _: None, "lab"),
    Picture("gallery", _gallery, "gallery"),
    Picture("arena", _arena, "arena"),
    Picture("break", _break, "break"),
    Picture("script", _script),
    *(Picture(name, _access_network(name), "plots") for name in ACCESS_NETWORKS),
    Picture("train", _train, "train"),
)
"""Pictures in order, taken in one window."""


def main(folder: Path, names: Sequence[str] = ()) -> None:
    """Takes the pictures."""
    unknown = [name for name in names if name not in {picture.name for picture in PICTURES}]
    if unknown:
        sys.exit(f"no such picture: {', '.join(unknown)}; allowed: {', '.join(p.name for p in PICTURES)}")
    folder.mkdir(parents=True, exist_ok=True)
    last = max((place for place, picture in enumerate(PICTURES) if picture.name in names), default=len(PICTURES))
    logging.getLogger("subflow_app").addHandler(SESSION_LOG)
    logging.getLogger("subflow_app").setLevel(logging.INFO)
    application = make_application([])
    with tempfile.TemporaryDirectory() as scratch:
        # Trainings and policies of this computer's user must not appear in the picture.
        os.environ["XDG_DATA_HOME"] = scratch
        dialogs = SweepDialogs()
        window = make_window(application, Path(scratch), database=Path(scratch) / "subflow.db", dialogs=dialogs)
        window.resize(SIZE)
        window.show()
        window.load()
        wait_for(lambda: not window.database.is_opening)
        window.workspaces.reset()
        dialogs.journey = TimeJourney(window, dialogs, Path(scratch))
        studio = Studio(window, dialogs.journey, dialogs)
        for picture in PICTURES[: last + 1]:
            window.bar.trigger("view.theme_light")
            window.plots.stack.set_cursor(None)
            window.bar.trigger("view.workspace_run")
            window.bar.trigger("view.reset_layout")
            try:
                made = picture.prepare(studio)
            except TimeoutError as error:
                sys.exit(f"{picture.name}: {error}")
            dialog = made if isinstance(made, QDialog) else None
            if names and picture.name not in names:
                if dialog is not None:
                    dialog.reject()
                continue
            for topic in window.banners.topics():
                window.banners.close_banner(topic)
            window.tell("")
            subject = studio.panel(picture.panel) if picture.panel else dialog or window
            save(subject, folder / f"{picture.name}.png")
            if dialog is not None:
                dialog.reject()
        window.close_at_once()


def run_to_end(window: MainWindow) -> None:
    """Runs the scenario of the window."""
    window.bar.trigger("run.toggle")
    wait_for(lambda: not window.runs.is_running)


def save(subject: QWidget, path: Path) -> None:
    """Writes a picture of a window or of a part."""
    for _ in range(5):
        QApplication.processEvents()
    if isinstance(subject, MainWindow):
        subject.statusBar().repaint()
    picture = subject.grab()
    if not picture.save(str(path)):
        sys.exit(f"{path} cannot be written")
    # A palette makes the file a third as large, and its colours look like those of the window.
    with Image.open(path) as image:
        reduced = image.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    reduced.save(path, optimize=True)
    sys.stdout.write(f"{path} {path.stat().st_size // 1000} kB\n")


def wait_for(condition: Callable[[], bool], timeout_ms: int = _TIMEOUT_MS) -> None:
    """Lets the window work until the condition holds; raises TimeoutError if that takes longer."""
    clock = QElapsedTimer()
    clock.start()
    while not condition():
        QTest.qWait(5)
        if clock.elapsed() > timeout_ms:
            raise TimeoutError(f"the window did not get ready within {timeout_ms // 1000} s")


if __name__ == "__main__":
    words = sys.argv[1:]
    target = Path(words.pop(words.index("--to") + 1)) if "--to" in words else FOLDER
    main(target, [word for word in words if not word.startswith("--")])
