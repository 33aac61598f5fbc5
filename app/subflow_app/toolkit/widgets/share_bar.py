"""A bar that shows a share, as fine as a screen can."""

from __future__ import annotations

from PySide6.QtWidgets import QProgressBar, QWidget

_STEPS = 1000


class ShareBar(QProgressBar):
    """Without a number in it: what it says stands beside it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing is done yet."""
        super().__init__(parent, maximum=_STEPS, textVisible=False)

    def show_share(self, share: float) -> None:
        """Shows how much is done, 0 to 1."""
        self.setValue(round(_STEPS * share))


class ToldBar(ShareBar):
    """With what goes on as a text in it; there only while something does."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing goes on."""
        super().__init__(parent)
        self.setTextVisible(True)
        self.hide()

    def show_told(self, share: float, text: str) -> None:
        """Shows how much is done, 0 to 1, and what goes on."""
        self.show_share(share)
        self.setFormat(text)
        self.show()
