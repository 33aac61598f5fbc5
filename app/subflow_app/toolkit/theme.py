"""Colours of the window: three sets of colour tokens, with their palettes and style sheets.

`app_theme` switches between the sets. All colours of widgets come from :class:`Tokens`; curve colours come from
``subflow_app.vocabulary.palette``, because exported figures need them without Qt. Fusion gets our own palette, because
``setColorScheme`` has no effect on many Linux desktops, and ready-made style sheets take half a second to apply and
change the size of every control.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, get_args

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QColor, QPalette

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

ThemeMode = Literal["light", "dark", "contrast", "system"]
MODES: tuple[ThemeMode, ...] = get_args(ThemeMode)


@dataclass(frozen=True, slots=True)
class Tokens:
    """Named colours as ``#rrggbb``; ``QColor(tokens.text)`` converts one."""

    name: Literal["light", "dark", "contrast"]
    window: str  # background of panels and toolbars
    base: str  # background of text fields, tables, canvas and plots
    alternate_base: str  # background of every second table row and of headers
    text: str
    muted_text: str  # secondary text, placeholders, axis labels
    button: str
    button_hover: str
    highlight: str  # selection background
    highlighted_text: str
    link: str
    accent: str  # the colour that attracts attention: run button, focus, progress
    accent_text: str  # text on an accent fill
    error: str
    warning: str
    ok: str
    error_fill: str  # banner backgrounds; `text` is readable on them
    warning_fill: str
    info_fill: str
    border: str
    grid: str  # plot and canvas grid lines
    node_fill: str
    node_border: str
    link_line: str
    shadow: str

    @property
    def is_dark(self) -> bool:
        """True for the sets with light text on a dark background."""
        return self.name != "light"


LIGHT = Tokens(
    name="light",
    window="#f2f4f7",
    base="#ffffff",
    alternate_base="#f7f8fa",
    text="#1c2128",
    muted_text="#5a6472",
    button="#ffffff",
    button_hover="#e6ebf2",
    highlight="#1f63c1",
    highlighted_text="#ffffff",
    link="#0b5cc0",
    accent="#1f63c1",
    accent_text="#ffffff",
    error="#b3231b",
    warning="#855300",
    ok="#19702f",
    error_fill="#fdeceb",
    warning_fill="#fff4da",
    info_fill="#e6f0fc",
    border="#cfd6de",
    grid="#e3e7ec",
    node_fill="#ffffff",
    node_border="#5f6b7a",
    link_line="#7c8794",
    shadow="#c3cad3",
)

DARK = Tokens(
    name="dark",
    window="#20242a",
    base="#171a1f",
    alternate_base="#1c2026",
    text="#e6e9ed",
    muted_text="#a3acb8",
    button="#2b3038",
    button_hover="#363d47",
    highlight="#2a63b0",
    highlighted_text="#ffffff",
    link="#74b4ff",
    accent="#6caeff",
    accent_text="#0d1520",
    error="#ff8f86",
    warning="#ebbd58",
    ok="#63d68b",
    error_fill="#43211f",
    warning_fill="#3d3113",
    info_fill="#1d3149",
    border="#3b424d",
    grid="#2a3038",
    node_fill="#2b3038",
    node_border="#98a3b1",
    link_line="#7f8a97",
    shadow="#0c0e11",
)

# Black, white and yellow: text has a contrast of at least 7:1 (WCAG AAA), and all meaningful edges are visible.
CONTRAST = Tokens(
    name="contrast",
    window="#000000",
    base="#000000",
    alternate_base="#141414",
    text="#ffffff",
    muted_text="#e6e6e6",
    button="#1a1a1a",
    button_hover="#3a3a3a",
    highlight="#ffe000",
    highlighted_text="#000000",
    link="#8fd3ff",
    accent="#ffe000",
    accent_text="#000000",
    error="#ffaaa3",
    warning="#ffd75e",
    ok="#7dff9b",
    error_fill="#3a0000",
    warning_fill="#332600",
    info_fill="#00213d",
    border="#9a9a9a",
    grid="#4d4d4d",
    node_fill="#000000",
    node_border="#ffffff",
    link_line="#d0d0d0",
    shadow="#000000",
)


def contrast_ratio(first: str, second: str) -> float:
    """Contrast of two colours, from 1 (equal) to 21 (black on white).

    Source: WCAG 2.2, definitions of "contrast ratio" and "relative luminance".
    """

    def luminance(colour: str) -> float:
        shown = QColor(colour)
        rgb = (shown.redF(), shown.greenF(), shown.blueF())
        linear = [c / 12.92 if c <= 0.04045 else math.pow((c + 0.055) / 1.055, 2.4) for c in rgb]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def build_palette(tokens: Tokens) -> QPalette:
    """The widget palette of a token set, with disabled variants, which Fusion does not derive well."""
    palette = QPalette()
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    for key, colour in {
        role.Window: tokens.window,
        role.WindowText: tokens.text,
        role.Base: tokens.base,
        role.AlternateBase: tokens.alternate_base,
        role.Text: tokens.text,
        role.PlaceholderText: tokens.muted_text,
        role.Button: tokens.button,
        role.ButtonText: tokens.text,
        role.BrightText: tokens.error,
        role.ToolTipBase: tokens.base,
        role.ToolTipText: tokens.text,
        role.Highlight: tokens.highlight,
        role.HighlightedText: tokens.highlighted_text,
        role.Link: tokens.link,
        role.LinkVisited: tokens.link,
        role.Accent: tokens.accent,
        role.Light: tokens.button_hover if tokens.is_dark else "#ffffff",
        role.Midlight: tokens.button_hover,
        role.Mid: tokens.border,
        role.Dark: tokens.border,
        role.Shadow: tokens.shadow,
    }.items():
        palette.setColor(key, QColor(colour))
    faded = mixed(tokens.muted_text, tokens.window, 0.35)
    for key in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText, role.PlaceholderText):
        palette.setColor(group.Disabled, key, QColor(faded))
    palette.setColor(group.Disabled, role.Highlight, QColor(tokens.border))
    palette.setColor(group.Disabled, role.Base, QColor(tokens.window))
    palette.setColor(group.Disabled, role.Button, QColor(tokens.window))
    return palette


def bar_style(tokens: Tokens) -> str:
    """Rules for menu bar and toolbar that a palette cannot express.

    Set on these bars and not on the application, where a style sheet makes Qt polish every widget, which took 0.4 s per
    switch of the theme.
    """
    t = tokens
    return f"""
QMenuBar {{ background: {t.window}; border-bottom: 1px solid {t.border}; padding: 1px 4px; }}
QMenuBar::item {{ background: transparent; padding: 3px 9px; border-radius: 4px; }}
QMenuBar::item:selected {{ background: {t.button_hover}; }}
QToolBar {{ background: {t.window}; border: none; border-bottom: 1px solid {t.border};
    spacing: 2px; padding: 3px; }}
QToolBar::separator {{ background: {t.border}; width: 1px; margin: 5px 6px; }}
QToolBar > QToolButton {{ border: 1px solid transparent; border-radius: 5px; padding: 2px 6px; }}
QToolBar > QToolButton::menu-indicator {{ image: none; }}
QToolBar > QToolButton:hover:enabled {{ background: {t.button_hover}; }}
QToolBar > QToolButton:pressed {{ background: {t.border}; }}
QToolBar > QToolButton:checked {{ background: {t.button_hover}; border-color: {t.border}; }}
QToolBar > QToolButton:focus {{ border-color: {t.accent}; }}
QProgressBar {{ border: none; border-radius: 3px; background: {t.border}; max-height: 6px; min-height: 6px; }}
QProgressBar::chunk {{ background: {t.accent}; border-radius: 3px; }}
"""


def edge_style(tokens: Tokens) -> str:
    """Rules for visible edges in high contrast; Fusion would derive edges from the window's colour, which is black."""
    t = tokens
    return f"""
QLineEdit, QPlainTextEdit, QTextBrowser {{ border: 1px solid {t.border}; padding: 1px 3px; }}
QLineEdit:focus, QPlainTextEdit:focus, QTextBrowser:focus {{ border-color: {t.accent}; }}
QPushButton {{ background: {t.button}; border: 1px solid {t.border}; border-radius: 3px; padding: 4px 12px; }}
QPushButton:hover {{ background: {t.button_hover}; }}
QPushButton:focus, QPushButton:default {{ border: 2px solid {t.accent}; }}
QPushButton:disabled {{ color: {t.border}; }}
QComboBox {{ border: 1px solid {t.border}; border-radius: 3px; padding: 2px 4px; }}
QComboBox:focus {{ border: 2px solid {t.accent}; }}
QCheckBox::indicator {{ width: 12px; height: 12px; border: 1px solid {t.text}; background: {t.base}; }}
QCheckBox::indicator:checked {{ background: {t.accent}; }}
QCheckBox:focus {{ color: {t.accent}; }}
QMenu {{ background: {t.window}; border: 1px solid {t.border}; }}
QMenu::item:selected {{ background: {t.highlight}; color: {t.highlighted_text}; }}
QMenu::item:disabled {{ color: {t.border}; }}
QMenu::separator {{ background: {t.border}; height: 1px; margin: 4px; }}
"""


def call_style(tokens: Tokens) -> str:
    """Rules for the one button that the user should press next."""
    t = tokens
    return f"""
QToolButton {{ background: {t.accent}; color: {t.accent_text}; border: 1px solid {t.accent}; border-radius: 6px;
    padding: 6px 15px; }}
QToolButton:focus {{ border-color: {t.text}; }}
QToolButton:disabled {{ background: {t.border}; color: {t.muted_text}; border-color: {t.border}; }}
"""


def tab_style(tokens: Tokens) -> str:
    """Rules for tabs within a panel: the current tab is underlined."""
    t = tokens
    return f"""
QTabWidget::pane {{ border: none; border-top: 1px solid {t.border}; }}
QTabBar::tab {{ color: {t.muted_text}; padding: 5px 14px 4px; border: none; border-bottom: 2px solid transparent;
    background: transparent; }}
QTabBar::tab:selected {{ color: {t.text}; border-bottom-color: {t.accent}; }}
QTabBar::tab:hover:!selected {{ color: {t.text}; background: {t.button_hover}; }}
"""


CELL_PADDING = 6  # px at 100 %, on both sides of a table cell


def table_style(tokens: Tokens) -> str:
    """Rules for tables: flat headers, and padding on both sides of a cell."""
    t = tokens
    return f"""
QHeaderView {{ background: {t.alternate_base}; border: none; }}
QHeaderView::section {{ background: {t.alternate_base}; color: {t.muted_text}; border: none;
    border-right: 1px solid {t.border}; border-bottom: 1px solid {t.border}; padding: 4px 8px; }}
QTableView::item {{ padding: 0 {CELL_PADDING}px; }}
"""


class _Switch(QObject):
    changed = Signal(object)  # Tokens


Style: TypeAlias = Callable[[Tokens], str]  # returns a style sheet in colours of the theme
W = TypeVar("W", bound="QWidget")

_current: Tokens = LIGHT
_switch = _Switch()


def current_tokens() -> Tokens:
    """The current tokens; the light set until a theme is applied."""
    return _current


def set_current(tokens: Tokens) -> None:
    """Make these tokens the current ones, and recolour all followers."""
    # A module variable instead of a parameter of every widget: an application has one palette, which Qt also keeps
    # globally.
    global _current
    _current = tokens
    _switch.changed.emit(tokens)


def follow_theme(recolour: Callable[[Tokens], None]) -> None:
    """Call a method of a QObject with the current tokens: now, and at each switch during the lifetime of the object.

    Code that draws during painting reads `current_tokens` instead, and widgets with palette colours need no call,
    because Qt repaints them.
    """
    recolour(_current)
    _switch.changed.connect(recolour)


class _Styled(QObject):
    def __init__(self, widget: QWidget, style: Style) -> None:
        super().__init__(widget)
        self._style = style
        follow_theme(self._apply)

    def _apply(self, tokens: Tokens) -> None:
        # An attribute for the widget would create a reference cycle, so use the parent.
        self.parent().setStyleSheet(self._style(tokens))  # type: ignore[union-attr]


def set_style(widget: QWidget, style: Style) -> None:
    """Give a widget a style sheet that follows the theme. Call this once per widget: the style cannot be replaced."""
    _Styled(widget, style)


def muted(label: W) -> W:
    """Give a label the colour of secondary text, and return the label."""
    label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
    return label


def mixed(first: str, second: str, share: float) -> str:
    """``first`` with ``share`` (0..1) of ``second`` blended in."""
    a, b = QColor(first), QColor(second)
    pairs = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    return QColor(*(round(x * (1 - share) + y * share) for x, y in pairs)).name()
