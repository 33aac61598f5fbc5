"""Something to choose from a list that opens."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtWidgets import QComboBox, QWidget

from subflow_app.toolkit.widgets.shorthand import named


class Choice(QComboBox):
    """Texts, each with what it stands for, which is what `currentData` says."""

    def __init__(
        self,
        name: str,
        choices: Iterable[tuple[object, str]] = (),
        parent: QWidget | None = None,
        *,
        text: str = "",
        letters: int = 0,
    ) -> None:
        """The first one is chosen.

        Args:
            name: object name.
            choices: what each stands for, and its text.
            parent: its owner.
            text: accessible name; a label beside it makes one, too.
            letters: its width; 0: that of its longest text.
        """
        super().__init__(parent)
        named(self, name, text)
        if letters:
            self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            self.setMinimumContentsLength(letters)
        for value, shown in choices:
            self.addItem(shown, value)

    def choose(self, value: object) -> None:
        """Chooses what stands for this; the first one if nothing does."""
        self.setCurrentIndex(max(0, self.findData(value)))
