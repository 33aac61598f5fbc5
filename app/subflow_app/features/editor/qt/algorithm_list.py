"""A list of controllers to tick: that of the scenario first, then all others that the flow can have."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from subflow_app.features.editor.core.algorithm_choices import AlgorithmChoice
from subflow_app.features.editor.core.algorithm_values import replaced_text, value_text
from subflow_app.foundation.toml_edit import TomlValue
from subflow_app.toolkit.plain_text import as_written
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr

_CHOICE = Qt.ItemDataRole.UserRole


class AlgorithmList(QListWidget):
    """Choices with boxes; `itemChanged` reports a tick."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """Empty."""
        super().__init__(parent)
        named(self, name, tr("Controllers"))
        # The options of a choice can be long; the tool tip shows all of them.
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)

    def show_choices(self, choices: Sequence[AlgorithmChoice]) -> None:
        """Lists these; only the choice of the scenario is ticked."""
        with QSignalBlocker(self):
            self.clear()
            for choice in choices:
                item = QListWidgetItem(choice.text, self)
                item.setData(_CHOICE, choice)
                item.setToolTip(as_written(f"{choice.text}\n{choice.summary}".rstrip()))
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                item.setCheckState(Qt.CheckState.Checked if choice.is_own else Qt.CheckState.Unchecked)

    @property
    def choices(self) -> list[AlgorithmChoice]:
        """All that are listed."""
        return [self.item(row).data(_CHOICE) for row in range(self.count())]

    @property
    def chosen(self) -> list[AlgorithmChoice]:
        """Those that are ticked, from top to bottom."""
        items = [self.item(row) for row in range(self.count())]
        return [item.data(_CHOICE) for item in items if item.checkState() == Qt.CheckState.Checked]

    @property
    def values(self) -> list[TomlValue]:
        """Values of those that are ticked, as scenario files have them."""
        return [choice.value for choice in self.chosen]

    def choose(self, values: Sequence[TomlValue]) -> None:
        """Ticks the choices with these values and no others."""
        for row in range(self.count()):
            item = self.item(row)
            is_wanted = item.data(_CHOICE).value in values
            item.setCheckState(Qt.CheckState.Checked if is_wanted else Qt.CheckState.Unchecked)

    def replaced(self, key: str) -> str:
        """A line about ticked choices that leave out options of the scenario; empty: none does.

        Args:
            key: of the controller in the scenario.
        """
        own = next((choice.value for choice in self.choices if choice.is_own), "")
        others = [value_text(choice.value) for choice in self.chosen if not choice.is_own]
        return replaced_text(key, others, own) if others and not isinstance(own, str) else ""
