"""Help on the panel that has the keyboard: short pages in ``assets/help``, one per panel."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QTextBrowser, QWidget

from subflow_app.foundation.errors import ResourceError
from subflow_app.foundation.resources import resource_path
from subflow_app.toolkit.theme import Tokens, follow_theme
from subflow_app.toolkit.widgets.shorthand import named, v_box
from subflow_app.vocabulary.language import ENGLISH, current_language, tr

START_PAGE = "help"


class HelpPanel(QWidget):
    """Shows one page; links go to other pages, and a button to the user guide, which has more."""

    guide_wanted = Signal(str)  # page that more is wanted about

    def __init__(self, parent: QWidget | None = None) -> None:
        """Shows what help there is."""
        super().__init__(parent)
        self.setObjectName("help_panel")
        self.page = START_PAGE
        self.browser = named(QTextBrowser(self, openLinks=False), "help_text", tr("Help"))
        self.browser.document().setDocumentMargin(12)
        self.browser.anchorClicked.connect(lambda url: self.show_page(url.path()))
        self.more = named(QPushButton(tr("More in the user guide"), self), "help_more")
        self.more.setToolTip(tr("Open the user guide at the page of this panel"))
        self.more.clicked.connect(lambda: self.guide_wanted.emit(self.page))
        v_box(self, self.browser, self.more, margins=0, spacing=0)
        self.setFocusProxy(self.browser)
        follow_theme(self._recolour)

    def show_page(self, name: str) -> None:
        """Shows the page of a panel; the start page if there is none such."""
        try:
            path = _page_path(name)
        except ResourceError:
            name, path = START_PAGE, _page_path(START_PAGE)
        self.page = name
        self.browser.setMarkdown(path.read_text(encoding="utf-8"))

    def _recolour(self, _tokens: Tokens) -> None:
        self.show_page(self.page)  # links keep the colour they are read with


def _page_path(name: str) -> Path:
    """English pages are in the folder itself, those of other languages in folders below."""
    code = current_language()
    return resource_path(f"help/{name}.md" if code == ENGLISH else f"help/{code}/{name}.md")
