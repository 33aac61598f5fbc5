"""Asks how an exported figure should be: format, size on paper, resolution."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QLabel,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

FORMATS = {
    ".svg": "SVG — vector, for the web and for editing",
    ".pdf": "PDF — vector, for papers",
    ".png": "PNG — pixels, for slides",
}
# Name -> width and height, mm.
PRESETS: dict[str, tuple[float, float]] = {
    "Page width, 170 × 150 mm": (170.0, 150.0),
    "Column width, 88 × 110 mm": (88.0, 110.0),
    "Slide, 254 × 143 mm": (254.0, 143.0),
}
_CUSTOM = "Custom"


class FigureDialog(QDialog):
    """The choices; the file is asked for afterwards."""

    def __init__(self, plot_count: int, parent: QWidget | None = None) -> None:
        """``plot_count`` plots are going to be exported."""
        super().__init__(parent)
        self.setObjectName("figure_dialog")
        self.setWindowTitle("Export figure")
        self.kind = QComboBox(self)
        self.kind.setObjectName("figure_format")
        for suffix, text in FORMATS.items():
            self.kind.addItem(text, suffix)
        self.preset = QComboBox(self)
        self.preset.setObjectName("figure_preset")
        self.preset.addItems([*PRESETS, _CUSTOM])
        self.width_mm = self._millimetres("figure_width")
        self.height_mm = self._millimetres("figure_height")
        self.dpi = QSpinBox(self)
        self.dpi.setObjectName("figure_dpi")
        self.dpi.setRange(72, 1200)
        self.dpi.setValue(300)
        self.dpi.setSuffix(" px per inch")
        form = QFormLayout()
        form.addRow("&Format:", self.kind)
        form.addRow("&Size:", self.preset)
        form.addRow("&Width:", self.width_mm)
        form.addRow("&Height:", self.height_mm)
        form.addRow("&Resolution:", self.dpi)
        plots = "The plot is" if plot_count == 1 else f"The {plot_count} plots are"
        about = QLabel(
            f"{plots} written as shown, with the visible curves and range, in light colours with a legend.", self
        )
        about.setWordWrap(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        export = buttons.addButton("Export…", QDialogButtonBox.ButtonRole.AcceptRole)
        export.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(about)
        layout.addLayout(form)
        layout.addWidget(buttons)
        self.kind.currentIndexChanged.connect(self._on_kind_changed)
        self.preset.currentTextChanged.connect(self._on_preset_changed)
        self.width_mm.valueChanged.connect(self._on_size_changed)
        self.height_mm.valueChanged.connect(self._on_size_changed)
        self._on_preset_changed(self.preset.currentText())
        self._on_kind_changed()

    @property
    def suffix(self) -> str:
        """Of the file: ``.svg``, ``.pdf`` or ``.png``."""
        return str(self.kind.currentData())

    def _millimetres(self, name: str) -> QDoubleSpinBox:
        box = QDoubleSpinBox(self)
        box.setObjectName(name)
        box.setRange(40.0, 600.0)
        box.setDecimals(0)
        box.setSuffix(" mm")
        return box

    def _on_kind_changed(self) -> None:
        self.dpi.setEnabled(self.suffix == ".png")

    def _on_preset_changed(self, name: str) -> None:
        if name in PRESETS:
            for box, value in zip((self.width_mm, self.height_mm), PRESETS[name], strict=True):
                box.blockSignals(True)
                box.setValue(value)
                box.blockSignals(False)

    def _on_size_changed(self) -> None:
        size = (self.width_mm.value(), self.height_mm.value())
        self.preset.setCurrentText(next((name for name, preset in PRESETS.items() if preset == size), _CUSTOM))
