"""Resolution of a script's names and fields, and the instructions that read them."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from subflow_sim import _core
from subflow_sim.plain_text import did_you_mean, either
from subflow_sim.script.emitter import Emitter
from subflow_sim.script.header import Header
from subflow_sim.script.problem import Problems
from subflow_sim.script.values import WRONG, Answer, Cell, Collection, Item, Learned, Local, Number, Thing, Value, Wrong
from subflow_sim.script.vocabulary import FUNCTIONS, OBJECTS, RATIO, UNITS, Field, Hook

FUNCTION_NAMES = {each.name: each for each in FUNCTIONS}
_REFERRED = 3  # the loop index that refers to a subflow by its number
_READ = {"REAL": "Real", "TIME": "Time", "FLAG": "Flag"}
_PLACES = {(each.object, each.name): (each.kind.name, each.place) for each in _core.script_fields()}


@dataclass(frozen=True, slots=True)
class Target:
    """Destination cell of a value (None: any cell), and the note of the instruction that writes it (0: no note)."""

    cell: Cell | None = None
    note: int = 0


NOWHERE = Target()


@dataclass(slots=True)
class Scope:
    """State of the compiler within a function.

    Attributes:
        hook: hook that the function implements.
        things: values of the function's parameters.
        names: local names defined so far.
        certain: local names with a value on every path.
        loops: number of open loops.
        read: cells of fields already read.
        inlined: nesting depth of inlined helpers.
    """

    hook: Hook
    things: dict[str, Value]
    names: dict[str, Local] = field(default_factory=dict)
    certain: set[str] = field(default_factory=set)
    loops: int = 0
    read: dict[tuple[int | str | Cell, str], Cell] = field(default_factory=dict)
    inlined: int = 0


class Names:
    """Resolves names in the function being compiled.

    Attributes:
        uses_siblings: whether the script reads siblings.
        learned: units inferred by an earlier reading of the script.
        learning: units inferred by this reading.
        begun: names and cells of values that are recorded when a function begins.
    """

    def __init__(self, text: str, header: Header, problems: Problems, emitter: Emitter, learned: Learned) -> None:
        self._lines = text.splitlines()
        self.header = header
        self.problems = problems
        self.emitter = emitter
        self.learned = learned
        self.learning = Learned()
        self.uses_siblings = False
        self.begun: dict[str, Cell] = {}
        self.window: dict[str, Cell] = {}
        self.scope: Scope = Scope(Hook("", "controller", (), "nothing", ""), {})

    def value(self, node: ast.expr, target: Target = NOWHERE) -> Value:
        """The value of an expression; implemented by `Expressions`."""
        raise NotImplementedError

    def _literal(self, number: float, *, is_flag: bool = False) -> Number:
        cell = self.emitter.constant(number)
        return Number(cell, RATIO if is_flag else None, is_flag, not is_flag, number)

    def _name(self, node: ast.Name, name: str) -> Value:
        if name in self.scope.names:
            local = self.scope.names[name]
            local.is_used = True
            if name not in self.scope.certain:
                message = f"{name} may have no value here: not every way to this line gives it one"
                self.problems.add(node, message, "a value for it before the branches")
                return WRONG
            return local.value
        if name in self.scope.things:
            thing = self.scope.things[name]
            if isinstance(thing, Collection):
                self.uses_siblings |= thing.kind == "siblings"
            return thing
        if name == "inf":
            return self._literal(math.inf)
        if name in ("wait", "now"):
            return Answer(name)  # type: ignore[arg-type]  # one of the literals
        if name in self.header.constants:
            found = self.header.constants[name]
            return self._literal(float(found), is_flag=isinstance(found, bool))
        if name in self.header.options:
            return self._option(name)
        if name in self.header.groups:
            names = [key for group, key in (*self.header.states, *self.header.kept) if group == name]
            self.problems.add(node, f"{name} is a group of numbers", either([f"{name}.{each}" for each in names]))
            return WRONG
        if name in self.header.helpers or name in FUNCTION_NAMES:
            self.problems.add(node, f"{name} is a function", f"{name}(...)")
            return WRONG
        known = [*self.scope.names, *self.scope.things, *self.header.constants, *self.header.options]
        self.problems.add(node, f"unknown name {name}{did_you_mean(name, known)}", either(known))
        return WRONG

    def _option(self, name: str) -> Number:
        option = self.header.options[name]
        self.begun[name] = option.cell
        unit = UNITS[option.unit]
        return Number(option.cell, RATIO if option.is_flag else unit, option.is_flag, is_clock=unit is None)

    # ---- fields ----

    def _attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Subscript):
            place = self.kept(node)
            if place is None:
                return WRONG
            item, position, begin = place
            cell = self.emitter.temporary()
            self.emitter.emit("ItemLoad", cell, self.loop_of(item), value=position)
            return Number(cell, None if not isinstance(begin, bool) else RATIO, isinstance(begin, bool))
        if isinstance(node.value, ast.Name) and node.value.id in self.header.groups:
            return self._state(node, node.value.id)
        owner = self.value(node.value)
        if isinstance(owner, Wrong):
            return WRONG
        if isinstance(owner, Collection):
            if owner.kind == "siblings" and node.attr == "own":
                return Item("sibling", 2)
            allowed = "len(siblings), siblings.own, or a loop: sum(s.rate for s in siblings)"
            self.problems.add(node, f"{owner.kind} has no {node.attr}", allowed)
            return WRONG
        if not isinstance(owner, Thing | Item):
            self.problems.add(node, f"{self.segment(node.value)} has no fields", "")
            return WRONG
        found = self.field_of(node, owner.kind)
        if found is None:
            return WRONG
        if isinstance(owner, Thing):
            return self._thing_field(node, owner, found)
        # A loop variable refers to a different subflow in each pass, so only reads of a fixed subflow are recorded.
        is_one = isinstance(owner.place, Cell) or owner.place == 2
        note = self.emitter.note("read", self.segment(node), node.lineno) if is_one else 0
        return self._item_field(owner, found, note)

    def field_of(self, node: ast.Attribute, kind: str) -> Field | None:
        """The named field; None after reporting an unknown name."""
        fields = {each.name: each for each in OBJECTS[kind]}
        if node.attr not in fields:
            hint = did_you_mean(node.attr, list(fields))
            self.problems.add(node, f"{self.segment(node.value)} has no {node.attr}{hint}", either(list(fields)))
            return None
        return fields[node.attr]

    def _thing_field(self, node: ast.Attribute, thing: Thing, found: Field) -> Number:
        if thing.kind == "w":
            name = f"w.{found.name}"
            self.begun[name] = self.window[found.name]
            return Number(self.window[found.name], found.unit)
        key = (f"object {thing.index}", found.name)
        kind, place = _PLACES[thing.kind, found.name]
        is_clock = kind == "TIME"
        if key not in self.scope.read or found.is_settable:
            cell = self.emitter.local()
            note = self.emitter.note("read", f"{thing.kind}.{found.name}", node.lineno)
            op = "ReadField" if kind == "COMPUTED" else f"Read{_READ[kind]}"
            self.emitter.emit(op, cell, thing.index, value=place, note=note)
            self.scope.read[key] = cell
        return Number(self.scope.read[key], found.unit, found.is_flag, is_clock)

    def _item_field(self, item: Item, found: Field, note: int) -> Number:
        key = (item.place, found.name)
        is_clock = _PLACES.get((item.kind, found.name), ("", 0))[0] == "TIME"
        if key not in self.scope.read:
            self.scope.read[key] = self._read_item(item, found, note)
        return Number(self.scope.read[key], found.unit, found.is_flag, is_clock)

    def _read_item(self, item: Item, found: Field, note: int) -> Cell:
        cell = self.emitter.local()
        loop = self.loop_of(item)
        if item.kind == "sibling" and found.name == "rate":
            self.emitter.emit("ItemRate", cell, loop, note=note)
            return cell
        if item.kind == "sibling" and found.name == "own":
            self.emitter.emit("ItemIsOwn", cell, loop, note=note)
            return cell
        kind, place = _PLACES[item.kind, found.name]
        self.emitter.emit(f"Item{_READ[kind]}", cell, loop, value=place, note=note)
        return cell

    def loop_of(self, item: Item) -> int:
        """The loop index by which instructions find a subflow; emits a `Refer` first if its number is in a cell."""
        if isinstance(item.place, int):
            return item.place
        self.emitter.emit("Refer", 0, item.place)
        return _REFERRED

    def kept(self, node: ast.Attribute) -> tuple[Item, int, float | bool] | None:
        """The subflow, position and initial value of `per[s].name`; None after reporting a problem."""
        subscript = node.value
        assert isinstance(subscript, ast.Subscript)
        group = subscript.value.id if isinstance(subscript.value, ast.Name) else ""
        if self.header.groups.get(group) != "per_subflow":
            allowed = "per[s].used of per = per_subflow(used=0)"
            self.problems.add(node, "[...] only finds what per_subflow keeps", allowed)
            return None
        if (group, node.attr) not in self.header.kept:
            names = [name for each, name in self.header.kept if each == group]
            message = f"{group} keeps no {node.attr}{did_you_mean(node.attr, names)}"
            self.problems.add(node, message, either(names))
            return None
        item = self.value(subscript.slice)
        if not isinstance(item, Item):
            if not isinstance(item, Wrong):
                self.problems.add(subscript.slice, "this is not a subflow", "a subflow of a loop or of best(...)")
            return None
        position, begin = self.header.kept[group, node.attr]
        return item, position, begin

    def _state(self, node: ast.Attribute, group: str) -> Value:
        if self.header.groups[group] == "per_subflow":
            self.problems.add(node, f"{group} keeps a number of each subflow", f"{group}[s].{node.attr}")
            return WRONG
        state = self.header.states.get((group, node.attr))
        if state is None:
            names = [name for each, name in self.header.states if each == group]
            message = f"{group} has no {node.attr}{did_you_mean(node.attr, names)}"
            self.problems.add(node, message, either(names))
            return WRONG
        name = f"{group}.{node.attr}"
        self.begun[name] = state.cell
        unit = self.learning.units.get(name, self.learned.units.get(name))
        is_clock = name not in self.learned.not_clocks
        return Number(state.cell, RATIO if state.is_flag else unit, state.is_flag, is_clock)

    @contextmanager
    def branch(self) -> Iterator[None]:
        """Context for code that a run may skip: its reads and names are not certain afterwards."""
        read, certain = dict(self.scope.read), set(self.scope.certain)
        yield
        self.scope.read, self.scope.certain = read, certain

    def segment(self, node: ast.AST) -> str:
        """The text of a node on one line."""
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", None) or 0
        if not 0 < first <= last <= len(self._lines):
            return ast.unparse(node)
        begin, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
        if first == last and (line := self._lines[first - 1]).isascii():
            return " ".join(line[begin:end].split())
        lines = self._lines[first - 1 : last]
        lines[-1] = lines[-1].encode()[:end].decode(errors="replace")
        lines[0] = lines[0].encode()[begin:].decode(errors="replace")
        return " ".join(" ".join(lines).split())
