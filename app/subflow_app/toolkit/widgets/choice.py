"""A choice from a list that opens, and a line that offers known tags while the last one is typed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QObject, QStringListModel
from PySide6.QtWidgets import QComboBox, QCompleter, QLineEdit, QWidget

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


class TagLine(QObject):
    """Completes what stands after the last comma of a line."""

    def __init__(self, line: QLineEdit, known: Sequence[str]) -> None:
        """Belongs to ``line``."""
        super().__init__(line)
        self._line = line
        self._known = known
        self._offered = QStringListModel(self)
        self._completer = QCompleter(self._offered, self)
        self._completer.setWidget(line)
        popup = self._completer.popup()
        assert popup is not None
        self._popup = popup
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.activated[str].connect(self._take)  # type: ignore[index] # overloaded signal
        line.textEdited.connect(self._offer)

    def offers(self, text: str) -> list[str]:
        """Known tags that begin as the last one in a text, and are not in it yet."""
        *before, begun = (part.strip().lower() for part in text.split(","))
        return [tag for tag in self._known if begun and tag.lower().startswith(begun) and tag.lower() not in before]

    def _offer(self, text: str) -> None:
        offered = self.offers(text)
        self._offered.setStringList(offered)
        if offered:
            self._completer.complete()
        else:
            self._popup.hide()

    def _take(self, tag: str) -> None:
        before = self._line.text().rpartition(",")[0]
        self._line.setText(f"{before}, {tag}" if before else tag)
