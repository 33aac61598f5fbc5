"""The theme of the application, chosen by the user or the desktop, and a Fusion style with the program's icons.

The theme can change while windows are open. The icons also apply to widgets that Qt creates itself, such as the buttons
of dialogs.
"""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAccessibilityHints, QColor, QGuiApplication, QIcon, QPalette, QStyleHints
from PySide6.QtWidgets import QApplication, QProxyStyle, QStyle, QStyleOption, QToolTip, QWidget

from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import (
    CONTRAST,
    DARK,
    LIGHT,
    MODES,
    ThemeMode,
    Tokens,
    build_palette,
    edge_style,
    mixed,
    set_current,
)

_Standard = QStyle.StandardPixmap

# Qt's standard pixmap -> its meaning in `icons`.
MEANINGS: dict[QStyle.StandardPixmap, str] = {
    _Standard.SP_LineEditClearButton: "close",
    _Standard.SP_TabCloseButton: "close",
    _Standard.SP_TitleBarCloseButton: "close",
    _Standard.SP_DockWidgetCloseButton: "close",
    _Standard.SP_TitleBarNormalButton: "pop_out",
    _Standard.SP_TitleBarMinButton: "minimise",
    _Standard.SP_TitleBarMenuButton: "more",
    _Standard.SP_MessageBoxInformation: "info",
    _Standard.SP_MessageBoxWarning: "warning",
    _Standard.SP_MessageBoxCritical: "error",
    _Standard.SP_MessageBoxQuestion: "help",
    _Standard.SP_DialogOkButton: "accept",
    _Standard.SP_DialogYesButton: "accept",
    _Standard.SP_DialogYesToAllButton: "accept",
    _Standard.SP_DialogApplyButton: "accept",
    _Standard.SP_DialogNoButton: "refuse",
    _Standard.SP_DialogNoToAllButton: "refuse",
    _Standard.SP_DialogAbortButton: "refuse",
    _Standard.SP_DialogCancelButton: "close",
    _Standard.SP_DialogCloseButton: "close",
    _Standard.SP_DialogSaveButton: "save",
    _Standard.SP_DialogSaveAllButton: "save",
    _Standard.SP_DialogOpenButton: "open",
    _Standard.SP_DialogDiscardButton: "delete",
    _Standard.SP_DialogHelpButton: "help",
    _Standard.SP_DialogRetryButton: "retry",
    _Standard.SP_DialogIgnoreButton: "next",
    _Standard.SP_DialogResetButton: "reset_value",
    _Standard.SP_RestoreDefaultsButton: "reset_value",
    _Standard.SP_FileIcon: "file",
    _Standard.SP_FileLinkIcon: "file",
    _Standard.SP_DirIcon: "folder",
    _Standard.SP_DirClosedIcon: "folder",
    _Standard.SP_DirLinkIcon: "folder",
    _Standard.SP_DirOpenIcon: "open",
    _Standard.SP_DirHomeIcon: "home",
    _Standard.SP_DesktopIcon: "computer",
    _Standard.SP_ComputerIcon: "computer",
    _Standard.SP_DriveHDIcon: "drive",
    _Standard.SP_TrashIcon: "delete",
    _Standard.SP_FileDialogNewFolder: "new_folder",
    _Standard.SP_FileDialogToParent: "up",
    _Standard.SP_FileDialogBack: "back",
    _Standard.SP_FileDialogListView: "list_view",
    _Standard.SP_FileDialogDetailedView: "details_view",
    _Standard.SP_ArrowBack: "back",
    _Standard.SP_ArrowForward: "forward",
    _Standard.SP_ArrowLeft: "back",
    _Standard.SP_ArrowRight: "forward",
    _Standard.SP_ArrowUp: "up",
    _Standard.SP_ArrowDown: "down",
}


_COLOURS = {
    _Standard.SP_MessageBoxWarning: "warning",
    _Standard.SP_MessageBoxCritical: "error",
    _Standard.SP_MessageBoxInformation: "accent",
    _Standard.SP_MessageBoxQuestion: "accent",
}


class FusionWithOurIcons(QProxyStyle):
    """Fusion with the program's icons; overrides nothing else in Python, so that painting calls no Python code."""

    def __init__(self) -> None:
        """Use Fusion on every desktop."""
        super().__init__("Fusion")

    def standardIcon(
        self, which: QStyle.StandardPixmap, option: QStyleOption | None = None, widget: QWidget | None = None
    ) -> QIcon:
        """Our icon for a standard pixmap, or else Qt's."""
        if which not in MEANINGS:
            return super().standardIcon(which, option, widget)
        return icon(MEANINGS[which], _COLOURS.get(which, "text"))


class Theme(QObject):
    """The application's theme: the chosen mode, and the resulting colour tokens."""

    def __init__(self, application: QApplication, mode: ThemeMode = "system", parent: QObject | None = None) -> None:
        """Apply ``mode`` to ``application`` and follow the desktop while the mode is ``"system"``."""
        super().__init__(parent)
        self._application = application
        self.mode: ThemeMode = mode  # the user's choice: light, dark, high contrast or the desktop's
        # Setting a style polishes every widget, so skip it if the style is already set.
        if not isinstance(application.style(), FusionWithOurIcons):
            application.setStyle(FusionWithOurIcons())
        hints = application.styleHints()
        hints.colorSchemeChanged.connect(self._on_system_changed)
        _accessibility()[1].contrastPreferenceChanged.connect(self._on_system_changed)
        self._apply()

    def set_mode(self, mode: ThemeMode) -> None:
        """Switch all open windows to ``mode``; raises ValueError unless it is in `MODES`."""
        if mode not in MODES:
            raise ValueError(f"theme mode {mode!r}; allowed: {', '.join(MODES)}")
        self.mode = mode
        self._apply()

    def _on_system_changed(self) -> None:
        if self.mode == "system":
            self._apply()

    def _apply(self) -> None:
        tokens = _of_system() if self.mode == "system" else {"dark": DARK, "contrast": CONTRAST}.get(self.mode, LIGHT)
        palette = build_palette(tokens)
        self._application.setPalette(palette)
        QToolTip.setPalette(palette)
        for kind in _FRAMED:
            # The stub declares bytes, which the call refuses.
            self._application.setPalette(_frame_palette(palette, tokens), kind)  # type: ignore[arg-type]
        # Only on a change, because setting a style sheet polishes every widget.
        style = edge_style(tokens) if tokens is CONTRAST else ""
        if self._application.styleSheet() != style:
            self._application.setStyleSheet(style)
        set_current(tokens)


# Classes of widgets with a frame or a check box, but without a background in the window's colour.
_FRAMED = ("QCheckBox", "QRadioButton", "QAbstractSpinBox", "QAbstractItemView", "QLineEdit", "QComboBox")
# Fusion outlines are `window.darker(140)`, i.e. invisible on a dark background. Drawing them in Python would slow down
# every widget; a palette for these classes costs no painting time.
_FUSION_DARKENS = 1.4


def _frame_palette(palette: QPalette, tokens: Tokens) -> QPalette:
    """A palette that gives Fusion visible frames; a plain copy in the light theme, where frames are visible already."""
    framed = QPalette(palette)
    if tokens.is_dark:
        # At this share the frame is visible without distracting from the field.
        wanted = QColor(tokens.muted_text if tokens is CONTRAST else mixed(tokens.muted_text, tokens.window, 0.3))
        value = min(1.0, wanted.valueF() * _FUSION_DARKENS)
        framed.setColor(
            QPalette.ColorRole.Window, QColor.fromHsvF(max(0.0, wanted.hsvHueF()), wanted.hsvSaturationF(), value)
        )
    return framed


def system_is_dark() -> bool:
    """True if the desktop uses a dark colour scheme; an unknown scheme counts as light."""
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


def system_wants_contrast() -> bool:
    """True if the desktop prefers high contrast."""
    return _accessibility()[1].contrastPreference() == Qt.ContrastPreference.HighContrast


@cache
def _accessibility() -> tuple[QStyleHints, QAccessibilityHints]:
    # WORKAROUND(PySide6 6.11.2): the second object counts as deleted once Python releases the first.
    hints = QGuiApplication.styleHints()
    return hints, hints.accessibility()


def _of_system() -> Tokens:
    if system_wants_contrast():
        return CONTRAST
    return DARK if system_is_dark() else LIGHT
