"""What stands around the picture: the notice over it, and the zoom buttons below it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from PySide6.QtCore import QRect, QSize, Qt, Signal, SignalInstance
from PySide6.QtWidgets import QFrame, QLabel, QToolButton, QWidget

from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme, set_style
from subflow_app.toolkit.widgets.shorthand import h_box, named
from subflow_app.vocabulary.language import tr

NoticeKind: TypeAlias = Literal["empty", "hint", "banner"]


class Notice(Label):
    """A message over the canvas: a banner at its top, a hint at its bottom, or the empty state in its middle."""

    def __init__(self, canvas: QWidget) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._kind: NoticeKind = "empty"
        self.setObjectName("topologyNotice")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        follow_theme(self._recolour)
        self.hide()

    @property
    def text_shown(self) -> str:
        """What it says; empty if it is hidden."""
        return QLabel.text(self) if not self.isHidden() else ""

    def say(self, text: str, kind: NoticeKind = "empty") -> None:
        """Show a text; an empty one hides it."""
        self.setText(text)
        self._kind = kind
        self.setVisible(bool(text))
        self._recolour(current_tokens())
        self.place()

    def _recolour(self, tokens: Tokens) -> None:
        if self._kind == "hint":
            style = (
                f"color: {tokens.text}; background: {tokens.base}; border: 1px solid {tokens.border};"
                "border-radius: 6px; padding: 5px 12px;"
            )
        elif self._kind == "banner":
            style = (
                f"color: {tokens.text}; background: {tokens.warning_fill}; border: 1px solid {tokens.warning};"
                "border-radius: 6px; padding: 5px 12px;"
            )
        else:
            style = f"color: {tokens.muted_text}; background: transparent;"
        self.setStyleSheet(style)

    def place(self) -> None:
        """Stand in the middle of an empty canvas, as a banner at its top, as a hint at its bottom."""
        room = self._canvas.rect().adjusted(16, 10, -16, -10)
        width = min(self._natural_width(), room.width())
        height = self.heightForWidth(width)
        tops = {"banner": room.top(), "hint": room.bottom() - height, "empty": room.center().y() - height // 2}
        self.setGeometry(QRect(room.center().x() - width // 2, tops[self._kind], width, height))

    def _natural_width(self) -> int:
        lines = self.text().split("\n")
        return max(self.fontMetrics().horizontalAdvance(line) for line in lines) + 40


class ZoomBar(QFrame):
    """Zoom buttons; they stand beside the legend, where they cover nothing of the picture."""

    fit_wanted = Signal()
    zoom_in_wanted = Signal()
    zoom_out_wanted = Signal()
    reset_wanted = Signal()
    unlock_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("topologyZoomBar")
        self._out = self._button("zoom_out", tr("Zoom out (Ctrl+-)"), "zoomOutButton", self.zoom_out_wanted)
        self._reset = self._button("", tr("Zoom to 100 % (Ctrl+0)"), "zoomResetButton", self.reset_wanted)
        self._in = self._button("zoom_in", tr("Zoom in (Ctrl++)"), "zoomInButton", self.zoom_in_wanted)
        self._fit = self._button("fit", tr("Fit to view (F)"), "zoomFitButton", self.fit_wanted)
        self._reset.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self._reset.setMinimumWidth(self.fontMetrics().horizontalAdvance("600 %") + 8)
        self._lock = self._button(
            "lock", tr("Nodes are locked: click to let them be moved"), "unlockButton", self.unlock_wanted
        )
        self._lock.setIcon(icon("lock", "warning"))
        self._lock.hide()
        h_box(self, self._lock, self._out, self._reset, self._in, self._fit, margins=(4, 4, 6, 4), spacing=1)
        set_style(self, _zoom_style)
        self.show_zoom(1.0)

    def _button(self, icon_name: str, tip: str, name: str, wanted: SignalInstance) -> QToolButton:
        button = named(QToolButton(self, autoRaise=True), name, tip.partition(" (")[0], tip)
        button.setIconSize(QSize(16, 16))
        # The canvas has a key for each: Tab should not stop here on the way.
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        if icon_name:
            button.setIcon(icon(icon_name, "muted_text"))
        button.clicked.connect(wanted)
        return button

    def show_zoom(self, zoom: float) -> None:
        """Say how close the view is."""
        self._reset.setText(f"{zoom * 100:.0f} %")

    def show_locked(self, locked: bool) -> None:
        """Say whether nodes are locked."""
        self._lock.setVisible(locked)


def _zoom_style(t: Tokens) -> str:
    return (
        "#topologyZoomBar { background: transparent; border: none; }"
        f"QToolButton {{ color: {t.muted_text}; border: none; border-radius: 4px; padding: 3px; }}"
        f"QToolButton:hover {{ background: {t.button_hover}; color: {t.text}; }}"
    )
