"""The theme of the application, chosen by the user or the desktop, and a Fusion style with the program's icons.

The theme can switch while windows are open. With the icons, the parts that Qt draws itself, such as buttons of dialogs,
look like the rest.
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

# What Qt asks for -> its meaning in `icons`.
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
    """Only icons are asked for in Python; everything that is painted goes to Fusion without a detour."""

    def __init__(self) -> None:
        """Fusion on every desktop."""
        super().__init__("Fusion")

    def standardIcon(
        self, which: QStyle.StandardPixmap, option: QStyleOption | None = None, widget: QWidget | None = None
    ) -> QIcon:
        """Ours, where there is one."""
        if which not in MEANINGS:
            return super().standardIcon(which, option, widget)
        return icon(MEANINGS[which], _COLOURS.get(which, "text"))


class Theme(QObject):
    """The application's theme: the chosen mode, and the tokens that follow from it."""

    def __init__(self, application: QApplication, mode: ThemeMode = "system", parent: QObject | None = None) -> None:
        """Applies ``mode`` to ``application`` at once and follows the desktop while the mode is ``"system"``."""
        super().__init__(parent)
        self._application = application
        self.mode: ThemeMode = mode  # what the person chose: light, dark, high contrast or the desktop's
        # Setting a style polishes every widget there is: not again for what is set already.
        if not isinstance(application.style(), FusionWithOurIcons):
            application.setStyle(FusionWithOurIcons())
        hints = application.styleHints()
        hints.colorSchemeChanged.connect(self._on_system_changed)
        _accessibility()[1].contrastPreferenceChanged.connect(self._on_system_changed)
        self._apply()

    def set_mode(self, mode: ThemeMode) -> None:
        """Switches every open window to ``mode``."""
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
            # The stub asks for bytes, which the call refuses.
            self._application.setPalette(_frame_palette(palette, tokens), kind)  # type: ignore[arg-type]
        # Only if there is one or was one: it makes Qt polish every widget there is.
        style = edge_style(tokens) if tokens is CONTRAST else ""
        if self._application.styleSheet() != style:
            self._application.setStyleSheet(style)
        set_current(tokens)


# What has a frame or a box to tick but no ground of its own, so that nothing else shows the colour of the window.
_FRAMED = ("QCheckBox", "QRadioButton", "QAbstractSpinBox", "QAbstractItemView", "QLineEdit", "QComboBox")
# Fusion outlines are `window.darker(140)`: invisible on a dark ground. Drawn in Python instead, every part of every
# widget would go through it; a palette for these classes costs nothing when they are painted.
_FUSION_DARKENS = 1.4


def _frame_palette(palette: QPalette, tokens: Tokens) -> QPalette:
    """The palette from which Fusion gets frames that are seen; in the light set they are."""
    framed = QPalette(palette)
    if tokens.is_dark:
        # The share at which a frame is seen and its field is still what is looked at.
        wanted = QColor(tokens.muted_text if tokens is CONTRAST else mixed(tokens.muted_text, tokens.window, 0.3))
        value = min(1.0, wanted.valueF() * _FUSION_DARKENS)
        framed.setColor(
            QPalette.ColorRole.Window, QColor.fromHsvF(max(0.0, wanted.hsvHueF()), wanted.hsvSaturationF(), value)
        )
    return framed


def system_is_dark() -> bool:
    """Whether the desktop says it is dark; desktops that say nothing count as light."""
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


def system_wants_contrast() -> bool:
    """Whether the desktop asks for high contrast."""
    return _accessibility()[1].contrastPreference() == Qt.ContrastPreference.HighContrast


@cache
def _accessibility() -> tuple[QStyleHints, QAccessibilityHints]:
    # WORKAROUND(PySide6 6.11.2): the second one passes for deleted once Python lets go of the first.
    hints = QGuiApplication.styleHints()
    return hints, hints.accessibility()


def _of_system() -> Tokens:
    if system_wants_contrast():
        return CONTRAST
    return DARK if system_is_dark() else LIGHT
