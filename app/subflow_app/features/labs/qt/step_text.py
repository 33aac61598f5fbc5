"""The text of a step: paragraphs of Markdown, and between them blocks of formulas, typeset."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QWidget

from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.widgets.formula_view import FormulaView, Span
from subflow_app.toolkit.widgets.shorthand import h_box, v_box
from subflow_app.vocabulary.formula_text import block_formulas, split_blocks

_INDENT = 24


class StepText(QWidget):
    """Shows a text; its formulas are drawn by the code that draws those of rules."""

    link_clicked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing yet."""
        super().__init__(parent)
        self.setObjectName("lab_text")
        self._text = ""
        self._body = QWidget(self)
        self._outside = v_box(self, self._body, margins=0)

    def text(self) -> str:
        """What is shown, as Markdown."""
        return self._text

    def show_text(self, text: str) -> None:
        """Shows another one."""
        self._text = text
        old, self._body = self._body, QWidget(self)
        inside = v_box(self._body, margins=0, spacing=10)
        for is_block, part in split_blocks(text):
            if is_block:
                inside.addLayout(h_box(None, _INDENT, (_formulas(part), 1)))
            else:
                inside.addWidget(self._words(part))
        self._outside.replaceWidget(old, self._body)
        old.hide()
        old.deleteLater()

    def _words(self, text: str) -> QLabel:
        label = Label(wordWrap=True, alignment=Qt.AlignmentFlag.AlignTop, textFormat=Qt.TextFormat.MarkdownText)
        flags = Qt.TextInteractionFlag
        label.setTextInteractionFlags(
            flags.TextSelectableByMouse | flags.LinksAccessibleByMouse | flags.LinksAccessibleByKeyboard
        )
        label.linkActivated.connect(self.link_clicked)
        label.setText(text)
        return label


def _formulas(block: str) -> FormulaView:
    view = FormulaView("lab_formula")
    view.set_lines([(Span(formula, is_formula=True),) for formula in block_formulas(block)])
    return view
