"""The settings dialog: searchable, with a row per setting; OK applies all changes together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QWidget,
)

from subflow_app.features.editor.qt.scenario_fields import TimeBox
from subflow_app.features.settings.core import SETTINGS, SettingSpec, defaults
from subflow_app.foundation.settings import Settings
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import Choice, Label, h_box, heading, named, v_box
from subflow_app.vocabulary.language import tr


class SettingsDialog(QDialog):
    """Edits a copy of the settings, and emits it in ``chosen`` after OK."""

    chosen = Signal(object)  # Settings
    database_wanted = Signal()

    def __init__(self, settings: Settings, database: str, parent: QWidget | None = None) -> None:
        """Shows ``settings``; ``database`` is the file in use."""
        super().__init__(parent)
        self.setObjectName("settings_dialog")
        self.setWindowTitle(tr("Settings"))
        self.resize(600, 620)
        self._settings = settings
        self.rows: dict[str, SettingRow] = {spec.key: SettingRow(spec) for spec in SETTINGS}
        self.search = named(QLineEdit(self, clearButtonEnabled=True), "settings_search", tr("Search settings"))
        self.search.setPlaceholderText(tr("Search settings…"))
        self.search.textChanged.connect(self._filter)
        content = QWidget()
        self._sections: dict[str, QLabel] = {}
        column = v_box(content, spacing=10)
        for row in self.rows.values():
            section = row.spec.section
            if section not in self._sections:
                self._sections[section] = _heading(tr(section))
                column.addWidget(self._sections[section])
            column.addWidget(row)
        self._database = QWidget()
        label = Label(tr("Database: {file}", file=database), wordWrap=True)
        choose = QPushButton(tr("Open another…"), autoDefault=False)
        choose.clicked.connect(self._ask_database)
        h_box(self._database, (label, 1), choose, margins=0)
        column.insertWidget(column.indexOf(self.rows["autosave"]) + 1, self._database)
        column.addStretch(1)
        area = named(QScrollArea(self, widgetResizable=True), "settings_area", tr("Settings"))
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(content)
        standard = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(standard.Ok | standard.Cancel | standard.RestoreDefaults, self)
        buttons.accepted.connect(self._take)
        buttons.rejected.connect(self.reject)
        buttons.button(standard.RestoreDefaults).clicked.connect(lambda: self._show(defaults(self._settings)))
        v_box(self, self.search, (area, 1), buttons)
        self._show(settings)

    def _show(self, settings: Settings) -> None:
        for key, row in self.rows.items():
            row.set_value(getattr(settings, key))

    def _filter(self, words: str) -> None:
        found = {key for key, row in self.rows.items() if row.matches(words)}
        for key, row in self.rows.items():
            row.setVisible(key in found)
        for section, title in self._sections.items():
            title.setVisible(any(self.rows[key].spec.section == section for key in found))
        self._database.setVisible(all(word in tr("Database").lower() for word in words.lower().split()))

    def _take(self) -> None:
        self.accept()
        self.chosen.emit(replace(self._settings, **{key: row.value() for key, row in self.rows.items()}))

    def _ask_database(self) -> None:
        self._take()
        self.database_wanted.emit()


class SettingRow(QWidget):
    """Label, editor and description of a setting."""

    def __init__(self, spec: SettingSpec) -> None:
        super().__init__()
        self.spec = spec
        self.editor, self.value, self.set_value = _editor(spec)
        named(self.editor, f"setting_{spec.key}", tr(spec.label))
        self.editor.setAccessibleDescription(tr(spec.tip))
        tip = tr(spec.tip)
        if spec.is_for_next_start:
            tip += " " + tr("Takes effect at the next start.")
        about = Label(tip, wordWrap=True)
        about.setStyleSheet(f"color: {current_tokens().muted_text};")
        layout = v_box(self, margins=0, spacing=2)
        if isinstance(self.editor, QCheckBox):
            layout.addWidget(self.editor)
        else:
            label = Label(tr(spec.label))
            label.setBuddy(self.editor)
            layout.addLayout(h_box(None, (label, 1), self.editor))
        layout.addWidget(about)

    def matches(self, words: str) -> bool:
        """True if section, label and tip together contain every word."""
        content = f"{tr(self.spec.section)} {tr(self.spec.label)} {tr(self.spec.tip)}".lower()
        return all(word in content for word in words.lower().split())


def _editor(spec: SettingSpec) -> tuple[QWidget, Callable[[], Any], Callable[[Any], None]]:
    """The widget for a setting, its getter and its setter."""
    if spec.kind == "switch":
        check = QCheckBox(tr(spec.label))
        return check, check.isChecked, check.setChecked
    if spec.kind == "choice":
        combo = Choice("", ((value, tr(text)) for value, text in spec.choices.items()))
        return combo, combo.currentData, combo.choose
    low, high = spec.bounds
    if spec.kind == "whole":
        whole = QSpinBox(singleStep=5, suffix=spec.unit)
        whole.setRange(int(low), int(high))
        return whole, whole.value, whole.setValue
    number = TimeBox()
    number.setRange(low, high)
    # The stored value may have more digits than the field shows; it is kept unless the user edits the field.
    exact = [low]

    def show(value: float) -> None:
        exact[0] = value
        number.setValue(value)

    return number, lambda: exact[0] if number.value() == round(exact[0], number.decimals()) else number.value(), show


def _heading(text: str) -> QLabel:
    label = heading(Label(text), 1.1)
    return label
