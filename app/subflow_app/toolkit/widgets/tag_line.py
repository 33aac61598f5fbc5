"""Offers known tags while the last of several is typed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QStringListModel
from PySide6.QtWidgets import QCompleter, QLineEdit


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
