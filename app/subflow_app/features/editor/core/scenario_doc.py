"""The scenario open in the editor: its text, its parsed form, its changes, and the files it refers to.

The text is authoritative. Every change produces a new text, which is parsed again from scratch. The document on screen
is therefore always the document that is saved, and undo restores an earlier text. Text that does not parse, or that
describes something impossible, is kept unchanged: the document then has problems instead of a scenario.

The files that a scenario refers to (traces, scripts, policies) are in its folder or a subfolder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.editor.core.scenario_edits import Edited, rename_part
from subflow_app.features.editor.core.scenario_parts import NAME_KEY, NAMED, ROWS
from subflow_app.features.editor.core.sketch import sketch_of
from subflow_app.foundation import toml_edit
from subflow_app.foundation.errors import AppError, InputError
from subflow_app.foundation.toml_edit import TomlEditError, TomlValue
from subflow_app.vocabulary.number_text import ordinal
from subflow_sim.errors import Problem, ScenarioError
from subflow_sim.gate import is_file, is_folder, is_there, read_file, read_scenario_file
from subflow_sim.params import AlgorithmCatalog
from subflow_sim.policy_library import MAX_POLICY_BYTES
from subflow_sim.policy_library import SUFFIX as POLICY_SUFFIX
from subflow_sim.scenario import Choice, Scenario
from subflow_sim.scenario_model import ScriptFile
from subflow_sim.script_reader import SUFFIX as SCRIPT_SUFFIX
from subflow_sim.toml_map import Path as Place
from subflow_sim.whole_file import write_whole


class OtherFileError(Exception):
    """Raised if the target of a copy is a different file that already exists.

    Attributes:
        path: path of the existing file.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path


def bring_along(scenario: Scenario, folder: Path, target: Path) -> None:
    """Copy the files that a scenario refers to into its new folder.

    Args:
        scenario: a valid scenario.
        folder: current folder of the scenario.
        target: new folder of the scenario.

    Raises:
        OtherFileError: if a different file already exists at a target path; nothing is copied.
        OSError: if a file cannot be copied; existing files stay unchanged.
    """
    contents: dict[Path, bytes] = {}
    for name in dict.fromkeys(_named_files(scenario)):
        source, copy = folder / name, target / name
        # A file may be missing if the scenario embeds its content.
        if not is_file(source) or (is_there(copy) and copy.samefile(source)):
            continue
        content = read_file(source, MAX_POLICY_BYTES)
        if not is_there(copy):
            contents[copy] = content
        elif not is_file(copy) or copy.stat().st_size != len(content) or copy.read_bytes() != content:
            raise OtherFileError(copy)
    for copy, content in contents.items():
        copy.parent.mkdir(parents=True, exist_ok=True)
        write_whole(copy, content)


def _named_files(scenario: Scenario) -> Iterator[str]:
    """Yield the file names in the scenario, relative to its folder."""
    for link in scenario.links.values():
        for side in (link.forward, link.reverse):
            yield from (trace.file for trace in (side.trace, side.delay_trace, side.loss_trace) if trace is not None)
    yield from (script.file for script in scenario.scripts if script.file.endswith(SCRIPT_SUFFIX))
    choices = [choice for flow in scenario.flows.values() for choice in (flow.controller, flow.scheduler)]
    for choice in choices:
        yield from _policies(choice)


def _policies(choice: Choice) -> Iterator[str]:
    if choice.policy is not None and choice.policy.name.endswith(POLICY_SUFFIX):
        path = Path(choice.policy.name)
        if not path.is_absolute():
            yield choice.policy.name


ChangeKind: TypeAlias = Literal["value", "layout", "script", "events", "parts", "text"]

# Keys that accept a plain value instead of a table, with the key that holds the same value in that table.
_SHORT_FORMS: Mapping[str, str] = {"controller": "name", "scheduler": "name", "queue": "limit"}

_SURROGATE = re.compile("[\ud800-\udfff]")
_INDEX = re.compile(r"\[(\d+)\]")

_NEW_SCENARIO = """\
format = 1
name = "New scenario"
duration = "30s"
seed = 1

[nodes.client]
at = [0, 0]

[nodes.server]
at = [600, 0]

[links.path-a]
ends = ["client", "server"]
rate = "10Mbit/s"
delay = "20ms"
queue = "40pkt"

[links.path-b]
ends = ["client", "server"]
rate = "10Mbit/s"
delay = "40ms"
queue = "80pkt"

[flows.download]
kind = "mptcp"
from = "server"
to = "client"
controller = "lia"
paths = [["path-a"], ["path-b"]]
"""


_EMPTY_SCENARIO = """\
format = 1
name = "New scenario"
duration = "30s"
seed = 1
"""


class ScenarioFileError(AppError):
    """Raised if a scenario file cannot be read or written; the text in memory is unchanged."""


@dataclass(frozen=True, slots=True)
class Change:
    """Kind of an edit, and the parts of the file it affects.

    Attributes:
        kind: `layout` only moves nodes and notes, so results remain valid. `script` changes the content of a
            script, which does not affect the drawing. `events` adds or removes timed events, which renumbers later
            events. `parts` adds, removes or renames any part; `text` covers every other change.
        keys: dotted keys, e.g. `links.wifi.loss`; empty for `text`.
    """

    kind: ChangeKind
    keys: tuple[str, ...] = ()


class ScenarioDoc:
    """A scenario file in memory.

    Attributes are read-only. The mutators return the `Change` they made and pass it to every subscriber. The document
    keeps no history: undo commands keep the previous text and pass it to `restore`.

    Args:
        text: content of the file.
        path: path of the file; None for a document without a file.
        algorithms: the available controllers, schedulers and policies; None for those of `app_catalog`.
    """

    def __init__(self, text: str, path: Path | None = None, *, algorithms: AlgorithmCatalog | None = None) -> None:
        self._text = text
        self._algorithms = algorithms
        self._path = path
        self._has_byte_order_mark = False
        self._subscribers: list[Callable[[Change], None]] = []
        self._data: dict[str, Any] | None = None
        self._scenario: Scenario | None = None
        self._last_valid: Scenario | None = None
        self._sketch: Scenario | None = None
        self._problems: tuple[Problem, ...] = ()
        self._read_text()

    @classmethod
    def new(cls, *, algorithms: AlgorithmCatalog | None = None) -> ScenarioDoc:
        """Create a document without a file: one MPTCP download over two paths, ready to run and to edit."""
        return cls(_NEW_SCENARIO, algorithms=algorithms)

    @classmethod
    def empty(cls, *, algorithms: AlgorithmCatalog | None = None) -> ScenarioDoc:
        """Create a document without a file or parts: an empty canvas to draw on."""
        return cls(_EMPTY_SCENARIO, algorithms=algorithms)

    @classmethod
    def open(cls, path: str | Path, *, algorithms: AlgorithmCatalog | None = None) -> ScenarioDoc:
        """Read a file; a malformed file also opens, with its problems listed.

        Raises:
            ScenarioFileError: if the file cannot be read.
        """
        path = Path(path)
        try:
            raw = read_scenario_file(path)
        except OSError as error:
            raise ScenarioFileError(f"{path} cannot be opened: {error.strerror or error}") from error
        has_mark = raw.startswith(b"\xef\xbb\xbf")
        # Bytes that are not UTF-8 become lone surrogates, which are reported as problems and saved unchanged.
        doc = cls(raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape"), path, algorithms=algorithms)
        doc._has_byte_order_mark = has_mark
        return doc

    # --- content ----------------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The text exactly as it will be saved."""
        return self._text

    @property
    def path(self) -> Path | None:
        """The file that was opened or last saved; None for a document without a file."""
        return self._path

    @property
    def title(self) -> str:
        """The title of the document: the name of its file, or `untitled`."""
        return self._path.name if self._path else "untitled"

    @property
    def scenario(self) -> Scenario | None:
        """The parsed scenario; None while the text has problems."""
        return self._scenario

    @property
    def last_valid(self) -> Scenario | None:
        """The most recent scenario without problems; None if the text has had problems from the start."""
        return self._last_valid

    @property
    def missing_part(self) -> str:
        """The section that a drawing still lacks, `nodes`, `links` or `flows`; empty if the text has other problems."""
        lacking = [problem.key for problem in self.problems if problem.key in NAMED and not self.data.get(problem.key)]
        return lacking[0] if lacking and len(lacking) == len(self.problems) else ""

    @property
    def sketch(self) -> Scenario | None:
        """The drawable part, or the last valid scenario while the text is not TOML; None if nothing can be drawn."""
        return self._sketch

    @property
    def unread(self) -> Mapping[str, frozenset[str]]:
        """For each link, its keys that have never had a valid value; the sketch contains placeholders for them."""
        found: dict[str, set[str]] = {}
        for section, name, *rest in (split_key(problem.key) for problem in self._problems if "." in problem.key):
            is_new = self._last_valid is None or name not in self._last_valid.links
            key = next((str(step) for step in rest if step != "reverse"), "")
            if section == "links" and key and is_new:
                found.setdefault(str(name), set()).add(key)
        return {name: frozenset(keys) for name, keys in found.items()}

    @property
    def scripts(self) -> tuple[ScriptFile, ...]:
        """The scripts of the scenario; a script with problems is given in its last valid state."""
        return self._sketch.scripts if self._sketch else ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems of the text, in file order."""
        return self._problems

    @property
    def is_valid(self) -> bool:
        """True if the document has a scenario to run."""
        return self._scenario is not None

    @property
    def is_toml(self) -> bool:
        """True if individual values can be edited; otherwise only `set_text` works."""
        return self._data is not None

    @property
    def data(self) -> Mapping[str, Any]:
        """The file as plain tables and values, before validation; empty while the text is not TOML."""
        return self._data or {}

    def value(self, key: str) -> Any:
        """Return the value at a dotted key, as in TOML; None if the file does not set it.

        Short forms are resolved: `flows.download.controller.name` also finds the name in `controller = "lia"`.
        """
        path = split_key(key)
        found = toml_edit.get_value(self.data, path)
        if found is None and len(path) > 1 and _SHORT_FORMS.get(str(path[-2])) == path[-1]:
            plain = toml_edit.get_value(self.data, path[:-1])
            return None if isinstance(plain, dict) else plain
        return found

    def positions(self) -> dict[str, tuple[float, float]]:
        """Return the positions of nodes as set in the file; nodes without a valid `at` are omitted."""
        nodes = self.data.get("nodes")
        found: dict[str, tuple[float, float]] = {}
        for name, node in nodes.items() if isinstance(nodes, dict) else ():
            at = node.get("at") if isinstance(node, dict) else None
            if isinstance(at, list) and len(at) == 2 and all(_is_number(part) for part in at):
                found[name] = (float(at[0]), float(at[1]))
        return found

    def problems_at(self, key: str) -> tuple[Problem, ...]:
        """Return the problems at a key and at all keys below it."""
        wanted = split_key(key)
        return tuple(p for p in self._problems if not wanted or split_key(p.key)[: len(wanted)] == wanted)

    def preview(self, key: str, value: TomlValue) -> tuple[Problem, ...]:
        """Return the problems that a value would cause, without setting it.

        Raises:
            TomlEditError: see `set_value`.
        """
        wanted = split_key(key)
        if wanted[-1] == NAME_KEY:
            try:
                rename_part(self.text, key.rpartition(".")[0], str(value))
            except InputError as error:
                return (Problem("", None, key, str(value), str(error), ""),)
            return ()
        _, problems = self._parse(self._with_value(wanted, value))
        return tuple(p for p in problems if split_key(p.key)[: len(wanted)] == wanted)

    def subscribe(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        """Call `callback` after every change, until the returned function is called."""
        self._subscribers.append(callback)

        def unsubscribe() -> None:
            if callback in self._subscribers:
                self._subscribers.remove(callback)

        return unsubscribe

    # --- edits ------------------------------------------------------------------------------------------------------

    def set_value(self, key: str, value: TomlValue | None) -> Change:
        """Set one value, or remove the key to restore its default.

        The value is written as given; an invalid value is added to `problems`.

        Args:
            key: dotted, e.g. `links.wifi.reverse.rate`, `events.0.at`, `seed`.
            value: the TOML value; None removes the key.

        Raises:
            TomlEditError: if the text is not TOML or the place cannot be edited.
        """
        path = split_key(key)
        change = Change("layout" if len(path) == 3 and path[0] == "nodes" and path[2] == "at" else "value", (key,))
        return self._replace(self._with_value(path, value), change)

    def move_nodes(self, places: Mapping[str, tuple[float, float]]) -> Change:
        """Move nodes and notes on the canvas; coordinates are rounded to whole canvas units.

        Args:
            places: new places by node name, or by `notes.0` for the first note.

        Raises:
            TomlEditError: if the text is not TOML, or has no such node or note.
        """
        keys = {name: f"{name}.at" if name.startswith("notes.") else f"nodes.{name}.at" for name in places}
        values: dict[Place, TomlValue] = {}
        for name, (x, y) in places.items():
            path = split_key(keys[name])
            if toml_edit.get_value(self.data, path[:-1]) is None:
                raise TomlEditError(f"unknown node {name!r}")
            values[path] = [round(x), round(y)]
        return self._replace(toml_edit.set_values(self._text, values), Change("layout", tuple(keys.values())))

    def add_event(self, values: Mapping[str, TomlValue]) -> Change:
        """Add a timed event after the last one.

        Raises:
            TomlEditError: if the text is not TOML.
        """
        events = self.data.get("events")
        index = len(events) if isinstance(events, list) else 0
        return self._replace(
            toml_edit.append_table(self._text, "events", values), Change("events", (f"events.{index}",))
        )

    def remove_event(self, index: int) -> Change:
        """Remove a timed event by its number in the file, from 0.

        Raises:
            TomlEditError: if the text is not TOML or has no such event.
        """
        return self._replace(
            toml_edit.remove_table(self._text, "events", index), Change("events", (f"events.{index}",))
        )

    def apply(self, edited: Edited) -> Change:
        """Apply the result of a function in `scenario_edits` or `scenario_clipboard`."""
        return self._replace(edited.text, Change("parts", edited.keys))

    def set_text(self, text: str) -> Change:
        """Replace the whole text."""
        return self._replace(text, Change("text"))

    def set_script(self, key: str, text: str | None) -> Change:
        """Replace the text of a script.

        Args:
            key: dotted key of the script, `controllers.my-lia`.
            text: new text embedded in the scenario; None if the script has its own file, which the caller has written.

        Raises:
            TomlEditError: if the scenario cannot be edited at this key.
        """
        new = self._text
        if text is not None:
            new = toml_edit.set_value(new, (*split_key(key), "content"), toml_edit.Lines(text))
        return self._replace(new, Change("script", (key,)))

    def restore(self, text: str, change: Change) -> Change:
        """Restore an earlier or later text, and report `change` to the subscribers."""
        return self._replace(text, change)

    def save(self, path: str | Path | None = None) -> None:
        """Write the text to its file, or to a given path, which becomes the document's file.

        The write is atomic: if it fails, the old file is intact. Saving to a different folder copies the files that the
        scenario refers to.

        Raises:
            ScenarioFileError: if the file cannot be written, or if the document has no file and no path is given.
        """
        target = Path(path) if path is not None else self._path
        if target is None:
            raise ScenarioFileError("this scenario has no file yet: choose where to save it")
        mark = b"\xef\xbb\xbf" if self._has_byte_order_mark else b""
        try:
            if self._scenario is not None and self._folder is not None and is_folder(target.parent):
                bring_along(self._scenario, self._folder, target.parent)
            # If the file is a symbolic link, its target is replaced and the link is kept.
            write_whole(target.resolve(), mark + self._text.encode("utf-8", "surrogateescape"))
        except OtherFileError as error:
            raise ScenarioFileError(
                f"{error.path} already exists, and is not the file that this scenario names. The scenario "
                "is still open; save it elsewhere."
            ) from error
        except OSError as error:
            raise ScenarioFileError(
                f"{target} cannot be saved: {error.strerror or error}. The scenario is still open; save it elsewhere."
            ) from error
        self._path = target

    # --- internals --------------------------------------------------------------------------------------------------

    @property
    def _folder(self) -> Path | None:
        """Folder of the files that the text refers to; None for a document without a file."""
        return self._path.parent if self._path else None

    def _with_value(self, path: Place, value: TomlValue | None) -> str:
        """Return the text with a value set or removed, switching between the short form and the table as needed."""
        parent, last = path[:-1], path[-1]
        short = _SHORT_FORMS.get(str(parent[-1])) if parent else None
        around = toml_edit.get_value(self.data, parent) if short else None
        if short is None or around is None:
            return self._with_plain(parent if short == last else path, value)
        if not isinstance(around, dict):
            # A plain value becomes a table to hold an option: `"lia"` becomes `{ name = "lia", ... }`.
            if last == short:
                return self._with_plain(parent, value)
            if value is None:
                return self._text
            return toml_edit.set_value(self._text, parent, {short: around, str(last): value})
        if value is not None:
            return toml_edit.set_value(self._text, path, value)
        if set(around) == {short, last}:
            # Without options, the table becomes a plain value again.
            return toml_edit.set_value(self._text, parent, around[short])
        return toml_edit.remove_value(self._text, path)

    def _with_plain(self, path: Place, value: TomlValue | None) -> str:
        if value is None:
            return toml_edit.remove_value(self._text, path)
        return toml_edit.set_value(self._text, path, value)

    def _replace(self, text: str, change: Change) -> Change:
        self._text = text
        self._read_text()
        # A callback may unsubscribe during the loop.
        for callback in tuple(self._subscribers):
            callback(change)
        return change

    def _read_text(self) -> None:
        try:
            # Lone surrogates stand for bytes that are not UTF-8, so the file is not TOML.
            self._data = None if _SURROGATE.search(self._text) else toml_edit.read_toml(self._text)
        except TomlEditError:
            self._data = None
        self._scenario, self._problems = self._parse(self._text, toml_edit.plain(self._data))
        self._last_valid = self._scenario or self._last_valid
        self._sketch = self._scenario or self._last_valid
        if self._scenario is None and self._data is not None:
            self._sketch = sketch_of(self._data, self._last_valid, self._algorithms or app_catalog(), self._folder)

    def _parse(self, text: str, tree: dict[str, Any] | None = None) -> tuple[Scenario | None, tuple[Problem, ...]]:
        if _SURROGATE.search(text):
            return None, tuple(
                Problem(self.title, number, "", "", "this line holds bytes that are not UTF-8", "UTF-8 text")
                for number, line in enumerate(text.split("\n"), start=1)
                if _SURROGATE.search(line)
            )
        try:
            return read_scenario(
                Use.DOCUMENT, text, file=self.title, algorithms=self._algorithms, folder=self._folder, tree=tree
            ), ()
        except ScenarioError as error:
            return None, tuple(error.problems)


def split_key(key: str) -> Place:
    """Split a dotted key into its steps: `events[0].at` and `events.0.at` are both `("events", 0, "at")`.

    Names contain no dots, so the split is exact. A number is an index only below `events` and `notes`; elsewhere it is
    a name.
    """
    if not key:
        return ()
    steps: list[str | int] = list(_INDEX.sub(r".\1", key).split("."))
    row = ordinal(str(steps[1])) if len(steps) > 1 and steps[0] in ROWS else None
    if row is not None:
        steps[1] = row
    return tuple(steps)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
