"""Icons by meaning, drawn from one vector font in the colours of the theme: crisp at every scale, light and dark.

The window names what an icon means ("run"), never which glyph it is, so that a glyph is replaced in one place.
"""

from __future__ import annotations

from PySide6.QtGui import QIcon

from subflow_app.qt.theme import current_tokens

# Meaning -> glyph of Phosphor ("ph") or Material Design ("mdi6") in qtawesome.
GLYPHS: dict[str, str] = {
    "new": "ph.file-plus",
    "open": "ph.folder-open",
    "example": "ph.books",
    "recent": "ph.clock",
    "save": "ph.floppy-disk",
    "save_as": "ph.floppy-disk-back",
    "database": "ph.database",
    "database_copy": "ph.copy",
    "export_figure": "ph.image",
    "export_data": "ph.table",
    "quit": "ph.sign-out",
    "undo": "ph.arrow-u-up-left",
    "redo": "ph.arrow-u-up-right",
    "search": "ph.magnifying-glass",
    "run": "ph.play-fill",
    "pause": "ph.pause-fill",
    "stop": "ph.stop-fill",
    "decisions": "ph.git-fork",
    "speed": "ph.gauge",
    "speed_slow": "ph.person-simple-walk",
    "speed_medium": "ph.person-simple-run",
    "speed_fast": "ph.rocket",
    "speed_max": "ph.rocket-launch",
    "topology": "ph.share-network",
    "inspector": "ph.sliders-horizontal",
    "history": "ph.clock-counter-clockwise",
    "agent": "ph.robot",
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
    "reset_layout": "ph.layout",
    "zoom_in": "ph.magnifying-glass-plus",
    "zoom_out": "ph.magnifying-glass-minus",
    "fit": "ph.corners-out",
    "zoom_reset": "ph.frame-corners",
    "legend": "ph.list-dashes",
    "crosshair": "ph.crosshair-simple",
    "log": "ph.chart-line-up",
    "marks": "ph.map-pin",
    "theme": "ph.circle-half",
    "theme_light": "ph.sun",
    "theme_dark": "ph.moon",
    "theme_system": "ph.desktop",
    "rename": "ph.pencil-simple",
    "tag": "ph.tag",
    "note": "ph.note",
    "overlay": "ph.stack",
    "clear": "ph.eraser",
    "delete": "ph.trash",
    "purge": "mdi6.broom",
    "scenario": "ph.file-text",
    "help": "ph.question",
    "shortcuts": "ph.keyboard",
    "about": "ph.info",
    "info": "ph.info",
    "warning": "ph.warning",
    "error": "ph.warning-octagon",
    "ok": "ph.check-circle",
    "close": "ph.x",
    "add": "ph.plus",
    "reset_value": "ph.arrow-counter-clockwise",
    "app": "ph.git-fork",
}


def icon(name: str, colour: str | None = None) -> QIcon:
    """The icon with this meaning.

    Args:
        name: a key of :data:`GLYPHS`.
        colour: ``#rrggbb``; by default the text colour of the theme in force, faded when disabled.

    Raises:
        KeyError: if no icon has this meaning.
    """
    import qtawesome  # 0.5 s with its fonts: the first icon pays, not the import of the package

    tokens = current_tokens()
    drawn: QIcon = qtawesome.icon(
        GLYPHS[name],
        color=colour or tokens.text,
        color_disabled=tokens.border,
        # In a selected row of a table any other colour would drown.
        color_selected=tokens.highlighted_text,
    )
    return drawn
