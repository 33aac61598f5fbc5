"""What is wrong with a field, said beside it."""

from __future__ import annotations

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QWidget

from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.widgets.steady import when_released


class ProblemLabel(Label):
    """A text in the colour of errors, as high as it has to be, and away while there is nothing to say."""

    def __init__(
        self, name: str, least_width: int = 0, parent: QWidget | None = None, *, keeps_line: bool = False
    ) -> None:
        """Says nothing yet.

        Args:
            name: object name.
            least_width: to be expected, px; before the first layout the label does not know its own.
            parent: its owner.
            keeps_line: whether it has the room of a line while it is away, so that nothing moves when it comes.
        """
        super().__init__(parent)
        self.setObjectName(name)
        self.setWordWrap(True)
        self.setForegroundRole(QPalette.ColorRole.BrightText)
        self._least_width = least_width
        self._problem = ""
        self._least_height = self.fontMetrics().lineSpacing() if keeps_line else 0
        if keeps_line:
            policy = self.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            self.setSizePolicy(policy)
            self.setMinimumHeight(self._least_height)
        self.hide()

    def say(self, text: str) -> None:
        """Says this; nothing if it is empty."""
        self._problem = text
        when_released(self, self._show_problem)

    def _show_problem(self) -> None:
        """As high as the text, which moves what is below unless a line was kept for it."""
        text = self._problem
        self.setText(text)
        self.setVisible(bool(text))
        width = max(self.width(), self._least_width)
        self.setMinimumHeight(max(self.heightForWidth(width) if text else 0, self._least_height))
