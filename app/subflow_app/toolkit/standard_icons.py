"""Fusion with the icons of this program: what Qt draws by itself, such as buttons of dialogs, looks like the rest."""

from __future__ import annotations

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QProxyStyle, QStyle, QStyleOption, QWidget

from subflow_app.toolkit.icons import icon

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
