"""The form that describes a search by its claim, controller, networks and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDoubleSpinBox, QLineEdit, QSpinBox, QWidget

from subflow_app.features.arena.core.entrants import chosen_entrants, entrants
from subflow_app.features.breaking.core.claim_file import (
    ABOUT,
    MEASURES,
    claim_names,
    load_claim,
    read_claim,
    said_claim,
)
from subflow_app.features.breaking.core.job import BreakJob, Question
from subflow_app.features.breaking.core.space import load_space, space_names, space_of
from subflow_app.foundation.claims import Claim
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.expressions import ClaimError
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.labels import ProblemLabel
from subflow_app.toolkit.widgets.list_beside import action_buttons
from subflow_app.toolkit.widgets.shorthand import Choice, Label, as_written, captioned, h_box, named, v_box
from subflow_app.vocabulary.language import tr
from subflow_sim.scenario_model import ScriptFile
from subflow_store.searches import SearchRecord

OWN, EARLIER = "", "\0earlier"
"""OWN selects the typed claim, or the open scenario as the space. EARLIER selects the scenario of an earlier search."""

_FIRST = ("improve", "olia")
_MINUTES = 5.0
_MOST_MINUTES = 24 * 60.0
_MOST_SEED = 2**31 - 1
_EXAMPLE = "goodput() >= 0.9 * goodput('newreno@best')"
_EXAMPLE_RANGES = "links.a.rate=2Mbit/s..50Mbit/s; links.a.loss=0..2%"


@dataclass(frozen=True, slots=True)
class Asked:
    """Content of the form; `question` reads and checks it, which may take a moment.

    Attributes:
        claim: name of a shipped claim; OWN for the claim in `own`.
        own: typed claim.
        controller: entry of the arena.
        space: name of a shipped space; OWN for the open scenario; EARLIER for the scenario of an earlier search.
        ranges: additional ranges, separated by semicolons.
        seed: seed of the search.
        text: open scenario, or scenario of an earlier search.
        name: name of that scenario.
        folder: folder of the files that the scenario names; None if it names no files.
        scripts: additional controllers, e.g. those of the open scenario.
    """

    claim: str
    own: str
    controller: str
    space: str
    ranges: str
    seed: int = 1
    text: str = ""
    name: str = ""
    folder: Path | None = None
    scripts: tuple[ScriptFile, ...] = ()

    def question(self) -> Question:
        """The search that the form describes.

        Raises:
            InputError: if a field is not usable.
        """
        if self.claim == OWN:
            try:
                Claim(self.own, MEASURES)
            except ClaimError as error:
                allowed = f"; {tr('allowed')}: {error.allowed}" if error.allowed else ""
                raise InputError(f"{error.message}{allowed}") from error
        claim = load_claim(self.claim) if self.claim != OWN else said_claim(self.own)
        entrant = chosen_entrants([self.controller], scripts=self.scripts)[0]
        vary = [each.strip() for each in self.ranges.split(";") if each.strip()]
        is_scenario = self.space in (OWN, EARLIER)
        space = space_of(self.text, self.name, vary, self.folder) if is_scenario else load_space(self.space, vary)
        question = Question(claim, entrant, space, self.seed)
        BreakJob(question)  # raises an error for entrants that cannot take part
        return question


def asked_of(record: SearchRecord) -> Asked:
    """Content of the form for an earlier search.

    Raises:
        InputError: if the form cannot represent the search.
    """
    document = record.document
    claim = read_claim(record.claim, str(document.get("claim", "")), record.claim)
    is_shipped = record.claim in claim_names() and load_claim(record.claim).text == claim.text
    if not is_shipped and said_claim(claim.title).text != claim.text:
        words = "its claim is from a file: `subflow break` with that file continues it"
        raise InputError(f"{record.claim}: {words}")
    text = str(document.get("space", ""))
    is_space = record.space in space_names() and load_space(record.space).text == text
    script = document.get("script")
    return Asked(
        record.claim if is_shipped else OWN,
        "" if is_shipped else claim.title,
        record.entrant,
        record.space if is_space else EARLIER,
        "; ".join(map(str, document.get("vary", ()))),
        int(document.get("seed", 1)),
        text,
        record.space,
        scripts=(ScriptFile(**script),) if isinstance(script, dict) else (),
    )


@cache
def _title_of(space: str) -> str:
    """The title of a shipped space, cached because reading a space is slow: it also tries its extreme networks."""
    return load_space(space).title


class BreakForm(QWidget):
    """Form of a search; :class:`BreakFeature` reads and checks it."""

    changed = Signal()

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        """Starts with the first goal of RFC 6356 and a controller that misses it. Each action gets a button."""
        super().__init__(parent)
        self._claims = {name: load_claim(name) for name in claim_names()}
        rows = [(name, f"{claim.title} ({claim.source})") for name, claim in self._claims.items()]
        rows.append((OWN, tr("A claim of your own …")))
        self.claim = Choice("break_claim", rows, self, text=tr("Claim"), letters=40)
        self.own = named(QLineEdit(self, clearButtonEnabled=True), "break_own_claim", tr("A claim of your own"))
        self.own.setPlaceholderText(tr("e.g. {example}", example=_EXAMPLE))
        self.own.setToolTip(as_written("\n".join(f"{name}: {about}" for name, about in ABOUT.items())))
        self._able = [each.name for each in entrants() if not each.problem]
        self._scripts: tuple[ScriptFile, ...] = ()  # controllers of the open scenario
        self._own: Sequence[str] = ()  # entries for controllers with options in the open scenario
        self._earlier: Asked | None = None  # earlier search that fills the form
        self.controller = Choice("break_controller", ((name, name) for name in self._able), self, letters=14)
        self.controller.setEditable(True)
        self.controller.setInsertPolicy(Choice.InsertPolicy.NoInsert)
        text = tr("As in the arena: lia, olia:OPTION=VALUE, a script of the open scenario, or its file: my-lia.py")
        self.controller.setToolTip(text)
        self.controller.view().setAccessibleName(tr("Controllers"))
        self.space = Choice("break_space", (), self, letters=20)
        self.ranges = named(QLineEdit(self, clearButtonEnabled=True), "break_ranges")
        self.ranges.setPlaceholderText(tr("none; e.g. {example}", example=_EXAMPLE_RANGES))
        self.ranges.setToolTip(tr("Further varied values: KEY=LOW..HIGH or KEY=VALUE,VALUE, separated by semicolons"))
        self.minutes = QDoubleSpinBox(self, minimum=0.1, maximum=_MOST_MINUTES, value=_MINUTES, decimals=1)
        named(self.minutes, "break_minutes")
        self.minutes.setSuffix(tr(" min"))
        self.seed = QSpinBox(self, minimum=0, maximum=_MOST_SEED, value=1)
        named(self.seed, "break_seed")
        self.seed.setToolTip(tr("Seed of the search: another one finds other networks"))
        self.problem = ProblemLabel("break_problem", 400, self)
        self.says = named(muted(Label(self, wordWrap=True)), "break_says")
        v_box(
            self,
            h_box(None, *captioned(tr("&Claim:"), self.claim, 1), *captioned(tr("C&ontroller:"), self.controller)),
            self.own,
            h_box(
                None,
                *captioned(tr("&Networks:"), self.space, 1),
                *captioned(tr("&Ranges:"), self.ranges, 2),
                *captioned(tr("See&d:"), self.seed),
                *captioned(tr("T&ime:"), self.minutes),
                *action_buttons(actions),
            ),
            self.says,
            self.problem,
            margins=(6, 4, 6, 0),
            spacing=4,
        )
        self.setFocusProxy(self.claim)
        self.claim.choose(_FIRST[0])
        self.controller.choose(_FIRST[1])
        self._offer_spaces()
        self.claim.currentIndexChanged.connect(lambda _: self._offer_spaces())
        self.space.currentIndexChanged.connect(lambda _: self._tell())
        self.controller.editTextChanged.connect(lambda _: self._tell())
        self.seed.valueChanged.connect(lambda _: self._tell())
        for line in (self.own, self.ranges):
            line.textChanged.connect(lambda _: self._tell())

    @property
    def asked(self) -> Asked:
        """Current content, without the open scenario."""
        asked = Asked(
            str(self.claim.currentData()),
            self.own.text().strip(),
            self.controller.currentText().strip(),
            str(self.space.currentData()),
            self.ranges.text().strip(),
            self.seed.value(),
            scripts=self._scripts,
        )
        earlier = self._earlier
        if earlier is None:
            return asked
        if asked.controller == earlier.controller:
            asked = replace(asked, scripts=(*earlier.scripts, *self._scripts))
        return replace(asked, text=earlier.text, name=earlier.name) if asked.space == EARLIER else asked

    def fill(self, asked: Asked) -> None:
        """Fills the form from an earlier search; emits `changed` once."""
        self._earlier = asked
        with QSignalBlocker(self):
            self.claim.choose(asked.claim)
            self.own.setText(asked.own)
            self.controller.setEditText(asked.controller)
            self._offer_spaces()
            self.space.choose(asked.space)
            self.ranges.setText(asked.ranges)
            self.seed.setValue(asked.seed)
        self._tell()

    def offer_scripts(self, scripts: Sequence[ScriptFile], own: Sequence[str] = ()) -> None:
        """Offers the controllers of the open scenario in addition to those of the arena.

        Args:
            scripts: scripts of the scenario.
            own: entries of the arena for controllers with options or a policy in the scenario.
        """
        found = tuple(each for each in scripts if each.kind == "controller")
        if (found, own) == (self._scripts, self._own):
            return
        self._own = own
        chosen = self.controller.currentText()
        self._scripts = found
        with QSignalBlocker(self.controller):
            self.controller.clear()
            for name in (*own, *(each.name for each in found), *self._able):
                self.controller.addItem(name, name)
            self.controller.setEditText(chosen)
        self._tell()

    def say(self, text: str) -> None:
        """Shows an error in the form, or hides it if the text is empty."""
        self.problem.say(text)
        self.says.setVisible(not text)

    def say_keys(self, question: Question) -> None:
        """Shows the claim and the varied values of the networks."""
        keys = ", ".join(question.space.keys)
        text = tr("{claim}; varied: {keys}", claim=question.claim.holds, keys=keys)
        self.says.setText("\n".join([text, *question.replaced]))

    def _offer_spaces(self) -> None:
        """Lists the spaces of the chosen claim before the others."""
        claim = self._claims.get(str(self.claim.currentData()))
        first = claim.spaces if claim is not None else ()
        chosen = self.space.currentData()
        self.space.blockSignals(True)
        self.space.clear()
        for name in (*first, *(name for name in space_names() if name not in first)):
            self.space.addItem(f"{_title_of(name)} ({name})", name)
        self.space.addItem(tr("The open scenario"), OWN)
        if self._earlier is not None and self._earlier.space == EARLIER:
            self.space.addItem(tr("{name}, of an earlier search", name=self._earlier.name), EARLIER)
        self.space.choose(chosen if chosen in (OWN, EARLIER) else first[0] if first else chosen)
        self.space.blockSignals(False)
        self.own.setVisible(claim is None)
        self._tell()

    def _tell(self) -> None:
        self.changed.emit()
