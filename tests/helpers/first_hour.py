"""The first hour of a person, with mouse and keys on an X screen in memory: lab 1, the guide's tour, every workspace.

    python -m tests.helpers.first_hour [lab | tour | workspaces ...] [--pictures FOLDER] [--size 1366x768]

All actions use widgets, by clicks and keys. Pictures show the whole screen and are for viewing. `workspaces` shows each
workspace in every size and theme. A step without its result, a warning or an error ends the program with 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QLineEdit, QScrollArea, QWidget
from tests.helpers.walk.hands import Hands, front_dialog
from tests.helpers.walk.route import choose
from tests.helpers.window import fall_of_window
from tests.helpers.x_screen import on_own_screen

from subflow_app.features.explain.qt.feature import ExplainFeature
from subflow_app.features.forking.qt.feature import ForkFeature
from subflow_app.features.labs.core.lab import Step, Target
from subflow_app.features.labs.core.session import StepState
from subflow_app.features.labs.core.solution import curve_points, parse_order
from subflow_app.features.labs.qt.feature import LabFeature
from subflow_app.features.labs.qt.forms import AskForm
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.features.sweeps.qt.feature import SweepFeature
from subflow_app.features.sweeps.qt.new_dialog import NewSweepDialog
from subflow_app.shell.main_window import MainWindow
from subflow_app.shell.selftest.window_story import Until, play
from subflow_app.toolkit.workspaces import WORKSPACES

JOURNEYS = ("lab", "tour")
SIZES = (("1280x720", 100), ("1366x768", 100), ("1920x1080", 100), ("2732x1536", 200))
THEMES = ("light", "dark", "contrast")


class FirstHour:
    """The journeys; each is a story for `play`."""

    def __init__(self, pictures: Path | None) -> None:
        """Pictures are written to the folder, if given."""
        self._pictures = pictures
        self._taken = 0
        self.hands = Hands()

    # ---- lab 1 ----

    def lab(self, window: MainWindow) -> Iterator[Until]:
        """The first lab, from its first to its last step, following the solution in its file."""
        self.window = window
        yield from self._choose("run.speed_express")
        yield from self._choose("study.labs")
        teacher = window.features[LabFeature].session
        yield Until("the list of labs", lambda: teacher.panel.list.begin.isEnabled())
        yield from self._picture("lab-list")
        yield from self.hands.click(teacher.panel.list.begin)
        yield Until("the lab to begin", lambda: teacher.begun is not None)
        session = teacher.begun
        assert session is not None
        yield from self._picture("lab-begun")
        for number, step in enumerate(session.lab.steps, start=1):
            yield from self._settled()
            page = teacher.panel.step
            assert page.shown is step, f"step {number} is not shown"
            yield from self._picture(f"lab-step-{number}-{step.id}")
            if Target("panel", "explain") in step.shows:
                yield from self._explain("lab-explain")
            for order in step.do:
                yield from self._obey(step, order)
            if not step.is_read_only:
                yield Until(f"step {step.id} to be passed", lambda step=step: session.state(step) is StepState.PASSED)  # type: ignore[misc]
            yield from self._picture(f"lab-step-{number}-{step.id}-done")
            if number < len(session.lab.steps):
                yield from self.hands.click(page.next)
        assert session.is_finished
        window.document_stack.setClean()

    def _obey(self, step: Step, text: str) -> Iterator[Until]:
        order = parse_order(text)
        page = self.window.features[LabFeature].session.panel.step
        if order.verb == "run":
            before = len(self.window.history.runs())
            yield from self.hands.press("F5")
            yield Until(
                "the run to end",
                lambda: len(self.window.history.runs()) == before + 1 and not self.window.runs.is_running,
            )
        elif order.verb == "set":
            ((key, value),) = order.values.items()
            yield from self._set(key, value)
        elif order.verb == "sweep":
            yield from self._sweep({key: text for key, text in order.values.items() if key != "seeds"}, "1")
        elif order.verb == "predict":
            form = page.prediction
            assert form is not None
            yield from self._say(form, order.words[0])
            yield Until("the prediction to be taken", lambda: not form.button.isVisible())
        else:
            question, value = order.words
            (asked,) = [form for form in page.questions if form.question.id == question]
            yield from self._say(asked, value)
            yield Until("the answer to be taken", lambda: asked.outcome.isVisible())
        yield from self._settled()

    def _say(self, form: AskForm, said: str) -> Iterator[Until]:
        """Draws, types or chooses the answer, and presses the button."""
        self.window.docks.raise_panel("lab")
        canvas = getattr(form, "canvas", None)
        if canvas is not None:
            yield from self._see(canvas)
            yield from self.hands.drag(canvas, *(canvas._place(*point).toPoint() for point in curve_points(said)))
        elif form.number is not None:
            yield from self._see(form.number)
            yield from self.hands.write(form.number, said)
        else:
            (option,) = [radio for radio in form.choices.buttons() if radio.text().replace("&&", "&") == said]
            yield from self._see(option)
            yield from self.hands.click(option, QPoint(10, option.height() // 2))
        yield from self._see(form.button)
        yield from self.hands.click(form.button)

    def _see(self, part: QWidget) -> Iterator[Until]:
        """Scrolls until a part of the step is visible."""
        page = self.window.features[LabFeature].session.panel.step
        page.scrolled.ensureWidgetVisible(part)
        yield from self.hands.settle()

    def _set(self, key: str, value: str) -> Iterator[Until]:
        """Double-clicks a link in the drawing, and types a value into its field."""
        window = self.window
        thing = key.rpartition(".")[0]
        canvas = window.topology.canvas
        window.docks.raise_panel("topology")
        yield from self.hands.settle()
        centre = window.topology.scene.centre_of(thing)
        assert centre is not None
        yield from self.hands.click(canvas.viewport(), canvas.mapFromScene(centre), twice=True)
        yield Until(f"the fields of {thing}", lambda: window.inspector.form.row(key) is not None)
        window.docks.raise_panel("inspector")
        row = window.inspector.form.row(key)
        assert row is not None
        window.inspector.form.ensureWidgetVisible(row.editor)
        yield from self.hands.settle()
        yield from self.hands.write(row.editor, value)
        yield from self.hands.press("Return")
        wanted = window.documents.doc.text
        assert value in wanted, f"{key} is not {value}: {wanted}"

    def _sweep(self, values: dict[str, str], seeds: str) -> Iterator[Until]:
        window = self.window
        session = window.features[SweepFeature].session
        yield from self._choose("sweep.new")
        yield Until("the dialog of a new sweep", lambda: isinstance(front_dialog(), NewSweepDialog))
        dialog = front_dialog()
        assert isinstance(dialog, NewSweepDialog)
        for key, text in values.items():
            yield from self.hands.write(dialog.parameters.search, key)
            yield from self.hands.click(dialog.add)
            field = dialog.findChild(QLineEdit, f"sweep_values:{key}")
            assert isinstance(field, QLineEdit)
            yield from self.hands.write(field, text)
        yield from self.hands.write(dialog.seeds, seeds)
        yield Until("the sweep to be possible", lambda: dialog.answer is not None and dialog.start.isEnabled())
        yield from self._picture("new-sweep")
        yield from self.hands.click(dialog.start)
        yield Until("the sweep to begin", lambda: session.is_busy or bool(session.entries()))
        yield Until("the sweep to end", lambda: not session.is_busy)
        yield from self._settled()
        yield from self._picture("sweep")

    # ---- the tour of the guide ----

    def tour(self, window: MainWindow) -> Iterator[Until]:
        """The tour: draw, run, go back, explain, what if, read, study, reproduce, learn, everyday."""
        self.window = window
        hands = self.hands
        yield from self._choose("run.speed_express")
        yield from self._draw()
        yield from self._choose("view.workspace_run")
        before = len(window.history.runs())
        yield from hands.press("F5")
        yield Until("the run", lambda: len(window.history.runs()) == before + 1 and not window.runs.is_running)
        yield from self._picture("tour-run")
        track = window.features[PlayheadFeature].strip
        assert track is not None
        slider = track.findChild(QWidget, "time_track") or track
        middle = slider.rect().center()
        yield from hands.drag(slider, middle - QPoint(60, 0), middle)
        playhead = window.features[PlayheadFeature].playhead
        yield Until("the instant", lambda: playhead.instant is not None and not playhead.is_waiting)
        yield from self._picture("tour-go-back")
        yield from self._explain("tour-explain")
        yield from self._what_if()
        for key, name in (("X", "crosshair"), ("A", "cursor-a"), ("B", "cursor-b")):
            stack = window.plots.stack
            yield from hands.hover(stack.viewport(), stack.viewport().rect().center())
            yield from hands.press(key)
            yield from self._picture(f"tour-read-{name}")
        yield from self._choose("view.clear_cursors")
        yield from self._choose("view.workspace_study")
        yield from self._sweep({"links.l1.loss": "0%,2%"}, "1, 2")
        if not window.docks.is_open("gallery"):
            yield from self._choose("view.gallery")
        yield from self._settled()
        window.docks.raise_panel("gallery")
        yield from self._picture("tour-reproduce")
        yield from self._choose("study.labs")
        yield from self._settled()
        yield from self._picture("tour-learn")
        yield from hands.press("Ctrl+K")
        yield Until("the palette", lambda: front_dialog() is not None)
        yield from hands.type("trade")
        yield from self._picture("tour-palette")
        yield from hands.press("Esc", "Ctrl+/")
        yield Until("the shortcuts", lambda: front_dialog() is not None)
        yield from self._picture("tour-shortcuts")
        yield from hands.press("Esc", "F1")
        yield Until("the help", lambda: window.docks.is_open("help"))
        yield from self._picture("tour-help")
        window.document_stack.setClean()

    def _draw(self) -> Iterator[Until]:
        window, hands = self.window, self.hands
        yield from self._choose("file.new_empty")
        yield from self._choose("view.workspace_design")
        canvas = window.topology.canvas
        view = canvas.viewport()
        middle = view.rect().center()
        yield from hands.click(view, middle)
        places = {"h1": QPoint(-180, 0), "h2": QPoint(180, 0), "r1": QPoint(0, -80)}
        for key, names in (("H", ("h1", "h2")), ("R", ("r1",))):
            yield from hands.press(key)
            for name in names:
                yield from hands.click(view, middle + places[name])
        yield from hands.press("V")
        yield from hands.settle()

        def at(name: str) -> QPoint:
            return canvas.mapFromScene(window.topology.scene.node_positions()[name])

        yield from hands.press("L")
        for first, second in (("h1", "r1"), ("r1", "h2"), ("h1", "h2")):
            yield from hands.drag(view, at(first), at(second))
        yield from hands.press("T")
        yield from hands.drag(view, at("h1"), at("h2"))
        yield Until("the dialog of a flow", lambda: window.drawing.flows.dialog is not None)
        dialog = window.drawing.flows.dialog
        assert dialog is not None
        yield from self._picture("tour-draw-flow")
        yield from hands.click(dialog.accept_button)
        yield Until("the flow", lambda: "flows.f1" in window.documents.doc.text)
        yield from hands.press("V")
        yield from self._picture("tour-draw")

    def _explain(self, picture: str) -> Iterator[Until]:
        """Clicks the curve of a window right after it fell."""
        window = self.window
        if not window.docks.is_open("explain"):
            yield from self._choose("view.explain")
        window.docks.raise_panel("explain")
        window.docks.raise_panel("plots")
        yield from self._settled()
        stack = window.plots.stack
        at = fall_of_window(stack)
        area = stack.parentWidget()
        while area is not None and not isinstance(area, QScrollArea):
            area = area.parentWidget()
        if isinstance(area, QScrollArea):
            inside = stack.viewport().mapTo(area.widget(), at)
            area.ensureVisible(inside.x(), inside.y())
            yield from self.hands.settle()
        yield from self.hands.click(stack.viewport(), at)
        feature = window.features[ExplainFeature]
        yield Until("the explanation", lambda: not feature.is_busy and feature.content.point is not None)
        yield from self._picture(picture)

    def _what_if(self) -> Iterator[Until]:
        window = self.window
        feature = window.features[ForkFeature]
        before = len(window.history.runs())
        window.topology.select("links.l1")
        yield from self.hands.press("Ctrl+Shift+W")
        yield Until("the fork's dialog", lambda: feature.dialog is not None)
        dialog = feature.dialog
        assert dialog is not None
        yield from self.hands.write(dialog.field("loss"), "3%")
        yield from self._picture("tour-what-if-asked")
        yield from self.hands.click(dialog.start)
        yield Until("the fork", lambda: len(window.history.runs()) == before + 1 and not window.runs.is_running)
        yield from self._settled()
        yield from self._picture("tour-what-if")

    # ---- workspaces ----

    def workspaces(self, window: MainWindow) -> Iterator[Until]:
        """Shows each workspace in every theme, with a run of the demo."""
        self.window = window
        yield from self._choose("run.speed_express")
        yield from self.hands.press("F5")
        yield Until("the run", lambda: len(window.history.runs()) == 1 and not window.runs.is_running)
        for theme in THEMES:
            yield from self._choose(f"view.theme_{theme}")
            for name in WORKSPACES:
                yield from self._choose(f"view.workspace_{name}")
                yield from self._settled()
                yield from self._picture(f"{theme}-{name}")

    # ---- inside ----

    def _choose(self, action_id: str) -> Iterator[Until]:
        yield from choose(self.hands, self.window, action_id)

    def _settled(self) -> Iterator[Until]:
        yield from self.hands.settle()
        yield Until("the window to be done", lambda: not self.window.workers.is_busy)
        yield from self.hands.settle()

    def _picture(self, name: str) -> Iterator[Until]:
        yield from self.hands.settle()
        if self._pictures is not None:
            self._taken += 1
            picture = self.window.screen().grabWindow(0)
            assert picture.save(str(self._pictures / f"{self._taken:02}-{name}.png"))


def main(words: Sequence[str]) -> int:
    """Starts each journey in a separate process, or performs one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("journeys", nargs="*", choices=(*JOURNEYS, "workspaces", []), default=[])
    parser.add_argument("--pictures", type=lambda text: Path(text).resolve())
    parser.add_argument("--size", default="1366x768")
    parser.add_argument("--scale", type=int, default=100, help=argparse.SUPPRESS)
    parser.add_argument("--in", dest="folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.folder is not None:
        (name,) = options.journeys
        if options.pictures is not None:
            options.pictures.mkdir(parents=True, exist_ok=True)
        story = getattr(FirstHour(options.pictures), name)
        play(story, settings={"theme": "light", "scale_percent": options.scale, "is_welcomed": True})
        return 0
    code = 0
    for name in options.journeys or (*JOURNEYS, "workspaces"):
        for size, scale in SIZES if name == "workspaces" else ((options.size, options.scale),):
            inside = [name, "--scale", str(scale)]
            if options.pictures is not None:
                inside += ["--pictures", str(options.pictures / (f"{name}-{size}" if name == "workspaces" else name))]
            told = on_own_screen("tests.helpers.first_hour", inside, size)
            sys.stdout.write(told.stdout)
            sys.stderr.write(told.stderr)
            code = code or told.returncode
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
