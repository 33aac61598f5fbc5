"""Compilation of `best(subflows, by=..., where=...)`, the subflow with the smallest keys."""

from __future__ import annotations

import ast

from subflow_sim.script.calls import Calls
from subflow_sim.script.emitter import Label
from subflow_sim.script.values import WRONG, Cell, Collection, Item, Local, Number, Value, Wrong
from subflow_sim.script.vocabulary import COLLECTIONS

_MOST_KEYS = 4
_HOW = "best(subflows, by=lambda s: s.srtt, where=lambda s: s.is_available)"


def best(of: Calls, node: ast.Call) -> Value:
    """Compiles a call of `best`; its value is a subflow, or no subflow, which a script can return like `wait`.

    Keys are compared lexicographically, and the smallest wins; of equal subflows, the first in the list wins.
    """
    problems, emitter = of.problems, of.emitter
    given = {each.arg: each.value for each in node.keywords}
    if len(node.args) != 1 or not {"by"} <= given.keys() <= {"by", "where"}:
        problems.add(node, "best has a list, `by` and perhaps `where`", _HOW)
        return WRONG
    collection = of.value(node.args[0])
    if not isinstance(collection, Collection):
        if not isinstance(collection, Wrong):
            problems.add(node.args[0], "best chooses among subflows or siblings", _HOW)
        return WRONG
    by, where = _body(of, given["by"]), _body(of, given["where"]) if "where" in given else None
    if by is None or ("where" in given and where is None):
        return WRONG
    keys = list(by[1].elts) if isinstance(by[1], ast.Tuple) else [by[1]]
    if not 1 <= len(keys) <= _MOST_KEYS:
        problems.add(given["by"], f"1 to {_MOST_KEYS} numbers decide", "")
        return WRONG

    # A script may name the result and use it in later statements, so the cells last until the end of the function.
    found = emitter.local()
    least = [emitter.local() for _ in keys]
    emitter.emit("Move", found, emitter.constant(-1.0))
    kind = COLLECTIONS[collection.kind]
    with of.loop(ast.Name(id="", lineno=node.lineno, col_offset=node.col_offset), node.args[0]) as is_usable:
        if not is_usable:
            return WRONG
        item = of.scope.names[""].value
        assert isinstance(item, Item)
        skip, wins = Label(), Label()
        if where is not None:
            with _named(of, where[0], item):
                of.jump_unless(where[1], skip)
        with _named(of, by[0], item):
            values = [of.number(each) for each in keys]
        if any(isinstance(each, Wrong) for each in values):
            emitter.place(skip)
            emitter.place(wins)
            return WRONG
        numbers = [each for each in values if isinstance(each, Number)]
        _compare(of, found, least, numbers, wins, skip)
        emitter.place(wins)
        emitter.emit("ItemNumber", found, of.loop_of(item))
        for cell, number in zip(least, numbers, strict=True):
            emitter.emit("Move", cell, number.cell)
        emitter.place(skip)
    return Item(kind, found)


def _compare(of: Calls, found: Cell, least: list[Cell], numbers: list[Number], wins: Label, skip: Label) -> None:
    """Emits jumps: to `wins` if no subflow was found yet or the current one precedes it, otherwise to `skip`."""
    emitter = of.emitter
    is_second = Label()
    emitter.emit("JumpUnlessEqual", 0, found, emitter.constant(-1.0), is_second)
    emitter.emit("Jump", value=wins)
    emitter.place(is_second)
    for position, (cell, number) in enumerate(zip(least, numbers, strict=True)):
        not_less = Label()
        emitter.emit("JumpUnlessLess", 0, number.cell, cell, not_less)
        emitter.emit("Jump", value=wins)
        emitter.place(not_less)
        if position < len(numbers) - 1:
            emitter.emit("JumpUnlessEqual", 0, number.cell, cell, skip)
    emitter.emit("Jump", value=skip)


def _body(of: Calls, node: ast.expr) -> tuple[str, ast.expr] | None:
    """The parameter and body of `lambda s: ...`; None after reporting other expressions."""
    arguments = node.args if isinstance(node, ast.Lambda) else None
    if arguments is None or len(arguments.args) != 1 or arguments.defaults or arguments.kwonlyargs:
        of.problems.add(node, "this is not a lambda of one subflow", "lambda s: s.srtt")
        return None
    assert isinstance(node, ast.Lambda)
    return arguments.args[0].arg, node.body


class _named:  # noqa: N801 # a context manager, named like a function
    """Binds the subflow to a name within the context."""

    def __init__(self, of: Calls, name: str, item: Item) -> None:
        self._of, self._name, self._item = of, name, item

    def __enter__(self) -> None:
        scope = self._of.scope
        self._outer, self._was_certain = scope.names.get(self._name), self._name in scope.certain
        scope.names[self._name] = Local(self._item, 0, is_used=True)
        scope.certain.add(self._name)

    def __exit__(self, *_: object) -> None:
        scope = self._of.scope
        del scope.names[self._name]
        if self._outer is not None:
            scope.names[self._name] = self._outer
        if not self._was_certain:
            scope.certain.discard(self._name)
