"""Guided labs in the window: the panel and its actions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.toolkit.action_bar import ActionSpec, possible
from subflow_app.toolkit.feature import FeatureHolder, SessionFeature
from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_app.features.labs.qt.class_dialog import ClassDialog
    from subflow_app.features.labs.qt.places import LabPorts
    from subflow_app.features.labs.qt.teacher import Teacher


class LabFeature(SessionFeature["Teacher"]):
    """The panel of labs, and the dialog that grades a class."""

    panel_name = "lab"
    title = translatable("Lab")
    room = (430, 0)  # px; wide enough for the buttons of a step in any language

    def __init__(self, ports: LabPorts) -> None:
        super().__init__()
        self.ports = ports
        self.class_dialog: ClassDialog | None = None

    def make(self) -> Teacher:
        """Create the controller with the list of labs and the page of steps."""
        from subflow_app.features.labs.qt.teacher import Teacher

        return Teacher(self.ports, self)

    def grade_class(self) -> None:
        """Shows the dialog with which a lecturer grades a class."""
        from subflow_app.features.labs.qt.class_dialog import ClassDialog

        if self.class_dialog is None:
            ports = self.ports
            self.class_dialog = ClassDialog(ports.dialogs, ports.workers, ports.exports, ports.window())
        self.class_dialog.show()
        self.class_dialog.raise_()


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Actions of the Study menu."""
    yield ActionSpec(
        "study.labs",
        "&Labs…",
        "Show the guided labs: what each teaches, and how far you are",
        "example",
        (),
        lambda w, _: w.features[LabFeature].session.show_list(),
    )
    yield ActionSpec(
        "study.lab_next",
        "Ne&xt step of the lab",
        "Go on to the next step of the lab, once this one is done",
        "next",
        (),
        lambda w, _: w.features[LabFeature].session.go_on(),
        (possible("study.lab_next", translatable("no lab is open, or its step is not done yet")),),
    )
    yield ActionSpec(
        "study.lab_hint",
        "&Hint of the lab",
        "Show another hint for this step of the lab",
        "help",
        (),
        lambda w, _: w.features[LabFeature].session.hint(),
        (possible("study.lab_hint", translatable("no lab is open, or its step has no hint left")),),
    )
    yield ActionSpec(
        "study.lab_result",
        "&Write result of the lab…",
        "Write what you did in this lab to a file that your lecturer can verify",
        "export_data",
        (),
        lambda w, _: w.features[LabFeature].session.write_result(),
        (possible("study.lab_result", translatable("no lab is open")),),
    )
    yield ActionSpec(
        "study.lab_class",
        "&Grade a class…",
        "Grade the results of a class: steps, tries, first-try score, confirmed runs, and oddities",
        "compare",
        (),
        lambda w, _: w.features[LabFeature].grade_class(),
    )
