"""User guide and help in the window, with pages for the panel or algorithm that has the keyboard focus.

Pages of the guide open in the system's browser; a missing guide is built first. Help consists of short pages in
``assets/help``, one for each panel.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QPushButton, QTextBrowser, QWidget

from subflow_app.features.explain.qt.feature import ExplainFeature
from subflow_app.foundation.errors import GuideError, ResourceError
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.resources import resource_path
from subflow_app.toolkit.action_bar import ActionSpec
from subflow_app.toolkit.feature import Feature, FeatureHolder
from subflow_app.toolkit.study import Study
from subflow_app.toolkit.theme import Tokens, follow_theme
from subflow_app.toolkit.widgets.shorthand import named, v_box
from subflow_app.toolkit.workspaces import PANELS
from subflow_app.vocabulary.language import ENGLISH, current_language, tr

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.editor.qt.inspector.inspector import Inspector
    from subflow_app.features.guide.core import GuideBuild
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.foundation.jobs.job import JobOutcome
    from subflow_app.toolkit.docks import Docks
    from subflow_app.toolkit.notices import Notices
    from subflow_app.toolkit.widgets.banner import Banners
    from subflow_app.toolkit.workers import Workers


_ALGORITHMS = ("controller", "scheduler")
_BANNER = "guide"


class GuidePorts(FeatureHolder, Protocol):
    """Parts of the window with pages in the guide, and parts that show progress."""

    banners: Banners
    docks: Docks
    documents: Documents
    help: HelpPanel
    inspector: Inspector
    notices: Notices
    plots: PlotView
    workers: Workers

    def tell(self, text: str) -> None:
        """Show a message for a while; empty clears it."""


class GuideFeature(Feature):
    """Opens pages of the guide by topic, see `features.guide.core`."""

    def __init__(self, ports: GuidePorts) -> None:
        """Start without a page or build."""
        super().__init__()
        self.ports = ports
        self.study: Study[GuideBuild] = Study(
            ports.workers, self, "guide", lambda error: ports.notices.action_failed(str(error))
        )
        self.study.ticked.connect(self._tell_progress)
        self.study.ended.connect(self._on_ended)
        self._wanted = ""  # topic to open after the build

    def connect_parts(self) -> None:
        """Connect the links in the help panel and in explained decisions."""
        self.ports.help.guide_wanted.connect(lambda page: self.show(_topic_of_help(page)))
        self.ports.features[ExplainFeature].guide_wanted.connect(self.show)

    def show(self, topic: str = "") -> None:
        """Open the page of a topic; empty for the first page."""
        from subflow_app.features.guide.core import can_build_guide, guide_file

        try:
            path, anchor = guide_file(topic)
        except GuideError as error:
            if can_build_guide():
                self._build_for(topic)
            else:
                self.ports.notices.action_failed(str(error))
        else:
            self._open(path, anchor)

    def show_here(self) -> None:
        """Open the guide for the focused widget: the page of the algorithm in its field, or else of its panel."""
        self.show(topic_of(self.ports, QApplication.focusWidget()))

    def close(self) -> None:
        """Stop a build."""
        self.study.forget()

    def _open(self, path: Path, anchor: str) -> None:
        url = QUrl.fromLocalFile(str(path))
        if anchor:
            url.setFragment(anchor)
        if not QDesktopServices.openUrl(url):
            text = tr("No browser could be opened. The page of the user guide is {path}", path=path)
            self.ports.banners.show_banner(_BANNER, "warning", text)

    def _build_for(self, topic: str) -> None:
        from subflow_app.features.guide.core import GuideBuild

        self._wanted = topic
        if not self.study.is_running:  # a running build opens the page requested last
            self.study.start(GuideBuild())

    def _on_ended(self, _build: GuideBuild | None, outcome: JobOutcome | None) -> None:
        self.ports.tell("")
        if outcome is not None and outcome.state is JobState.FINISHED:
            self.show(self._wanted)

    def _tell_progress(self) -> None:
        if self.study.job is not None:
            share = round(100 * self.study.job.progress.fraction)
            self.ports.tell(tr("Building the user guide: {percent} %", percent=share))


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Entries of the Help menu."""
    yield ActionSpec(
        "help.guide_here",
        "User guide on &this",
        "Open the user guide in the browser, at the page of the algorithm or panel that has the keyboard focus",
        "guide",
        ("Shift+F1",),
        lambda w, _: w.features[GuideFeature].show_here(),
    )
    yield ActionSpec(
        "help.guide",
        "User &guide",
        "Open the user guide in the browser: every view, algorithm, command and key of a scenario file",
        "guide",
        ("Ctrl+F1",),
        lambda w, _: w.features[GuideFeature].show(),
    )


def topic_of(ports: GuidePorts, widget: QWidget | None) -> str:
    """The topic of a widget: the algorithm in its inspector field, or else its panel; empty if neither has a topic."""
    if widget is None:
        return ""
    rows = {row.key: row for row in ports.inspector.form.rows()}
    for key, row in rows.items():
        if row.editor is widget or row.editor.isAncestorOf(widget):
            parts = key.split(".")
            for kind in _ALGORITHMS:
                if kind in parts:
                    chosen = rows[".".join(parts[: parts.index(kind) + 1])].field
                    name = chosen.text or chosen.placeholder
                    if any((each.kind, each.name) == (kind, name) for each in ports.documents.doc.scripts):
                        return "section/script"
                    return f"{kind}/{name}" if name else "panel/inspector"
    found = next((name for name in PANELS if ports.docks.contains(name, widget)), "")
    if found:
        return f"panel/{found}"
    return "panel/plots" if ports.plots.isAncestorOf(widget) else ""


def _topic_of_help(page: str) -> str:
    return f"panel/{page}" if page in PANELS or page == "plots" else ""


START_PAGE = "help"


class HelpPanel(QWidget):
    """Shows one help page, with links to other pages and a button for the user guide."""

    guide_wanted = Signal(str)  # page whose counterpart in the guide is requested

    def __init__(self, parent: QWidget | None = None) -> None:
        """Show the start page."""
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
        """Show the page of a panel, or the start page if it does not exist."""
        try:
            path = _page_path(name)
        except ResourceError:
            name, path = START_PAGE, _page_path(START_PAGE)
        self.page = name
        self.browser.setMarkdown(path.read_text(encoding="utf-8"))

    def _recolour(self, _tokens: Tokens) -> None:
        self.show_page(self.page)  # links get their colour when the page is read


def _page_path(name: str) -> Path:
    """English pages are in the folder itself, translations in subfolders."""
    code = current_language()
    return resource_path(f"help/{name}.md" if code == ENGLISH else f"help/{code}/{name}.md")
