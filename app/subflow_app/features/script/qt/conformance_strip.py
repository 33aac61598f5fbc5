"""Chips that tell what a script stands, each of which opens the run that shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from subflow_app.features.script.core.conformance import ARENA, Finding, Question
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.plain_text import as_written
from subflow_app.toolkit.theme import Tokens, follow_theme
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.toolkit.widgets.wrap_layout import WrapLayout
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.plain_text import capitalised

_ICONS = {"pass": ("ok", "ok"), "fail": ("error", "error"), "error": ("error", "error"), "": ("recent", "muted_text")}


class ConformanceStrip(QWidget):
    """A button for each check, with its number once that is known."""

    opened = Signal(object)  # Finding, whose run is to be shown
    asked = Signal()  # what is not asked but by a click

    def __init__(self, after: QWidget, parent: QWidget | None = None) -> None:
        """No questions yet; the keyboard comes from ``after``."""
        super().__init__(parent)
        self._after = after
        named(self, "conformance", tr("Trials of the script"))
        self._layout = WrapLayout(self)
        self._chips: dict[str, QToolButton] = {}
        self._findings: Mapping[str, Finding] = {}
        follow_theme(self._recolour)

    def show_findings(
        self, questions: Sequence[Question], findings: Mapping[str, Finding], working: Sequence[Question]
    ) -> None:
        """Shows what is known.

        Args:
            questions: that can be asked.
            findings: by what was asked.
            working: on which somebody is at work.
        """
        if [question.id for question in questions] != list(self._chips):
            self._make(questions)
        self._findings = dict(findings)
        at_work = {question.id for question in working}
        for question in questions:
            is_offered = question is ARENA and not at_work
            self._tell(question, self._findings.get(question.id), question.id in at_work, is_offered=is_offered)

    def text_of(self, check_id: str) -> str:
        """What a chip says."""
        return self._chips[check_id].text()

    def chip(self, check_id: str) -> QToolButton:
        """One of them."""
        return self._chips[check_id]

    def _make(self, questions: Sequence[Question]) -> None:
        for chip in self._chips.values():
            self._layout.removeWidget(chip)
            chip.deleteLater()
        self._chips = {}
        before = self._after
        for question in questions:
            chip = named(QToolButton(self, autoRaise=False), f"conformance_{question.id}")
            chip.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            chip.clicked.connect(lambda _on=False, question_id=question.id: self._open(question_id))
            self._layout.addWidget(chip)
            self._chips[question.id] = chip
            # Made later than what is below, they would come behind it.
            QWidget.setTabOrder(before, chip)
            before = chip

    def _open(self, question_id: str) -> None:
        if question_id in self._findings:
            self.opened.emit(self._findings[question_id])
        else:
            self.asked.emit()

    def _tell(self, question: Question, finding: Finding | None, is_at_work: bool, *, is_offered: bool) -> None:
        chip = self._chips[question.id]
        title, asks = tr(question.title), tr(question.question)
        asks = capitalised(asks)
        chip.setEnabled(finding is not None or is_offered)
        if finding is not None:
            chip.setText(f"{title} {finding.number}".rstrip())
            verdict = {"pass": tr("yes"), "fail": tr("no"), "error": tr("the run failed")}[finding.verdict]
            says = finding.text if question is ARENA else f"{verdict}: {finding.text}"
            tip = (asks, says, tr("Click to see that run."))
        else:
            chip.setText(tr("{title} …", title=title) if is_at_work else title)
            says = tr("being tried") if is_at_work else tr("not tried yet")
            tip = (asks, says, *((tr("Click to ask: it takes half a minute at most."),) if is_offered else ()))
        chip.setToolTip(as_written("\n".join(tip)))
        chip.setAccessibleName(f"{chip.text()}: {says}")
        chip.setIcon(icon(*_ICONS[finding.verdict if finding is not None else ""]))

    def _recolour(self, _tokens: Tokens) -> None:
        for question_id, chip in self._chips.items():
            finding = self._findings.get(question_id)
            chip.setIcon(icon(*_ICONS[finding.verdict if finding is not None else ""]))
