"""The settings dialog: a row for each setting, found by typing, taken over together or not at all."""

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
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from subflow_app.core.language import tr
from subflow_app.core.setting_specs import SETTINGS, SettingSpec, defaults
from subflow_app.core.settings import Settings
from subflow_app.qt.theme import current_tokens
from subflow_app.qt.widgets.choice import Choice
from subflow_app.qt.widgets.time_box import TimeBox


class SettingsDialog(QDialog):
    """Edits a copy of the settings; ``chosen`` tells it when the person says OK."""

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
        self.search = QLineEdit(self)
        self.search.setObjectName("settings_search")
        self.search.setAccessibleName(tr("Search settings"))
        self.search.setPlaceholderText(tr("Search settings…"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        content = QWidget()
        self._sections: dict[str, QLabel] = {}
        column = QVBoxLayout(content)
        column.setSpacing(10)
        for row in self.rows.values():
            section = row.spec.section
            if section not in self._sections:
                self._sections[section] = _heading(tr(section))
                column.addWidget(self._sections[section])
            column.addWidget(row)
        self._database = QWidget()
        line = QHBoxLayout(self._database)
        line.setContentsMargins(0, 0, 0, 0)
        label = QLabel(tr("Database: {file}", file=database))
        label.setWordWrap(True)
        choose = QPushButton(tr("Open another…"))
        choose.setAutoDefault(False)
        choose.clicked.connect(self._ask_database)
        line.addWidget(label, 1)
        line.addWidget(choose)
        column.insertWidget(column.indexOf(self.rows["autosave"]) + 1, self._database)
        column.addStretch(1)
        area = QScrollArea(self)
        area.setObjectName("settings_area")
        area.setAccessibleName(tr("Settings"))
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(content)
        standard = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(standard.Ok | standard.Cancel | standard.RestoreDefaults, self)
        buttons.accepted.connect(self._take)
        buttons.rejected.connect(self.reject)
        buttons.button(standard.RestoreDefaults).clicked.connect(lambda: self._show(defaults(self._settings)))
        layout = QVBoxLayout(self)
        layout.addWidget(self.search)
        layout.addWidget(area, 1)
        layout.addWidget(buttons)
        self._show(settings)

    def _show(self, settings: Settings) -> None:
        for key, row in self.rows.items():
            row.set_value(getattr(settings, key))

    def _filter(self, words: str) -> None:
        found = {key for key, row in self.rows.items() if row.matches(words)}
        for key, row in self.rows.items():
            row.setVisible(key in found)
        for section, heading in self._sections.items():
            heading.setVisible(any(self.rows[key].spec.section == section for key in found))
        self._database.setVisible(all(word in tr("Database").lower() for word in words.lower().split()))

    def _take(self) -> None:
        self.accept()
        self.chosen.emit(replace(self._settings, **{key: row.value() for key, row in self.rows.items()}))

    def _ask_database(self) -> None:
        self._take()
        self.database_wanted.emit()


class SettingRow(QWidget):
    """Label, editor, and what the setting does."""

    def __init__(self, spec: SettingSpec) -> None:
        """An editor for ``spec``."""
        super().__init__()
        self.spec = spec
        self.editor, self.value, self.set_value = _editor(spec)
        self.editor.setObjectName(f"setting_{spec.key}")
        self.editor.setAccessibleName(tr(spec.label))
        self.editor.setAccessibleDescription(tr(spec.tip))
        tip = tr(spec.tip)
        if spec.is_for_next_start:
            tip += " " + tr("Takes effect at the next start.")
        about = QLabel(tip)
        about.setWordWrap(True)
        about.setStyleSheet(f"color: {current_tokens().muted_text};")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        if isinstance(self.editor, QCheckBox):
            layout.addWidget(self.editor)
        else:
            line = QHBoxLayout()
            label = QLabel(tr(spec.label))
            label.setBuddy(self.editor)
            line.addWidget(label, 1)
            line.addWidget(self.editor)
            layout.addLayout(line)
        layout.addWidget(about)

    def matches(self, words: str) -> bool:
        """Whether every word occurs in what the row says."""
        said = f"{tr(self.spec.section)} {tr(self.spec.label)} {tr(self.spec.tip)}".lower()
        return all(word in said for word in words.lower().split())


def _editor(spec: SettingSpec) -> tuple[QWidget, Callable[[], Any], Callable[[Any], None]]:
    """The widget for a setting, what reads it and what sets it."""
    if spec.kind == "switch":
        check = QCheckBox(tr(spec.label))
        return check, check.isChecked, check.setChecked
    if spec.kind == "choice":
        combo = Choice("", ((value, tr(text)) for value, text in spec.choices.items()))
        return combo, combo.currentData, combo.choose
    low, high = spec.bounds
    if spec.kind == "whole":
        whole = QSpinBox()
        whole.setRange(int(low), int(high))
        whole.setSingleStep(5)
        whole.setSuffix(spec.unit)
        return whole, whole.value, whole.setValue
    number = TimeBox()
    number.setRange(low, high)
    # What is stored may have more digits than the field shows: left alone, it stays as it is.
    exact = [low]

    def show(value: float) -> None:
        exact[0] = value
        number.setValue(value)

    return number, lambda: exact[0] if number.value() == round(exact[0], number.decimals()) else number.value(), show


def _heading(text: str) -> QLabel:
    label = QLabel(text)
    font = label.font()
    font.setBold(True)
    font.setPointSizeF(font.pointSizeF() * 1.1)
    label.setFont(font)
    return label
