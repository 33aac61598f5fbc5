"""Compilation of a script's functions: statements and return values."""

from __future__ import annotations

import ast

from subflow_sim.plain_text import did_you_mean, either
from subflow_sim.script.calls import Calls
from subflow_sim.script.emitter import Label
from subflow_sim.script.names import Scope, Target
from subflow_sim.script.selection import best
from subflow_sim.script.values import (
    Answer,
    Cell,
    Collection,
    Item,
    Local,
    Number,
    Thing,
    Value,
    Wrong,
)
from subflow_sim.script.vocabulary import OBJECTS, SECONDS, Hook, unit_name

_STATEMENTS = "assignments, if, for s in siblings, return, and slow_start(w, ack) or my.x.update(...)"


class Functions(Calls):
    """Compiles the functions of a script one after the other."""

    _source = ""  # text of the statement being compiled

    def compile(self, node: ast.FunctionDef, hook: Hook) -> int:
        """Compiles a function that the simulator calls; returns the index of its first instruction."""
        self.emitter.begin_function()
        self.emitter.line = node.lineno
        begin = self.emitter.position
        self.begun = {}
        self.scope = Scope(hook, self._parameters(node, hook))
        self._block(node.body)
        self.emitter.line = node.body[-1].end_lineno or node.lineno
        if hook.returns in ("plan", "subflow") and not _always_returns(node.body):
            wanted = "a length" if hook.returns == "plan" else "a subflow, or wait"
            self.problems.add(node.body[-1], f"{hook.name} may end here without returning {wanted}", "a return")
        self.emitter.emit("Return")
        self._check_names()
        return begin

    def _parameters(self, node: ast.FunctionDef, hook: Hook) -> dict[str, Value]:
        given = [each.arg for each in node.args.args]
        wanted = list(hook.parameters)
        least = 1 if hook.kind == "scheduler" else min(2, len(wanted))
        if not least <= len(given) <= len(wanted):
            names = ", ".join(name for name, _ in wanted)
            self.problems.add(node, f"{hook.name} is given {len(given)} parameters", f"def {hook.name}({names}):")
        things: dict[str, Value] = {}
        objects = 0
        for name, (_, kind) in zip(given, wanted, strict=False):
            if name in self.header.groups or name in self.header.options or name in self.header.constants:
                self.problems.add(node, f"{name} is something else already", "another name for the parameter")
            if kind in ("siblings", "subflows"):
                things[name] = Collection(kind)
            elif kind == "w":
                things[name] = Thing("w", -1)
            else:
                things[name] = Thing(kind, objects)
                objects += 1
        return things

    def _best(self, node: ast.Call) -> Value:
        return best(self, node)

    # ---- statements ----

    def _block(self, body: list[ast.stmt]) -> None:
        for position, each in enumerate(body):
            mark = self.emitter.mark()
            self.emitter.line = each.lineno
            self._source = self.segment(each) if not isinstance(each, ast.If | ast.For) else ""
            self._statement(each)
            self.emitter.release(mark)
            if isinstance(each, ast.Return) and position < len(body) - 1:
                self.problems.add(body[position + 1], "this is never reached: the line before returns", "")
                return

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[target]):
                self._assign(target, node.value)
            case ast.Assign():
                self.problems.add(node, "one name at a time", "a line for each")
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, value)
            case ast.AugAssign(target=target, op=op, value=value):
                sum_ = ast.BinOp(left=target, op=op, right=value)
                ast.copy_location(sum_, node)
                self._assign(target, sum_)
            case ast.If():
                self._if(node)
            case ast.For():
                self._for(node)
            case ast.Return():
                self._return(node)
            case ast.Pass():
                pass
            case ast.Expr(value=ast.Constant(value=str())):
                pass
            case ast.Expr(value=ast.Call() as call):
                self._call_alone(call)
            case _:
                self.problems.add(node, f"scripts cannot use {_kind_of(node)}", _STATEMENTS)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "slow_start":
            is_new = isinstance(target, ast.Name) and self._is_free(target.id) and target.id not in self.scope.names
            cell = self.emitter.local() if is_new else self.emitter.temporary()
            left = self._slow_start(value, cell, target.id if isinstance(target, ast.Name) and is_new else "")
            if left is None:
                return
            if isinstance(target, ast.Name) and is_new:
                self.scope.names[target.id] = Local(left, target.lineno)
                self.scope.certain.add(target.id)
            else:
                self._store(target, value, left)
            return
        match target:
            case ast.Name(id=name):
                self._assign_name(target, name, value)
            case ast.Attribute():
                self._assign_attribute(target, value)
            case _:
                self.problems.add(target, "only names and fields are assigned", "x = ..., my.x = ..., w.cwnd = ...")

    def _store(self, target: ast.expr, node: ast.expr, left: Number) -> None:
        """Assigns an already computed number."""
        self.scope.names[""] = Local(left, node.lineno, is_used=True)
        self.scope.certain.add("")
        self._assign(target, ast.copy_location(ast.Name(id="", ctx=ast.Load()), node))
        del self.scope.names[""]

    def _assign_name(self, target: ast.Name, name: str, value: ast.expr) -> None:
        if not self._is_free(name):
            what = "an option" if name in self.header.options else "a name of its own"
            self.problems.add(target, f"{name} is {what} and cannot be assigned", "another name, or my.x of a state")
            self.value(value)
            return
        known = self.scope.names.get(name)
        cell = known.value.cell if known is not None and isinstance(known.value, Number) else self.emitter.local()
        note = self.emitter.note("set", name, target.lineno, self._source)
        found = self.value(value, Target(cell, note))
        if isinstance(found, Wrong):
            self.scope.names[name] = Local(Number(cell), target.lineno, is_used=True)
            self.scope.certain.add(name)
            return
        if isinstance(found, Item):
            self.scope.names[name] = Local(self._kept_item(found), target.lineno)
        elif isinstance(found, Number):
            unit, is_clock = found.unit, found.is_clock
            if known is not None and isinstance(known.value, Number):
                unit = self.same_unit(target, known.value, found)
                is_clock = is_clock and known.value.is_clock
                if known.value.is_flag != found.is_flag:
                    self.problems.add(target, f"{name} is a number in one line, True or False in another", "two names")
            is_used = known is not None and known.is_used
            self.scope.names[name] = Local(Number(cell, unit, found.is_flag, is_clock), target.lineno, is_used)
        else:
            self.problems.add(value, "this cannot be kept under a name", "a number, True or False, or a subflow")
            return
        self.scope.certain.add(name)

    def _is_free(self, name: str) -> bool:
        header = self.header
        taken = (self.scope.things, header.groups, header.options, header.constants, header.helpers)
        return not any(name in each for each in taken) and name not in ("wait", "now", "inf")

    def _kept_item(self, item: Item) -> Item:
        """A copy of a subflow's number that remains valid when the loop advances."""
        if isinstance(item.place, Cell) or item.place == 2:
            return item
        cell = self.emitter.local()
        self.emitter.emit("ItemNumber", cell, item.place)
        return Item(item.kind, cell)

    def _assign_attribute(self, target: ast.Attribute, value: ast.expr) -> None:
        if isinstance(target.value, ast.Subscript):
            self._assign_kept(target, value)
            return
        group = target.value.id if isinstance(target.value, ast.Name) else ""
        if self.header.groups.get(group) == "state":
            self._assign_state(target, group, value)
            return
        owner = self.value(target.value)
        if isinstance(owner, Wrong):
            return
        if not isinstance(owner, Thing):
            allowed = "w.cwnd, w.ssthresh, w.rate, my.x, record.utility"
            self.problems.add(target, f"{self.segment(target)} cannot be assigned", allowed)
            return
        found = self.field_of(target, owner.kind)
        if found is None:
            return
        if not found.is_settable:
            names = [f"{self.segment(target.value)}.{each.name}" for each in OBJECTS[owner.kind] if each.is_settable]
            message = f"{self.segment(target)} is measured and cannot be set"
            self.problems.add(target, message, either(names) if names else "w.cwnd, w.ssthresh or w.rate")
            return
        name = f"{owner.kind}.{found.name}"
        note = self.emitter.note("set", name, target.lineno, self._source)
        if owner.kind == "record":
            utility = self.number(value)
            if isinstance(utility, Number):
                self.emitter.emit("WriteUtility", utility.cell, utility.cell, note=note)
            return
        number = self.number(value, Target(self.window[found.name], note))
        if isinstance(number, Number):
            self.expect_unit(value, number, found.unit, name)

    def _assign_kept(self, target: ast.Attribute, value: ast.expr) -> None:
        place = self.kept(target)
        number = self.number(value)
        if place is None or isinstance(number, Wrong):
            return
        item, position, begin = place
        if isinstance(begin, bool) != number.is_flag:
            wanted = "True or False" if isinstance(begin, bool) else "a number"
            self.problems.add(value, f"{self.segment(target)} is {wanted}", "")
        note = self.emitter.note("set", self.segment(target), target.lineno, self._source)
        self.emitter.emit("ItemStore", 0, self.loop_of(item), number.cell, position, note)

    def _assign_state(self, target: ast.Attribute, group: str, value: ast.expr) -> None:
        known = self._state(target, group)
        if isinstance(known, Wrong):
            return
        state = self.header.states[group, target.attr]
        name = f"{group}.{target.attr}"
        if state.filter:
            example = f"{name}.update(value)" if state.filter == "average" else f"{name}.update(value, at=ack.now)"
            self.problems.add(target, f"{name} is fed, not assigned", example)
            return
        note = self.emitter.note("set", name, target.lineno, self._source)
        found = self.number(value, Target(state.cell, note))
        if isinstance(found, Wrong):
            return
        if state.is_flag != found.is_flag:
            wanted = "True or False" if state.is_flag else "a number"
            self.problems.add(value, f"{name} began as {wanted}", f"{wanted}, or another first value in state(...)")
            return
        self._learn(value, name, found)

    def _learn(self, node: ast.AST, name: str, found: Number) -> None:
        """Infers the unit of a state from an assigned value, and reports contradictory units."""
        if not found.is_clock:
            self.learning.not_clocks.add(name)
        if found.unit is None:
            return
        unit = self.learning.units.setdefault(name, found.unit)
        if unit != found.unit:
            message = f"{name} is {unit_name(unit)} elsewhere, and here {unit_name(found.unit)}"
            self.problems.add(node, message, "one unit for each name")

    def _if(self, node: ast.If) -> None:
        otherwise, end = Label(), Label()
        self.jump_unless(node.test, otherwise)
        before = set(self.scope.certain)
        with self.branch():
            self._block(node.body)
            after_body = None if _always_returns(node.body) else set(self.scope.certain)
        if node.orelse:
            if after_body is not None:
                self.emitter.emit("Jump", value=end)
            self.emitter.place(otherwise)
            with self.branch():
                self._block(node.orelse)
                after_else = None if _always_returns(node.orelse) else set(self.scope.certain)
        else:
            self.emitter.place(otherwise)
            after_else = before
        self.emitter.place(end)
        ways = [each for each in (after_body, after_else) if each is not None]
        self.scope.certain = before | (set.intersection(*ways) if ways else set())

    def _for(self, node: ast.For) -> None:
        if node.orelse:
            self.problems.add(node.orelse[0], "a loop has no else", "")
        with self.loop(node.target, node.iter) as is_usable:
            if is_usable:
                mark = self.emitter.mark()
                self._block(node.body)
                self.emitter.release(mark)

    def _call_alone(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id == "slow_start":
            self._slow_start(node, self.emitter.temporary())
            return
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "update":
            self._update(node, function.value)
            return
        self.problems.add(node, "this line changes nothing", _STATEMENTS)

    def _slow_start(self, node: ast.Call, cell: Cell, name: str = "") -> Number | None:
        """Compiles slow start, which stores in `cell` how many packets of the ACK it did not use.

        `name` is the script's name for the cell, or empty. Returns None after reporting a problem.
        """
        things = [self.value(each) for each in node.args]
        kinds = [each.kind if isinstance(each, Thing) else "" for each in things]
        if node.keywords or kinds != ["w", "ack"]:
            self.problems.add(node, "slow_start is not called like that", "left = slow_start(w, ack)")
            return None
        acked = self.number(ast.copy_location(ast.Attribute(value=node.args[1], attr="acked"), node))
        if isinstance(acked, Wrong):
            return None
        self.begun["w.ssthresh"] = self.window["ssthresh"]
        self.begun["w.cwnd"] = self.window["cwnd"]
        if name:
            note = self.emitter.note("set", name, node.lineno, self._source)
        else:
            note = self.emitter.note("call", self.segment(node), node.lineno)
        # The instruction records the changed window under the note after its own.
        self.emitter.note("read", "w.cwnd", node.lineno)
        self.emitter.emit("SlowStart", cell, acked.cell, note=note)
        return Number(cell, acked.unit)

    def _update(self, node: ast.Call, place: ast.expr) -> None:
        group = place.value.id if isinstance(place, ast.Attribute) and isinstance(place.value, ast.Name) else ""
        state = self.header.states.get((group, place.attr)) if isinstance(place, ast.Attribute) else None
        if state is None or not state.filter or not isinstance(place, ast.Attribute):
            names = [f"{each}.{name}" for (each, name), found in self.header.states.items() if found.filter]
            shown = self.segment(place)
            allowed = either(names) if names else "a windowed_max, windowed_min or ewma of state(...)"
            self.problems.add(node, f"{shown} takes no update{did_you_mean(shown, names)}", allowed)
            return
        name = f"{group}.{place.attr}"
        given = {each.arg: each.value for each in node.keywords}
        needs_time = state.filter != "average"
        if len(node.args) != 1 or set(given) != ({"at"} if needs_time else set()):
            how = f"{name}.update(value, at=ack.now)" if needs_time else f"{name}.update(value)"
            self.problems.add(node, "update is not called like that", how)
            return
        value = self.number(node.args[0])
        at = self.number(given["at"]) if needs_time else value
        if isinstance(value, Wrong) or isinstance(at, Wrong) or state.over is None:
            return
        self.begun[name] = state.cell
        note = self.emitter.note("set", name, node.lineno, self._source)
        if state.filter == "average":
            self.emitter.emit("Average", state.cell, value.cell, state.over, note=note)
        else:
            op = "RecentMaximum" if state.filter == "maximum" else "RecentMinimum"
            self.emitter.emit(op, state.cell, value.cell, at.cell, state.over, note)
        if state.filter == "average":
            self.learning.not_clocks.add(name)
        self._learn(node, name, value)

    def _return(self, node: ast.Return) -> None:
        hook = self.scope.hook
        if node.value is None:
            if hook.returns in ("plan", "subflow"):
                wanted = "a length in s, or interval(...)" if hook.returns == "plan" else "a subflow, or wait"
                self.problems.add(node, f"{hook.name} returns something", wanted)
            self.emitter.emit("Return")
            return
        found = self.value(node.value)
        if isinstance(found, Wrong):
            return
        note = self.emitter.note("return", self.segment(node.value), node.lineno)
        match hook.returns, found:
            case "next", Answer(kind="now"):
                self.emitter.emit("ReturnNow", note=note)
            case "plan", Number():
                self.expect_unit(node.value, found, SECONDS, "the length of an interval")
                self.emitter.emit(
                    "ReturnPlan", self.emitter.constant(0.0), found.cell, self.emitter.constant(1.0), 0, note
                )
            case "plan", Answer(kind="interval", length=Number() as length):
                tag = found.tag.cell if found.tag is not None else self.emitter.constant(0.0)
                least = found.min_packets.cell if found.min_packets is not None else self.emitter.constant(1.0)
                self.emitter.emit("ReturnPlan", tag, length.cell, least, 0, note)
            case "subflow", Item():
                cell = self.emitter.temporary()
                if isinstance(found.place, Cell):
                    cell = found.place
                else:
                    self.emitter.emit("ItemNumber", cell, found.place)
                self.emitter.emit("ReturnSubflow", 0, cell, note=note)
            case "subflow", Answer(kind="wait"):
                self.emitter.emit("ReturnWait", note=note)
            case _:
                wanted = {
                    "nothing": "return without a value: the decision is in w",
                    "next": "return, or return now",
                    "plan": "a length in s, or interval(...)",
                    "subflow": "a subflow, or wait",
                }[hook.returns]
                self.problems.add(node, f"{hook.name} does not return that", wanted)

    def _check_names(self) -> None:
        """Reports an unused name that resembles a settable field; other unused names are allowed."""
        known = [
            *(
                f"{name}.{field.name}"
                for name, thing in self.scope.things.items()
                if isinstance(thing, Thing)
                for field in OBJECTS[thing.kind]
                if field.is_settable
            ),
            *(f"{group}.{name}" for group, name in self.header.states),
        ]
        short = {each.partition(".")[2]: each for each in known}
        for name, local in self.scope.names.items():
            if local.is_used or name in ("", "_"):
                continue
            hint = did_you_mean(name, list(short))
            if hint:
                meant = short[hint.split('"')[1]]
                self.problems.add_at(
                    local.line, 1, 1 + len(name), f"{name} is assigned and never used", f"{meant}, or no such line"
                )


def _always_returns(body: list[ast.stmt]) -> bool:
    """True if these statements return on every path."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return):
        return True
    return isinstance(last, ast.If) and _always_returns(last.body) and _always_returns(last.orelse)


def _kind_of(node: ast.stmt) -> str:
    names = {
        ast.While: "`while`",
        ast.Import: "`import`",
        ast.ImportFrom: "`import`",
        ast.FunctionDef: "a function inside a function",
        ast.ClassDef: "a class",
        ast.Try: "`try`",
        ast.With: "`with`",
        ast.Raise: "`raise`",
        ast.Assert: "`assert`",
        ast.Global: "`global`",
        ast.Nonlocal: "`nonlocal`",
        ast.Delete: "`del`",
        ast.Break: "`break`",
        ast.Continue: "`continue`",
        ast.Match: "`match`",
        ast.Expr: "an expression alone",
    }
    return names.get(type(node), "this")
