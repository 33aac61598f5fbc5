"""Compilation of expressions: their values, units and instructions."""

from __future__ import annotations

import ast
import math
from contextlib import nullcontext
from fractions import Fraction

from subflow_sim.plain_text import either
from subflow_sim.script.emitter import Label
from subflow_sim.script.header import whole_power
from subflow_sim.script.names import NOWHERE, Names, Target
from subflow_sim.script.values import WRONG, Answer, Cell, Collection, Item, Number, Thing, Value, Wrong
from subflow_sim.script.vocabulary import OBJECTS, RATIO, SECONDS, Unit, unit_name

_BINARY = {
    ast.Add: "Add",
    ast.Sub: "Subtract",
    ast.Mult: "Multiply",
    ast.Div: "Divide",
    ast.FloorDiv: "FloorDivide",
    ast.Mod: "Remainder",
}
REDUCTIONS = ("sum", "min", "max", "any", "all", "count")


class Expressions(Names):
    """Compiles the expressions of one function."""

    # ---- values ----

    def number(self, node: ast.expr, target: Target = NOWHERE) -> Number | Wrong:
        """The value of an expression that must be a number or a flag."""
        value = self.value(node, target)
        if isinstance(value, Number | Wrong):
            return value
        self.problems.add(node, f"{_article(value)} is not a number", _readable(value))
        return WRONG

    def flag(self, node: ast.expr, target: Target = NOWHERE) -> Number | Wrong:
        """The value of an expression that must be True or False."""
        value = self.number(node, target)
        if isinstance(value, Number) and not value.is_flag:
            self.problems.add(node, "this is a number, where True or False is wanted", f"{self.segment(node)} != 0")
            return WRONG
        return value

    def value(self, node: ast.expr, target: Target = NOWHERE) -> Value:
        """The value of an expression, moved to the target's cell if the target has one."""
        found = self._value(node, target)
        if isinstance(found, Number) and target.cell is not None and found.cell is not target.cell:
            self.emitter.emit("Move", target.cell, found.cell, note=target.note)
            return Number(target.cell, found.unit, found.is_flag, found.is_clock)
        return found

    def _value(self, node: ast.expr, target: Target) -> Value:
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.Attribute():
                return self._attribute(node)
            case ast.BinOp():
                return self._binary(node, target)
            case ast.UnaryOp(op=ast.Not()) | ast.BoolOp() | ast.Compare():
                return self._truth(node, target)
            case ast.UnaryOp(op=ast.UAdd() | ast.USub()):
                return self._signed(node, target)
            case ast.IfExp():
                return self._conditional(node, target)
            case ast.Call():
                return self._call(node, target)
            case ast.Subscript():
                self.problems.add(node, "[...] only finds what per_subflow keeps: per[s].used", "")
                return WRONG
            case ast.GeneratorExp():
                self.problems.add(node, "a loop in brackets needs one of its functions", either(list(REDUCTIONS)))
                return WRONG
        self.problems.add(node, f"scripts cannot use {_kind_of(node)}", _ALLOWED)
        return WRONG

    def _constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, bool):
            return self._literal(float(node.value), is_flag=True)
        if isinstance(node.value, int | float):
            try:
                number = float(node.value)
            except OverflowError:
                number = math.inf
            if abs(number) > 1e300:
                self.problems.add(node, "the number is too large", "inf")
                return WRONG
            return self._literal(number)
        self.problems.add(node, "this is not a number", "numbers, True, False and names")
        return WRONG

    # ---- arithmetic ----

    def _binary(self, node: ast.BinOp, target: Target) -> Value:
        if isinstance(node.op, ast.Pow):
            return self._power(node, node.left, node.right, target)
        op = _BINARY.get(type(node.op))
        if op is None:
            self.problems.add(node, "numbers do not have this operator", "+ - * / // % **")
            return WRONG
        left, right = self.number(node.left), self.number(node.right)
        if isinstance(left, Wrong) or isinstance(right, Wrong):
            return WRONG
        is_per_rtt = (
            op == "Divide"
            and isinstance(node.left, ast.Attribute)
            and isinstance(node.right, ast.Attribute)
            and (node.left.attr, node.right.attr) == ("rate", "srtt")
        )
        if is_per_rtt:
            found = self._rate_per_rtt(node, target)
            if found is not None:
                return found
        unit, is_clock = self._result_unit(node, op, left, right)
        if op == "Subtract" and unit == SECONDS and left.is_clock and right.is_clock:
            op = "Difference"
        if left.constant is not None and right.constant is not None:
            folded = _folded(op, left.constant, right.constant)
            if folded is not None:
                return Number(self.emitter.constant(folded), unit, constant=folded, is_clock=True)
        cell = target.cell or self.emitter.temporary()
        self.emitter.emit(op, cell, left.cell, right.cell, note=target.note)
        return Number(cell, unit, is_clock=is_clock)

    def _rate_per_rtt(self, node: ast.BinOp, target: Target) -> Number | None:
        """`s.rate / s.srtt` of one sibling, which the core provides as one instruction; None for other quotients."""
        assert isinstance(node.left, ast.Attribute)
        assert isinstance(node.right, ast.Attribute)
        if ast.dump(node.left.value) != ast.dump(node.right.value):
            return None
        item = self.value(node.left.value)
        if not isinstance(item, Item) or item.kind != "sibling":
            return None
        cell = target.cell or self.emitter.temporary()
        self.emitter.emit("ItemRatePerRtt", cell, self.loop_of(item), note=target.note)
        return Number(cell, Fraction(-2))

    def _result_unit(self, node: ast.BinOp, op: str, left: Number, right: Number) -> tuple[Unit, bool]:
        """The unit of an arithmetic result, and True if the result is in whole nanoseconds."""
        if op in ("Add", "Subtract", "Remainder"):
            unit = self.same_unit(node, left, right)
            return unit, left.is_clock and right.is_clock and op != "Remainder"
        if left.unit is None and right.unit is None:
            return None, False
        a, b = left.unit or Fraction(0), right.unit or Fraction(0)
        return (a + b if op == "Multiply" else a - b), False

    def same_unit(self, node: ast.AST, left: Number, right: Number) -> Unit:
        """The common unit of two operands; reports a problem if their units differ."""
        if left.unit is None or right.unit is None or left.unit == right.unit:
            return right.unit if left.unit is None else left.unit
        message = f"{unit_name(left.unit)} and {unit_name(right.unit)} do not go together"
        self.problems.add(node, message, "numbers of one unit; divide or multiply by a time first")
        return left.unit

    def _power(self, node: ast.expr, base: ast.expr, exponent: ast.expr, target: Target) -> Value:
        left, right = self.number(base), self.number(exponent)
        if isinstance(left, Wrong) or isinstance(right, Wrong):
            return WRONG
        if right.unit not in (None, RATIO):
            self.problems.add(exponent, f"{unit_name(right.unit)} is not an exponent", "a number without a unit")
        if right.constant is None or not math.isfinite(right.constant):
            if left.unit not in (None, RATIO):
                message = f"{unit_name(left.unit)} to a power that is not known has no unit"
                self.problems.add(node, message, "a base without a unit, or a number as exponent")
            unit: Unit = None if left.unit is None else RATIO
        else:
            unit = None if left.unit is None else left.unit * Fraction(right.constant).limit_denominator(64)
        cell = target.cell or self.emitter.temporary()
        if right.constant in (1.0, 2.0, 3.0, 4.0):
            whole = int(right.constant)
            if left.constant is not None:
                return self._literal(whole_power(left.constant, whole))
            product = left.cell
            for step in range(whole - 1):
                into = cell if step == whole - 2 else self.emitter.temporary()
                self.emitter.emit("Multiply", into, product, left.cell, note=target.note if into is cell else 0)
                product = into
            return Number(product, unit)
        self.emitter.emit("Power", cell, left.cell, right.cell, note=target.note)
        return Number(cell, unit)

    def _signed(self, node: ast.UnaryOp, target: Target) -> Value:
        operand = self.number(node.operand)
        if isinstance(operand, Wrong) or isinstance(node.op, ast.UAdd):
            return operand
        if operand.constant is not None:
            return self._literal(-operand.constant)
        cell = target.cell or self.emitter.temporary()
        self.emitter.emit("Negate", cell, operand.cell, note=target.note)
        return Number(cell, operand.unit, is_clock=operand.is_clock)

    def _conditional(self, node: ast.IfExp, target: Target) -> Value:
        otherwise, end = Label(), Label()
        self.jump_unless(node.test, otherwise)
        cell = target.cell or self.emitter.temporary()
        into = Target(cell, target.note)
        with self.branch():
            chosen = self.number(node.body, into)
        self.emitter.emit("Jump", value=end)
        self.emitter.place(otherwise)
        with self.branch():
            other = self.number(node.orelse, into)
        self.emitter.place(end)
        if isinstance(chosen, Wrong) or isinstance(other, Wrong):
            return WRONG
        unit = self.same_unit(node, chosen, other)
        return Number(cell, unit, chosen.is_flag and other.is_flag, chosen.is_clock and other.is_clock)

    # ---- conditions ----

    def _truth(self, node: ast.expr, target: Target) -> Value:
        """A condition as a number, 1 or 0."""
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and not _asks_for_none(node):
            return self._comparison(node, target)
        cell = self.emitter.temporary()
        no, end = Label(), Label()
        self.jump_unless(node, no)
        self.emitter.emit("Move", cell, self.emitter.constant(1.0))
        self.emitter.emit("Jump", value=end)
        self.emitter.place(no)
        self.emitter.emit("Move", cell, self.emitter.constant(0.0))
        self.emitter.place(end)
        return Number(cell, RATIO, is_flag=True)

    def _comparison(self, node: ast.Compare, target: Target) -> Value:
        left, op, right = self._compared(node, node.left, node.ops[0], node.comparators[0])
        if isinstance(left, Wrong) or isinstance(right, Wrong):
            return WRONG
        cell = target.cell or self.emitter.temporary()
        first, second = (right, left) if isinstance(op, ast.Gt | ast.GtE) else (left, right)
        self.emitter.emit(_COMPARISONS[type(op)][0], cell, first.cell, second.cell, note=target.note)
        return Number(cell, RATIO, is_flag=True)

    def _compared(
        self, node: ast.Compare, left_node: ast.expr, op: ast.cmpop, right_node: ast.expr
    ) -> tuple[Number | Wrong, ast.cmpop, Number | Wrong]:
        if type(op) not in _COMPARISONS:
            allowed = "< <= > >= == !=, and s is None where best found no subflow"
            self.problems.add(node, "numbers are compared by size", allowed)
            return WRONG, op, WRONG
        left, right = self.number(left_node), self.number(right_node)
        if isinstance(left, Number) and isinstance(right, Number):
            self.same_unit(node, left, right)
        return left, op, right

    def jump_unless(self, node: ast.expr, otherwise: Label) -> None:
        """Emits code that jumps to the label unless the condition holds."""
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                self.jump_unless(values[0], otherwise)
                for each in values[1:]:
                    with self.branch():
                        self.jump_unless(each, otherwise)
            case ast.BoolOp(op=ast.Or(), values=values):
                holds = Label()
                self.jump_if(values[0], holds)
                for each in values[1:-1]:
                    with self.branch():
                        self.jump_if(each, holds)
                with self.branch():
                    self.jump_unless(values[-1], otherwise)
                self.emitter.place(holds)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.jump_if(operand, otherwise)
            case ast.Compare():
                self._compare_and_jump(node, otherwise)
            case _:
                found = self.flag(node)
                if isinstance(found, Number):
                    self.emitter.emit("JumpUnless", 0, found.cell, value=otherwise, note=self._condition_note(node))

    def jump_if(self, node: ast.expr, there: Label) -> None:
        """Emits code that jumps to the label if the condition holds."""
        match node:
            case ast.BoolOp(op=ast.Or(), values=values):
                self.jump_if(values[0], there)
                for each in values[1:]:
                    with self.branch():
                        self.jump_if(each, there)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.jump_unless(operand, there)
            case ast.BoolOp() | ast.Compare():
                no = Label()
                self.jump_unless(node, no)
                self.emitter.emit("Jump", value=there)
                self.emitter.place(no)
            case _:
                found = self.flag(node)
                if isinstance(found, Number):
                    self.emitter.emit("JumpIf", 0, found.cell, value=there, note=self._condition_note(node))

    def _compare_and_jump(self, node: ast.Compare, otherwise: Label) -> None:
        if _asks_for_none(node):
            cell = self._number_of_item(node)
            if cell is not None:
                jump = "JumpUnlessEqual" if isinstance(node.ops[0], ast.Is) else "JumpIfEqual"
                none = self.emitter.constant(-1.0)
                self.emitter.emit(jump, 0, cell, none, otherwise, self._condition_note(node))
            return
        left_node = node.left
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            with self.branch() if left_node is not node.left else nullcontext():
                left, _, right = self._compared(node, left_node, op, right_node)
            left_node = right_node
            if isinstance(left, Wrong) or isinstance(right, Wrong):
                continue
            first, second = (right, left) if isinstance(op, ast.Gt | ast.GtE) else (left, right)
            jump = _COMPARISONS[type(op)][1]
            self.emitter.emit(jump, 0, first.cell, second.cell, otherwise, self._condition_note(node))

    def _number_of_item(self, node: ast.Compare) -> Cell | None:
        """The cell with the number of the subflow that `s is None` tests; -1 means no subflow.

        None after reporting a problem.
        """
        item = self.value(node.left)
        if isinstance(item, Item) and isinstance(item.place, Cell):
            return item.place
        if not isinstance(item, Wrong):
            self.problems.add(node.left, "this is never None", "a name for the result of best(...)")
        return None

    def _condition_note(self, node: ast.expr) -> int:
        return self.emitter.note("if", self.segment(node), node.lineno)

    def _call(self, node: ast.Call, target: Target) -> Value:
        """The value of a call; implemented by `Calls`."""
        raise NotImplementedError


def _asks_for_none(node: ast.Compare) -> bool:
    is_none = isinstance(node.comparators[0], ast.Constant) and node.comparators[0].value is None
    return is_none and len(node.ops) == 1 and isinstance(node.ops[0], ast.Is | ast.IsNot)


def _folded(op: str, left: float, right: float) -> float | None:
    """The result of an operation on constants; None if the virtual machine must compute it."""
    match op:
        case "Add":
            found = left + right
        case "Subtract" | "Difference":
            found = left - right
        case "Multiply":
            found = left * right
        case "Divide" if right != 0:
            found = left / right
        case _:
            return None
    return found if math.isfinite(found) else None


_COMPARISONS = {
    ast.Lt: ("Less", "JumpUnlessLess"),
    ast.Gt: ("Less", "JumpUnlessLess"),
    ast.LtE: ("LessEqual", "JumpUnlessLessEqual"),
    ast.GtE: ("LessEqual", "JumpUnlessLessEqual"),
    ast.Eq: ("Equal", "JumpUnlessEqual"),
    ast.NotEq: ("NotEqual", "JumpIfEqual"),
}
_ALLOWED = "numbers, names, fields, + - * / // % **, comparisons, and, or, not, if-else, and functions"


def _article(value: Value) -> str:
    names = {Item: "a subflow", Thing: "an object", Collection: "a collection", Answer: "a value for return"}
    return names.get(type(value), "this")


def _readable(value: Value) -> str:
    if isinstance(value, Item | Thing):
        return f"one of its fields: {', '.join(each.name for each in OBJECTS[value.kind])}"
    return ""


def _kind_of(node: ast.expr) -> str:
    names = {
        ast.Lambda: "a lambda",
        ast.List: "a list",
        ast.ListComp: "a list",
        ast.Dict: "a dictionary",
        ast.Tuple: "a pair",
        ast.Set: "a set",
        ast.JoinedStr: "formatted text",
        ast.NamedExpr: "an assignment inside an expression",
        ast.Await: "`await`",
        ast.Yield: "`yield`",
        ast.Starred: "`*`",
    }
    return names.get(type(node), "this")
