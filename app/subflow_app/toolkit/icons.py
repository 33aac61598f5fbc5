"""Icons by meaning, drawn from vector fonts in the colours of the theme, so that they are crisp at every scale.

The window names the meaning of an icon ("run"), never its glyph, so that a glyph can be replaced in one place.
"""

from __future__ import annotations

import json
import logging
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QIconEngine, QPainter, QPixmap

from subflow_app.toolkit.theme import current_tokens

_log = logging.getLogger(__name__)

# Icons of the states of jobs and runs.
STATE_ICONS: dict[str, str] = {
    "waiting": "recent",
    "checking": "recent",
    "starting": "recent",
    "running": "run",
    "paused": "pause",
    "stopping": "stop",
    "finished": "ok",
    "stopped": "stop",
    "failed": "error",
    "cancelled": "stop",
    "interrupted": "warning",
}

# Meaning -> glyph of Phosphor ("ph") or Material Design ("mdi6") in qtawesome.
GLYPHS: dict[str, str] = {
    "new": "ph.file-plus",
    "new_empty": "ph.file-dotted",
    "open": "ph.folder-open",
    "example": "ph.books",
    "recent": "ph.clock",
    "sweeps": "ph.squares-four",
    "gallery": "ph.image-square",
    "arena": "ph.trophy",
    "break": "mdi6.hammer",
    "script": "ph.code",
    "comment": "ph.hash",
    "complete": "ph.list-plus",
    "conformance": "ph.shield-check",
    "restore": "ph.arrow-u-up-left",
    "run_quick": "ph.lightning",
    "save": "ph.floppy-disk",
    "save_as": "ph.floppy-disk-back",
    "database": "ph.database",
    "database_copy": "ph.copy",
    "export_figure": "ph.image",
    "export_data": "ph.table",
    "export_report": "ph.article",
    "quit": "ph.sign-out",
    "undo": "ph.arrow-u-up-left",
    "redo": "ph.arrow-u-up-right",
    "cut": "ph.scissors",
    "copy": "ph.copy",
    "paste": "ph.clipboard-text",
    "duplicate": "ph.copy-simple",
    "select_all": "ph.selection-all",
    "select_none": "ph.selection-slash",
    "connect": "ph.line-segments",
    "tool_select": "ph.cursor",
    "tool_host": "ph.desktop-tower",
    "tool_router": "mdi6.router",
    "tool_link": "ph.line-segment",
    "tool_flow": "ph.path",
    "tool_note": "ph.note-blank",
    "paths": "ph.flow-arrow",
    "search": "ph.magnifying-glass",
    "run": "ph.play-fill",
    "pause": "ph.pause-fill",
    "stop": "ph.stop-fill",
    "decisions": "ph.git-fork",
    "speed": "ph.gauge",
    "speed_slowest": "mdi6.snail",
    "speed_slower": "mdi6.tortoise",
    "step": "ph.arrow-line-right",
    "step_back": "ph.arrow-line-left",
    "play": "ph.play",
    "play_back": "ph.rewind",
    "previous_event": "ph.caret-double-left",
    "next_event": "ph.caret-double-right",
    "time": "ph.timer",
    "live": "ph.broadcast",
    "events": "ph.list-bullets",
    "run_until": "mdi6.flag-checkered",
    "link_down": "mdi6.lan-disconnect",
    "link_up": "mdi6.lan-connect",
    "queue": "ph.queue",
    "retry": "ph.arrow-clockwise",
    "up": "ph.arrow-up",
    "down": "ph.arrow-down",
    "speed_slow": "ph.person-simple-walk",
    "speed_medium": "ph.person-simple-run",
    "speed_fast": "ph.rocket",
    "speed_max": "ph.rocket-launch",
    "topology": "ph.share-network",
    "inspector": "ph.sliders-horizontal",
    "history": "ph.clock-counter-clockwise",
    "agent": "ph.robot",
    "explain": "ph.lightbulb",
    "fairness": "ph.scales",
    "trade_offs": "mdi6.chart-scatter-plot",
    "first": "ph.skip-back",
    "previous": "ph.caret-left",
    "next": "ph.caret-right",
    "last": "ph.skip-forward",
    "train": "ph.student",
    "policy": "mdi6.gradient-vertical",
    "checkpoint": "ph.flag-banner",
    "evaluate": "ph.scales",
    "race": "mdi6.flag-checkered",
    "promote": "ph.medal",
    "plots": "ph.chart-line",
    "reset_layout": "ph.arrows-in",
    "workspace": "ph.layout",
    "zoom_in": "ph.magnifying-glass-plus",
    "zoom_out": "ph.magnifying-glass-minus",
    "presentation": "ph.projector-screen",
    "fit": "ph.corners-out",
    "zoom_reset": "ph.frame-corners",
    "legend": "ph.list-dashes",
    "pop_out": "ph.arrow-square-out",
    "cursors": "ph.arrows-out-line-horizontal",
    "crosshair": "ph.crosshair-simple",
    "log": "ph.chart-line-up",
    "bins": "mdi6.chart-histogram",
    "colours": "ph.palette",
    "band": "mdi6.chart-areaspline-variant",
    "marks": "ph.map-pin",
    "ghost": "ph.ghost",
    "side_by_side": "ph.columns",
    "fork": "ph.git-branch",
    "theme": "ph.circle-half",
    "theme_light": "ph.sun",
    "theme_dark": "ph.moon",
    "theme_contrast": "ph.circle-half-fill",
    "theme_system": "ph.desktop",
    "rename": "ph.pencil-simple",
    "tag": "ph.tag",
    "note": "ph.note",
    "overlay": "ph.stack",
    "clear": "ph.eraser",
    "delete": "ph.trash",
    "saved_search": "ph.funnel",
    "columns": "ph.columns",
    "compare": "ph.git-diff",
    "kernel": "ph.cpu",
    "emulate": "ph.terminal-window",
    "programs": "ph.terminal-window",
    "folded": "ph.caret-right",
    "unfolded": "ph.caret-down",
    "unfold_up": "ph.caret-up",
    "purge": "mdi6.broom",
    "scenario": "ph.file-text",
    "import": "ph.download-simple",
    "web_page": "ph.browser",
    "template": "ph.squares-four",
    "align_left": "ph.align-left",
    "align_right": "ph.align-right",
    "align_top": "ph.align-top",
    "align_bottom": "ph.align-bottom",
    "align_centre_x": "ph.align-center-horizontal",
    "align_centre_y": "ph.align-center-vertical",
    "distribute_x": "mdi6.distribute-horizontal-center",
    "distribute_y": "mdi6.distribute-vertical-center",
    "layout": "mdi6.graph-outline",
    "grid": "ph.grid-four",
    "lock": "ph.lock",
    "minimap": "ph.map-trifold",
    "timeline": "mdi6.timeline-clock-outline",
    "help": "ph.question",
    "log_panel": "ph.article",
    "settings": "ph.gear",
    "welcome": "ph.hand-waving",
    "shortcuts": "ph.keyboard",
    "about": "ph.info",
    "crash": "ph.bug",
    "guide": "ph.book-open",
    "info": "ph.info",
    "warning": "ph.warning",
    "error": "ph.warning-octagon",
    "ok": "ph.check-circle",
    "close": "ph.x",
    "accept": "ph.check",
    "refuse": "ph.prohibit",
    "back": "ph.arrow-left",
    "forward": "ph.arrow-right",
    "file": "ph.file",
    "folder": "ph.folder",
    "new_folder": "ph.folder-plus",
    "home": "ph.house",
    "drive": "ph.hard-drives",
    "computer": "ph.desktop",
    "list_view": "ph.list",
    "details_view": "ph.list-dashes",
    "minimise": "ph.minus",
    "more": "ph.caret-down",
    "add": "ph.plus",
    "reset_value": "ph.arrow-counter-clockwise",
}


# Fonts of the prefixes above: (font, JSON with the code point of each glyph), both in qtawesome's folder.
_FONTS = {
    "ph": ("phosphor-1.3.0.ttf", "phosphor-charmap-1.3.0.json"),
    "mdi6": ("materialdesignicons6-webfont-6.9.96.ttf", "materialdesignicons6-webfont-charmap-6.9.96.json"),
}
# Font size as a share of the icon's height; less than 1, because glyphs of icon fonts reach to the edge of their box.
_GLYPH_SHARE = 0.875


def icon(name: str, colour: str = "text") -> QIcon:
    """The icon with this meaning.

    Args:
        name: a key of :data:`GLYPHS`; an unknown name gives a blank icon and one message in the log.
        colour: a field of `Tokens`, read when the icon is drawn, or ``#rrggbb``.
    """
    return QIcon(_GlyphEngine(name, colour))


class _GlyphEngine(QIconEngine):
    """Draws one glyph on demand, at any size and scale.

    qtawesome, the source of these fonts, has a similar engine; but importing it and loading its twelve fonts took a
    fifth of the startup time, and two fonts are enough here.
    """

    def __init__(self, name: str, colour: str) -> None:
        super().__init__()
        self._name = name
        self._colour = colour

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, _state: QIcon.State) -> None:
        """Draw the glyph in the middle of ``rect``; a missing glyph draws nothing."""
        found = _glyph(self._name)
        if found is None:
            return
        family, character = found
        tokens = current_tokens()
        colour = self._colour if self._colour.startswith("#") else getattr(tokens, self._colour)
        if mode == QIcon.Mode.Disabled:
            colour = tokens.border
        elif mode == QIcon.Mode.Selected:
            # Other colours would be unreadable in a selected row of a table.
            colour = tokens.highlighted_text
        font = QFont(family)
        font.setPixelSize(max(1, round(rect.height() * _GLYPH_SHARE)))
        painter.save()
        try:
            painter.setFont(font)
            painter.setPen(QColor(colour))
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, character)
        finally:
            painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """A transparent pixmap with the glyph in its middle."""
        picture = QPixmap(size)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        # The program crashes if a pixmap is deleted before its painter ends.
        try:
            self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        finally:
            painter.end()
        return picture


def font_files() -> list[Path]:
    """The fonts of the icons and their glyph tables, the only files of qtawesome that are used."""
    return [_font_folder() / name for names in _FONTS.values() for name in names]


@cache
def _glyph(name: str) -> tuple[str, str] | None:
    """Family and character of an icon; None, with one message in the log, if the fonts have no glyph for it.

    Qt draws icons during painting, where an exception would end the program; a blank icon is harmless.
    """
    prefix, _, glyph = GLYPHS.get(name, "").partition(".")
    try:
        family, code_points = _font(prefix)
        return family, chr(int(code_points[glyph], 16))
    except (LookupError, OSError, ValueError) as error:
        _log.warning("the icon %r (%s) cannot be drawn: %r", name, GLYPHS.get(name, "no such icon"), error)
        return None


@cache
def _font(prefix: str) -> tuple[str, dict[str, str]]:
    """Family and code points of an icon font, which is loaded only for this program."""
    font_file, charmap_file = _FONTS[prefix]
    folder = _font_folder()
    family = QFontDatabase.applicationFontFamilies(QFontDatabase.addApplicationFont(str(folder / font_file)))[0]
    return family, json.loads((folder / charmap_file).read_text(encoding="utf-8"))


def _font_folder() -> Path:
    found = find_spec("qtawesome")
    assert found is not None
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0]) / "fonts"
