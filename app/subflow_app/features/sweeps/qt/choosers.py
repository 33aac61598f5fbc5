"""The combo boxes above a view of a sweep: which figure, which parameters, and what the others are held at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox, QMenu, QToolButton, QWidget

from subflow_app.features.sweeps.core.views.choice import VIEWS, held_parameters, varying
from subflow_app.features.sweeps.core.views.study import Study, short_key
from subflow_app.features.sweeps.core.views.view import ViewChoice
from subflow_app.toolkit.plain_text import Label, as_written
from subflow_app.toolkit.widgets.choice import Choice
from subflow_app.toolkit.widgets.shorthand import h_box, named
from subflow_app.toolkit.widgets.wrap_layout import WrapLayout
from subflow_app.vocabulary.language import tr

_NARROWEST = 12  # characters
_WIDEST = 24  # of the combo box itself; its list is as wide as its texts


class Choosers(QWidget):
    """Shows a choice and tells when a person has made another."""

    changed = Signal(object)  # ViewChoice

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing to choose yet."""
        super().__init__(parent)
        self.setObjectName("sweep_choosers")
        self._choice = ViewChoice()
        self._study: Study | None = None
        self._layout = WrapLayout(self, spacing=8)
        self._layout.setContentsMargins(8, 4, 8, 4)
        self._fields: dict[str, _Field] = {}
        for name in ("figure", "other", "x", "y", "series"):
            self._add(name, f"sweep_{name}")
        self.figures = named(QToolButton(self, popupMode=QToolButton.ToolButtonPopupMode.InstantPopup), "sweep_figures")
        self.figures.setText(tr("Fi&gures"))
        self.figures.setToolTip(tr("Figures that have a column in the table"))
        self._menu = QMenu(self.figures)
        self._menu.triggered.connect(self._on_figures)
        self.figures.setMenu(self._menu)
        self._layout.addWidget(self.figures)
        self._held: dict[str, _Field] = {}

    def combo(self, name: str) -> QComboBox:
        """The combo box of a field, or of a parameter that is held."""
        return (self._fields.get(name) or self._held[name]).combo

    def show_choice(self, choice: ViewChoice, study: Study) -> None:
        """Shows a settled choice and what else there is."""
        self._choice = choice
        is_other = self._study is None or _shape(self._study) != _shape(study)
        self._study = study
        wanted = VIEWS[choice.view].fields
        figures = [(figure.key, figure.name) for figure in study.figures]
        parameters = [(key, short_key(key, study)) for key in varying(study)]
        none = [("", tr("nothing"))]
        entries = {
            "figure": figures,
            "other": figures,
            "x": parameters,
            "y": [*parameters, *none],
            # What lies along a view does not tell its lines apart.
            "series": [each for each in parameters if "x" not in wanted or each[0] != choice.x] + none,
        }
        for name, field in self._fields.items():
            field.setVisible(name in wanted)
            if name in wanted:
                field.set_title(tr(wanted[name]))
            chosen = str(getattr(choice, name) or "")
            field.fill(entries[name], chosen if chosen in dict(entries[name]) else "")
        self.figures.setVisible("figures" in wanted)
        if is_other or not self._menu.actions():
            self._fill_menu(study)
        for action in self._menu.actions():
            action.setChecked(action.data() in choice.figures)
        self._show_held(choice, study)
        self.updateGeometry()

    # ---- inside ----

    def _add(self, name: str, object_name: str) -> None:
        field = self._fields[name] = _Field(object_name, self)
        field.combo.activated.connect(lambda _index: self._on_field(name))
        self._layout.addWidget(field)

    def _on_field(self, name: str) -> None:
        changes: dict[str, Any] = {name: str(self._fields[name].combo.currentData())}
        self.changed.emit(replace(self._choice, **changes))

    def _fill_menu(self, study: Study) -> None:
        self._menu.clear()
        for figure in study.figures:
            if self._menu.actions() and figure.owner != self._menu.actions()[-1].property("owner"):
                self._menu.addSeparator()
            action = QAction(figure.name, self._menu)
            action.setProperty("owner", figure.owner)
            action.setCheckable(True)
            action.setData(figure.key)
            self._menu.addAction(action)

    def _on_figures(self, _action: QAction) -> None:
        chosen = tuple(str(action.data()) for action in self._menu.actions() if action.isChecked())
        self.changed.emit(replace(self._choice, figures=chosen))

    def _show_held(self, choice: ViewChoice, study: Study) -> None:
        """A combo box for each parameter that the view has no place for."""
        wanted = held_parameters(choice, study)
        for key in [key for key in self._held if key not in wanted]:
            field = self._held.pop(key)
            self._layout.removeWidget(field)
            field.hide()
            field.deleteLater()
        for key in wanted:
            if key not in self._held:
                field = self._held[key] = _Field(f"sweep_held:{key}", self)
                field.combo.activated.connect(lambda _index, key=key: self._on_held(key))
                self._layout.addWidget(field)
                field.show()
            all_of_them = tr("mean of all") if VIEWS[choice.view].is_mean_of_held else tr("all")
            levels = study.parameter(key).levels
            self._held[key].set_title(short_key(key, study))
            self._held[key].fill(
                [(-1, all_of_them), *((place, level.text) for place, level in enumerate(levels))],
                choice.fixed.get(key, -1),
            )

    def _on_held(self, key: str) -> None:
        level = int(self._held[key].combo.currentData())
        fixed = {other: place for other, place in self._choice.fixed.items() if other != key}
        if level >= 0:
            fixed[key] = level
        self.changed.emit(replace(self._choice, fixed=fixed))


class _Field(QWidget):
    """A combo box with its name."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._label = Label(self)
        self.combo = Choice(name, parent=self, letters=_NARROWEST)
        self._label.setBuddy(self.combo)
        h_box(self, self._label, self.combo, margins=0, spacing=4)

    def set_title(self, title: str) -> None:
        self._label.setText(f"{title}:")
        self.combo.setAccessibleName(title.replace("&", ""))

    def fill(self, entries: Sequence[tuple[str | int, str]], chosen: str | int) -> None:
        shown = [(self.combo.itemData(row), self.combo.itemText(row)) for row in range(self.combo.count())]
        if shown != list(entries):
            self.combo.clear()
            for data, text in entries:
                self.combo.addItem(text, data)
                self.combo.setItemData(self.combo.count() - 1, as_written(str(data)), Qt.ItemDataRole.ToolTipRole)
            widest = max((len(text) for _data, text in entries), default=0)
            self.combo.setMinimumContentsLength(min(max(widest, _NARROWEST), _WIDEST))
            popup = self.combo.view()
            popup.setMinimumWidth(popup.sizeHintForColumn(0) + 2 * popup.verticalScrollBar().sizeHint().width())
        self.combo.choose(chosen)


def _shape(study: Study) -> tuple[Iterable[str], ...]:
    return tuple(p.key for p in study.parameters), tuple(figure.key for figure in study.figures)
