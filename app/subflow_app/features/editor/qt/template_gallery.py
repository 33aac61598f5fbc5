"""Gallery of topologies to begin with: templates with a few adjustable values, then the shipped examples.

Each has a picture and a sentence. Pictures of the list are drawn one by one, so that the dialog opens at once.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QModelIndex, QSize, Qt
from PySide6.QtGui import QIcon, QPixmap, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFormLayout,
    QLineEdit,
    QListView,
    QScrollArea,
    QWidget,
)

from subflow_app.features.editor.core import templates
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.core.templates import OF_EXAMPLE, TEMPLATES, Template, TemplateValue
from subflow_app.features.editor.core.topology import picture_of
from subflow_app.features.editor.qt.topology.thumbnail import draw_thumbnail
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import Label, accept_buttons, h_box, heading, named, timer, v_box
from subflow_app.vocabulary.language import tr

_THUMBNAIL = QSize(150, 84)
_PREVIEW = QSize(340, 190)
_MOST_LETTERS = 110  # of a sentence in the list; the side shows all of it


class TemplateGallery(QDialog):
    """Dialog to choose a template and its values; `text` is the resulting scenario."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Shows the first template."""
        super().__init__(parent)
        self.setObjectName("template_gallery")
        self.setWindowTitle(tr("New from template"))
        self._docs: dict[str, ScenarioDoc] = {}
        self._fields: dict[TemplateValue, QLineEdit] = {}
        self.list = named(QListView(self, wordWrap=True), "templates", tr("Templates"))
        self.list.setIconSize(_THUMBNAIL)
        self.list.setSpacing(2)
        self.list.setResizeMode(QListView.ResizeMode.Adjust)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setMinimumWidth(_THUMBNAIL.width() + 290)
        self._model = QStandardItemModel(self)
        self._templates = (*TEMPLATES, *templates.examples())
        blank = QPixmap(_THUMBNAIL)
        blank.fill(Qt.GlobalColor.transparent)
        for template in self._templates:
            item = QStandardItem(QIcon(blank), f"{tr(template.title)}\n{_shortened(tr(template.sentence))}")
            item.setSizeHint(QSize(_THUMBNAIL.width() + 200, _THUMBNAIL.height() + 12))
            item.setData(f"{tr(template.title)}. {tr(template.sentence)}", Qt.ItemDataRole.AccessibleTextRole)
            self._model.appendRow(item)
        self.list.setModel(self._model)
        self.search = named(QLineEdit(self, clearButtonEnabled=True), "template_search", tr("Search templates"))
        self.search.setPlaceholderText(tr("Search templates and examples…"))
        self.search.textChanged.connect(self._filter)
        self._undrawn = list(range(len(self._templates)))
        self._drawing = timer(self, self._draw_next)
        self._title = heading(Label(self, wordWrap=True), 1.2)
        self._picture = Label(self)
        self._picture.setFixedSize(_PREVIEW)
        self._sentence = Label(self, wordWrap=True)
        self._form_area = QScrollArea(self, widgetResizable=True)
        self._form_area.setFrameShape(QScrollArea.Shape.NoFrame)
        self.problem = named(Label(self, wordWrap=True), "template_problem")
        self.problem.setStyleSheet(f"color: {current_tokens().error};")
        # Space is reserved for the message, so that the dialog does not jump while the user types.
        self.problem.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        buttons, self.create_button = accept_buttons(self, tr("Create"))
        side = v_box(None, self._title, self._picture, self._sentence, (self._form_area, 1), self.problem)
        row = h_box(None, (v_box(None, self.search, (self.list, 1)), 1), side)
        v_box(self, (row, 1), buttons)
        self.resize(860, 600)
        selection = self.list.selectionModel()
        selection.currentChanged.connect(self._on_current_changed)
        self.list.activated.connect(lambda _index: self.accept())
        self.list.setCurrentIndex(self._model.index(0, 0))
        self.list.setFocus()
        self._drawing.start()

    @property
    def template(self) -> Template:
        """The selected template or example."""
        return self._templates[max(self.list.currentIndex().row(), 0)]

    @property
    def fields(self) -> dict[str, QLineEdit]:
        """Input fields of the values, by label."""
        return {value.label: field for value, field in self._fields.items()}

    def choose(self, scenario: str) -> None:
        """Select the template of a shipped scenario, given by its name."""
        row = next(index for index, template in enumerate(self._templates) if template.scenario == scenario)
        self.list.setCurrentIndex(self._model.index(row, 0))

    @property
    def answer(self) -> tuple[str, str]:
        """The scenario text, and the name of the template or example."""
        return self.text, self.template.scenario + ("" if self.template in TEMPLATES else OF_EXAMPLE)

    @property
    def text(self) -> str:
        """The scenario with the typed values."""
        return templates.filled_text(self.template, {value: field.text() for value, field in self._fields.items()})

    def accept(self) -> None:
        """Accept the dialog, or move the focus to the first invalid value."""
        wrong = self._first_problem()
        if wrong is None:
            super().accept()
        else:
            self._fields[wrong[0]].setFocus()

    def _filter(self, words: str) -> None:
        """Show only the entries that contain all words; select the first if the selected one is hidden."""
        wanted = words.lower().split()
        shown = []
        for row, template in enumerate(self._templates):
            text = f"{tr(template.title)} {tr(template.sentence)} {template.scenario}".lower()
            is_shown = all(word in text for word in wanted)
            self.list.setRowHidden(row, not is_shown)
            if is_shown:
                shown.append(row)
        if shown and self.list.currentIndex().row() not in shown:
            self.list.setCurrentIndex(self._model.index(shown[0], 0))
        self.create_button.setEnabled(bool(shown) and self._first_problem() is None)

    def _draw_next(self) -> None:
        """Draw the picture of one entry of the list."""
        if not self._undrawn:
            self._drawing.stop()
            return
        row = self._undrawn.pop(0)
        self._model.item(row).setIcon(QIcon(self._drawn(self._templates[row], _THUMBNAIL)))

    def _doc(self, template: Template) -> ScenarioDoc:
        if template.scenario not in self._docs:
            self._docs[template.scenario] = template.document()
        return self._docs[template.scenario]

    def _drawn(self, template: Template, size: QSize) -> QPixmap:
        scenario = self._doc(template).scenario
        if scenario is None:
            return QPixmap()
        return draw_thumbnail(picture_of(scenario), size, current_tokens(), self.font(), self.devicePixelRatioF())

    def _on_current_changed(self, _index: QModelIndex) -> None:
        template = self.template
        self._title.setText(tr(template.title))
        self._sentence.setText(tr(template.sentence))
        self._picture.setPixmap(self._drawn(template, _PREVIEW))
        self._picture.setAccessibleName(tr("Picture of {title}", title=tr(template.title)))
        doc = self._doc(template)
        content = QWidget(self._form_area)
        form = QFormLayout(content)
        form.setContentsMargins(0, 4, 4, 0)
        self._fields = {}
        for value in template.values:
            field = QLineEdit(templates.shown_text(doc, value), content)
            field.setAccessibleName(tr(value.label))
            field.setToolTip(tr(value.param.help))
            field.textChanged.connect(lambda _text: self._check())
            field.editingFinished.connect(partial(self._complete, value))
            form.addRow(tr(value.label), field)
            self._fields[value] = field
        self._form_area.setWidget(content)
        self._check()

    def _complete(self, value: TemplateValue) -> None:
        """Append the assumed unit to a bare number."""
        field = self._fields[value]
        field.setText(templates.completed_text(self._doc(self.template), value, field.text()))

    def _first_problem(self) -> tuple[TemplateValue, str] | None:
        doc = self._doc(self.template)
        for value, field in self._fields.items():
            message = templates.check_value(doc, value, field.text())
            if message:
                return value, message
        return None

    def _check(self) -> None:
        wrong = self._first_problem()
        self.problem.setText(f"{tr(wrong[0].label)}: {wrong[1]}" if wrong else "")
        self.create_button.setEnabled(wrong is None)


def _shortened(sentence: str) -> str:
    return sentence if len(sentence) <= _MOST_LETTERS else f"{sentence[: _MOST_LETTERS - 1]}…"
