"""Calls in a script: functions, helpers, and generator expressions over subflows."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from typing import Any

from subflow_sim.plain_text import did_you_mean, either
from subflow_sim.script.emitter import Label
from subflow_sim.script.expressions import REDUCTIONS, Expressions
from subflow_sim.script.names import FUNCTION_NAMES, Scope, Target
from subflow_sim.script.values import WRONG, Answer, Cell, Collection, Item, Local, Number, Value, Wrong
from subflow_sim.script.vocabulary import COLLECTIONS, COUNT, PER_SECOND, RATIO, SECONDS, Unit, unit_name

_ONE_ARGUMENT = {
    "abs": "Absolute",
    "sqrt": "SquareRoot",
    "cbrt": "CubeRoot",
    "exp": "Exponential",
    "log": "Logarithm",
    "floor": "Floor",
    "ceil": "Ceiling",
}
_MOST_LOOPS = 2
_MOST_INLINED = 16


class Calls(Expressions):
    """Compiles function calls."""

    def _call(self, node: ast.Call, target: Target) -> Value:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in self.header.helpers:
            return self._inline(node, self.header.helpers[name], target)
        if name not in FUNCTION_NAMES:
            if isinstance(node.func, ast.Attribute) and node.func.attr == "update":
                self.problems.add(node, "update gives nothing back", "a line of its own, then the name: my.x")
                return WRONG
            known = [*FUNCTION_NAMES, *self.header.helpers]
            what = name or self.segment(node.func)
            self.problems.add(node.func, f"unknown function {what}{did_you_mean(what, known)}", either(known))
            return WRONG
        if name == "best":
            return self._best(node)
        if name in REDUCTIONS and len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
            return self._reduce(node, name, node.args[0], target)
        if node.keywords and name != "interval":
            self.problems.add(node, f"{name} takes no names", _how(name))
            return WRONG
        match name:
            case "min" | "max" if len(node.args) >= 2:
                return self._extreme(node, name, target)
            case "pow" if len(node.args) == 2:
                return self._power(node, node.args[0], node.args[1], target)
            case "len" if len(node.args) == 1:
                return self._count(node, target)
            case "known" if len(node.args) == 1:
                found = self.number(node.args[0])
                return found if isinstance(found, Wrong) else self._apply("Known", found, RATIO, target, is_flag=True)
            case "random" if not node.args:
                cell = target.cell or self.emitter.temporary()
                self.emitter.emit("Random", cell, note=target.note)
                return Number(cell, RATIO)
            case "interval" if len(node.args) == 1:
                return self._interval(node)
            case "slow_start":
                self.problems.add(node, "slow_start changes the window", "a line of its own: left = slow_start(w, ack)")
                return WRONG
            case _ if name in _ONE_ARGUMENT and len(node.args) == 1:
                return self._function(node, name, target)
        self.problems.add(node, f"{name} is not called like that", _how(name))
        return WRONG

    def _best(self, node: ast.Call) -> Value:
        """The value of a call of `best`; implemented by `Functions`."""
        raise NotImplementedError

    def _apply(self, op: str, of: Number, unit: Unit, target: Target, *, is_flag: bool = False) -> Number:
        cell = target.cell or self.emitter.temporary()
        self.emitter.emit(op, cell, of.cell, note=target.note)
        return Number(cell, unit, is_flag)

    def _function(self, node: ast.Call, name: str, target: Target) -> Value:
        argument = self.number(node.args[0])
        if isinstance(argument, Wrong):
            return WRONG
        unit = argument.unit
        if name in ("exp", "log"):
            if unit not in (None, RATIO):
                self.problems.add(node, f"{name} of {unit_name(unit)}", "a number without a unit, e.g. a ratio of two")
            unit = RATIO
        elif name in ("sqrt", "cbrt") and unit is not None:
            unit = unit / (2 if name == "sqrt" else 3)
        return self._apply(_ONE_ARGUMENT[name], argument, unit, target)

    def _extreme(self, node: ast.Call, name: str, target: Target) -> Value:
        op = "Minimum" if name == "min" else "Maximum"
        values = [self.number(each) for each in node.args]
        if any(isinstance(each, Wrong) for each in values):
            return WRONG
        numbers: list[Number] = values  # type: ignore[assignment]  # none is wrong
        so_far = numbers[0]
        for position, each in enumerate(numbers[1:], start=2):
            is_last = position == len(numbers)
            unit = self.same_unit(node, so_far, each)
            cell = (target.cell if is_last else None) or self.emitter.temporary()
            self.emitter.emit(op, cell, so_far.cell, each.cell, note=target.note if is_last else 0)
            so_far = Number(cell, unit, is_clock=so_far.is_clock and each.is_clock)
        return so_far

    def _count(self, node: ast.Call, target: Target) -> Value:
        of = self.value(node.args[0])
        if not isinstance(of, Collection):
            if not isinstance(of, Wrong):
                self.problems.add(node.args[0], "len is of siblings or subflows", "len(siblings)")
            return WRONG
        cell = target.cell or self.emitter.temporary()
        self.emitter.emit("Count", cell, note=target.note)
        return Number(cell, COUNT)

    def _interval(self, node: ast.Call) -> Value:
        given = {each.arg: each.value for each in node.keywords}
        for key in given.keys() - {"min_packets", "tag"}:
            self.problems.add(node, f"interval has no {key}", _how("interval"))
        length = self.number(node.args[0])
        others = {key: self.number(value) for key, value in given.items()}
        if isinstance(length, Wrong) or any(isinstance(each, Wrong) for each in others.values()):
            return WRONG
        self.expect_unit(node.args[0], length, SECONDS, "the length of an interval")
        numbers: dict[Any, Any] = others
        return Answer("interval", length, numbers.get("min_packets"), numbers.get("tag"))

    def expect_unit(self, node: ast.AST, found: Number, wanted: Unit, what: str) -> None:
        """Reports a number whose unit is known and differs from the wanted unit."""
        if found.unit is not None and wanted is not None and found.unit != wanted:
            self.problems.add(node, f"{what} is {unit_name(wanted)}, and this is {unit_name(found.unit)}", "")

    def _inline(self, node: ast.Call, helper: ast.FunctionDef, target: Target) -> Value:
        parameters = [each.arg for each in helper.args.args]
        if node.keywords or len(node.args) != len(parameters):
            self.problems.add(node, f"{helper.name} takes {len(parameters)} values", f"{helper.name}(...)")
            return WRONG
        if self.scope.inlined >= _MOST_INLINED:
            self.problems.add(node, f"{helper.name} calls itself, or functions call each other too deep", "")
            return WRONG
        values = [self.value(each) for each in node.args]
        if any(isinstance(each, Wrong) for each in values):
            return WRONG
        outer = self.scope
        locals_ = {
            name: Local(value, node.lineno)
            for name, value in zip(parameters, values, strict=True)
            if isinstance(value, Number | Item)
        }
        things: dict[str, Value] = {
            name: value for name, value in zip(parameters, values, strict=True) if not isinstance(value, Number | Item)
        }
        self.scope = Scope(outer.hook, things, locals_, set(locals_), outer.loops, outer.read, outer.inlined + 1)
        returned = next(each for each in helper.body if isinstance(each, ast.Return))
        assert returned.value is not None
        try:
            return self.value(returned.value, target)
        finally:
            outer.read = self.scope.read
            self.scope = outer

    # ---- over subflows ----

    def _reduce(self, node: ast.Call, name: str, loop: ast.GeneratorExp, target: Target) -> Value:
        fused = self._fused(node, name, loop, target)
        if fused is not None:
            return fused
        defaults = [each for each in node.keywords if each.arg == "default"]
        if len(defaults) != len(node.keywords) or (defaults and name not in ("min", "max")):
            self.problems.add(node, f"{name} takes a loop alone", _how(name))
            return WRONG
        has_condition = any(each.ifs for each in loop.generators)
        if name in ("min", "max") and has_condition and not defaults:
            message = f"possibly no subflow matches, and then {name} has no value"
            self.problems.add(node, message, f"{name}(..., default=0)")
            return WRONG
        begin = {"sum": 0.0, "count": 0.0, "any": 0.0, "all": 1.0, "min": math.inf, "max": -math.inf}[name]
        result = self.emitter.temporary()
        self.emitter.emit("Move", result, self.emitter.constant(begin))
        found: Number | Wrong = WRONG
        done = Label()
        with self.each(loop) as is_usable:
            if is_usable:
                found = self._take(name, loop.elt, result, done)
        self.emitter.place(done)
        if isinstance(found, Wrong):
            return WRONG
        unit = COUNT if name == "count" else found.unit
        if defaults:
            other = self.number(defaults[0].value)
            if isinstance(other, Wrong):
                return WRONG
            self.same_unit(node, found, other)
            is_found = Label()
            # If the result still equals the infinite initial value, no subflow matched.
            cell = self.emitter.constant(begin)
            self.emitter.emit("JumpUnlessEqual", 0, result, cell, is_found)
            self.emitter.emit("Move", result, other.cell)
            self.emitter.place(is_found)
        return Number(result, RATIO if name in ("any", "all") else unit, name in ("any", "all"))

    def _take(self, name: str, elt: ast.expr, result: Cell, done: Label) -> Number | Wrong:
        """Compiles the part of a reduction that runs for each subflow."""
        if name in ("any", "all", "count"):
            no = Label()
            if name == "all":
                self.jump_if(elt, no)
                self.emitter.emit("Move", result, self.emitter.constant(0.0))
                self.emitter.emit("Jump", value=done)
            else:
                self.jump_unless(elt, no)
                if name == "count":
                    self.emitter.emit("Add", result, result, self.emitter.constant(1.0))
                else:
                    self.emitter.emit("Move", result, self.emitter.constant(1.0))
                    self.emitter.emit("Jump", value=done)
            self.emitter.place(no)
            return Number(result, RATIO, is_flag=True)
        found = self.number(elt)
        if isinstance(found, Number):
            op = {"sum": "Add", "min": "Minimum", "max": "Maximum"}[name]
            self.emitter.emit(op, result, result, found.cell)
        return found

    def _fused(self, node: ast.Call, name: str, loop: ast.GeneratorExp, target: Target) -> Value | None:
        """The sums and maxima that coupled controllers use, as one instruction; None for other expressions."""
        generator = loop.generators[0]
        if len(loop.generators) != 1 or generator.ifs or not isinstance(generator.target, ast.Name):
            return None
        over = self.scope.things.get(generator.iter.id) if isinstance(generator.iter, ast.Name) else None
        if over != Collection("siblings"):
            return None
        rate, per_rtt = (_shape(each, generator.target.id) for each in ("s.rate", "s.rate / s.srtt"))
        given = ast.dump(loop.elt)
        op = {
            ("sum", rate): ("TotalRate", PER_SECOND),
            ("max", rate): ("LargestRate", PER_SECOND),
            ("max", per_rtt): ("LargestRatePerRtt", Fraction(-2)),
        }.get((name, given))
        if op is None:
            return None
        self.uses_siblings = True
        cell = target.cell or self.emitter.temporary()
        self.emitter.emit(op[0], cell, note=target.note or self.emitter.note("read", self.segment(node), node.lineno))
        return Number(cell, op[1])

    @contextmanager
    def each(self, loop: ast.GeneratorExp) -> Iterator[bool]:
        """Context for the loop of a generator expression: code emitted in it runs for each matching subflow.

        Yields False after reporting an unusable expression.
        """
        if len(loop.generators) != 1:
            self.problems.add(loop, "one loop at a time", "sum(... for s in siblings)")
            yield False
            return
        generator = loop.generators[0]
        with self.loop(generator.target, generator.iter) as is_usable:
            skip = Label()
            if is_usable:
                for condition in generator.ifs:
                    self.jump_unless(condition, skip)
            yield is_usable
            self.emitter.place(skip)

    @contextmanager
    def loop(self, target: ast.expr, over: ast.expr) -> Iterator[bool]:
        """Context for the body of a loop over siblings or subflows; yields False after reporting an unusable loop."""
        collection = self.value(over)
        is_usable = isinstance(collection, Collection) and isinstance(target, ast.Name)
        if not is_usable:
            if not isinstance(collection, Wrong):
                allowed = f"for s in {'siblings' if self.scope.hook.kind == 'controller' else 'subflows'}"
                self.problems.add(over, "loops go over subflows alone", allowed)
            yield False
            return
        if self.scope.loops >= _MOST_LOOPS:
            self.problems.add(over, f"more than {_MOST_LOOPS} loops inside each other", "")
            yield False
            return
        assert isinstance(collection, Collection)
        assert isinstance(target, ast.Name)
        depth = self.scope.loops
        name = target.id
        if name in self.scope.things or name in self.header.groups:
            self.problems.add(target, f"{name} is something else already", "another name")
        end = Label()
        with self.branch():
            self.emitter.emit("ForEach", depth, value=end)
            begin = self.emitter.position
            self.scope.loops += 1
            outer, was_certain = self.scope.names.get(name), name in self.scope.certain
            self.scope.names[name] = Local(Item(COLLECTIONS[collection.kind], depth), target.lineno, is_used=True)
            self.scope.certain.add(name)
            yield True
            self.scope.loops -= 1
            del self.scope.names[name]
            if outer is not None:
                self.scope.names[name] = outer
            if not was_certain:
                self.scope.certain.discard(name)
            self.emitter.emit("Next", depth, value=begin)
        self.emitter.place(end)


@cache
def _shape(text: str, name: str) -> str:
    """The `ast.dump` of an expression about one subflow, with `name` as the name of the subflow."""
    node = ast.parse(text, mode="eval").body
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            each.id = name
    return ast.dump(node)


def _how(name: str) -> str:
    return FUNCTION_NAMES[name].call
