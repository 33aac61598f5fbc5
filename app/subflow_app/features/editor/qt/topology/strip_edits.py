"""What the timeline changes in a document: each a step that can be undone."""

from __future__ import annotations

from PySide6.QtGui import QUndoStack

from subflow_app.features.editor.core import event_strip as strip
from subflow_app.features.editor.core.event_strip import StripBar, StripItem
from subflow_app.features.editor.core.scenario_doc import Change, ScenarioDoc
from subflow_app.features.editor.qt import commands
from subflow_app.features.editor.qt.topology.strip_painter import Preview
from subflow_app.foundation import toml_edit
from subflow_app.foundation.toml_edit import TomlValue
from subflow_app.vocabulary.language import tr
from subflow_sim.toml_map import Path

# What a link gets where the file says nothing yet.
FIRST_VALUES = {"rate": "10Mbit/s", "delay": "20ms", "loss": "1%", "queue": "50pkt"}


class StripEdits:
    """Edits of the timed events of one document; each raises `TomlEditError` where the text cannot be edited."""

    def __init__(self, doc: ScenarioDoc, undo_stack: QUndoStack) -> None:
        """Edits `doc`."""
        self._doc = doc
        self._undo_stack = undo_stack

    def add_outage(self, row_key: str, time_s: float, duration_s: float, step_s: float) -> Path:
        """Take a link down, or close a flow's subflows; returns where the time of its beginning stands."""
        count = self._event_count()
        text = strip.with_outage(self._doc.text, row_key, time_s, duration_s, step_s)
        name = row_key.partition(".")[2]
        what = (
            tr("Add outage of {name}", name=name)
            if row_key.startswith("links.")
            else tr("Close subflows of {name}", name=name)
        )
        self._push(what, text, Change("events", (f"events.{count}", f"events.{count + 1}")))
        return ("events", count, "at")

    def add_change(self, row_key: str, key: str, time_s: float) -> Path:
        """Change a link's rate, delay, loss or queue, or make a flow a backup; returns where its time stands."""
        count = self._event_count()
        name = row_key.partition(".")[2]
        value: TomlValue = True
        if key in FIRST_VALUES:
            found = strip.value_at(self._doc.data, name, key, time_s)
            value = found if isinstance(found, str) and found != "unlimited" else FIRST_VALUES[key]
        text = strip.with_change(self._doc.text, row_key, key, value, time_s)
        self._push(tr("Add change of {name}", name=name), text, Change("events", (f"events.{count}",)))
        return ("events", count, "at")

    def remove(self, item: StripItem) -> None:
        """Remove a bar or mark."""
        change = Change("events" if item.places[0][0] == "events" else "value", tuple(map(dotted, item.places)))
        self._push(tr("Remove event"), strip.without(self._doc.text, item), change)

    def move(self, item: StripItem, to: Preview, session: int = 0) -> None:
        """Put a bar or mark where it was dragged."""
        places = tuple(map(dotted, item.places))
        if isinstance(item, StripBar):
            text = strip.with_bar_at(self._doc.text, item, to.start_s, to.end_s)
            adds = item.end is None and to.end_s != item.end_s
            self._push(tr("Move event"), text, Change("events" if adds else "value", places), session)
        else:
            text = strip.with_mark_at(self._doc.text, item, to.start_s)
            self._push(tr("Move event"), text, Change("value", places), session)

    def set_value(self, place: Path, value: TomlValue) -> None:
        """Give a mark another value."""
        text = toml_edit.set_value(self._doc.text, place, value)
        self._push(tr("Change value"), text, Change("value", (dotted(place),)))

    def _event_count(self) -> int:
        return len(self._doc.data.get("events", ()))

    def _push(self, name: str, text: str, change: Change, session: int = 0) -> None:
        doc = self._doc
        self._undo_stack.push(commands.EditCommand(doc, name, lambda: doc.restore(text, change), session))


def dotted(place: Path) -> str:
    """Write a place in the file as a dotted key."""
    return ".".join(map(str, place))
