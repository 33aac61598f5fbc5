"""Guided labs in the window: the panel, and what its actions do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from subflow_app.toolkit.feature import SessionFeature
from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_app.features.labs.qt.class_dialog import ClassDialog
    from subflow_app.features.labs.qt.places import LabPorts
    from subflow_app.features.labs.qt.teacher import Teacher


class LabFeature(SessionFeature["Teacher"]):
    """Shows labs, and the page on which a class is graded."""

    panel_name = "lab"
    title = translatable("Lab")
    room = (430, 0)  # px; the buttons of a step beside each other, in any language

    def __init__(self, ports: LabPorts) -> None:
        """An empty panel."""
        super().__init__()
        self.ports = ports
        self.class_dialog: ClassDialog | None = None

    def make(self) -> Teacher:
        """The list of labs, with the pages of their steps."""
        from subflow_app.features.labs.qt.teacher import Teacher

        return Teacher(self.ports, self)

    def grade_class(self) -> None:
        """Shows the page on which a lecturer grades a class."""
        from subflow_app.features.labs.qt.class_dialog import ClassDialog

        if self.class_dialog is None:
            ports = self.ports
            self.class_dialog = ClassDialog(ports.dialogs, ports.workers, ports.exports, ports.window())
        self.class_dialog.show()
        self.class_dialog.raise_()
