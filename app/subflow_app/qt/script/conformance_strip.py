"""Chips that tell what a script stands, each of which opens the run that shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from subflow_app.core.conformance import Check, Finding
from subflow_app.core.language import tr
from subflow_app.qt.icons import icon
from subflow_app.qt.plain_text import as_written
from subflow_app.qt.theme import Tokens, follow_theme
from subflow_app.qt.widgets.shorthand import named
from subflow_app.qt.widgets.wrap_layout import WrapLayout

_ICONS = {"pass": ("ok", "ok"), "fail": ("error", "error"), "error": ("error", "error"), "": ("recent", "muted_text")}


class ConformanceStrip(QWidget):
    """A button for each check, with its number once that is known."""

    opened = Signal(object)  # Finding, whose run is to be shown

    def __init__(self, parent: QWidget | None = None) -> None:
        """No checks yet."""
        super().__init__(parent)
        named(self, "conformance", tr("What the script stands"))
        self._layout = WrapLayout(self)
        self._chips: dict[str, QToolButton] = {}
        self._findings: Mapping[str, Finding] = {}
        self._checks: Sequence[Check] = ()
        follow_theme(self._recolour)

    def show_checks(self, checks: Sequence[Check], findings: Sequence[Finding], *, is_working: bool) -> None:
        """Shows what is known of these checks; of the others, whether they are being made."""
        if [check.id for check in checks] != list(self._chips):
            self._make(checks)
        self._checks = checks
        self._findings = {finding.check.id: finding for finding in findings}
        for check in checks:
            self._tell(check, self._findings.get(check.id), is_working)

    def text_of(self, check_id: str) -> str:
        """What a chip says."""
        return self._chips[check_id].text()

    def chip(self, check_id: str) -> QToolButton:
        """One of them."""
        return self._chips[check_id]

    def _make(self, checks: Sequence[Check]) -> None:
        for chip in self._chips.values():
            self._layout.removeWidget(chip)
            chip.deleteLater()
        self._chips = {}
        for check in checks:
            chip = named(QToolButton(self, autoRaise=False), f"conformance_{check.id}")
            chip.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            chip.clicked.connect(lambda _on=False, check_id=check.id: self._open(check_id))
            self._layout.addWidget(chip)
            self._chips[check.id] = chip

    def _open(self, check_id: str) -> None:
        if check_id in self._findings:
            self.opened.emit(self._findings[check_id])

    def _tell(self, check: Check, finding: Finding | None, is_working: bool) -> None:
        chip = self._chips[check.id]
        title, question = tr(check.title), tr(check.question)
        chip.setEnabled(finding is not None)
        if finding is None:
            chip.setText(tr("{title} …", title=title) if is_working else title)
            says = tr("being tried") if is_working else tr("not tried yet")
        else:
            chip.setText(title if finding.verdict == "error" else f"{title} {finding.share:.0%}")
            verdict = {"pass": tr("yes"), "fail": tr("no"), "error": tr("the run failed")}[finding.verdict]
            says = f"{verdict}: {finding.text}"
        tip = f"{question[:1].upper()}{question[1:]}\n{says}"
        chip.setToolTip(as_written(tip if finding is None else f"{tip}\n{tr('Click to see that run.')}"))
        chip.setAccessibleName(f"{chip.text()}: {says}")
        chip.setIcon(icon(*_ICONS[finding.verdict if finding is not None else ""]))

    def _recolour(self, _tokens: Tokens) -> None:
        for check in self._checks:
            finding = self._findings.get(check.id)
            self._chips[check.id].setIcon(icon(*_ICONS[finding.verdict if finding is not None else ""]))
