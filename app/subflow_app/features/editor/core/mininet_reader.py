"""Reads the topology of a Mininet script from its syntax tree. Nothing of a script is run.

Calls of addHost, addSwitch, addNode and addLink are read with their literal arguments, and with names that were
assigned a literal or a node before. The lines of other calls are named: they may depend on loops or on arguments.

Source: mininet.topo.Topo (Mininet 2.3).
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

from subflow_app.features.editor.core.graph_files import GraphFileError, RawEdge, RawGraph, RawNode, Value, check_count
from subflow_app.features.editor.core.mininet_link import LINK_OPTIONS, link_direction

_ALLOWED = "a Python script that calls addHost, addSwitch and addLink with literal arguments"
_NODE_CALLS = {"addHost": "host", "addNode": "host", "addSwitch": "router", "addRouter": "router", "addStation": "host"}
_IGNORED_CALLS = ("addController", "addNAT")
_MOST_NOTES = 50

_IMPORT = re.compile(r"^\s*(?:from|import)\s+(?:mininet|containernet|mn_wifi)\b", re.MULTILINE)


def looks_like_mininet(head: str) -> bool:
    """True if a text with this beginning, in lower case, is a Mininet script."""
    return _IMPORT.search(head) is not None or (".addlink(" in head and ".addhost(" in head)


def read_mininet(content: bytes, file: str) -> RawGraph:
    """Read the nodes and links of a script.

    Raises:
        GraphFileError: if the content is not Python, or a literal value is impossible.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a script may have escapes that Python warns about
            tree = ast.parse(content)
    except SyntaxError as error:
        raise GraphFileError(file, error.lineno, f"broken Python: {error.msg}", _ALLOWED) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise GraphFileError(file, None, f"broken Python: {error}", _ALLOWED) from error
    reader = _Reader(file)
    try:
        reader.take_block(tree.body, "")
    except RecursionError as error:
        raise GraphFileError(file, None, "is nested too deep", _ALLOWED) from error
    return reader.graph


class _UnknownError(ValueError):
    """An expression without a literal value."""


class _Node(str):
    """Name of a node, as the value of an expression."""

    __slots__ = ()


class _Reader:
    def __init__(self, file: str) -> None:
        self.graph = RawGraph(file, "Mininet")
        self._values: dict[str, Any] = {}
        self._nodes: set[str] = set()

    def take_block(self, body: list[ast.stmt], inside: str) -> None:
        """Read statements in the order of the file.

        Args:
            body: the statements.
            inside: "a loop" or "a condition", if the statements are in one; otherwise empty.
        """
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                if isinstance(statement, ast.FunctionDef):
                    self._take_defaults(statement.args)
                self.take_block(statement.body, inside)
            elif isinstance(statement, (ast.For, ast.While)):
                self.take_block(statement.body, "a loop")
            elif isinstance(statement, ast.If):
                self.take_block(statement.body, inside or ("" if _is_main(statement.test) else "a condition"))
                self.take_block(statement.orelse, inside or "a condition")
            elif isinstance(statement, (ast.With, ast.Try)):
                self.take_block(statement.body, inside)
            elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                self._assign(statement.targets[0], statement.value, inside)
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                self._assign(statement.target, statement.value, inside)
            else:
                self._take_calls(statement, inside)

    def _take_defaults(self, arguments: ast.arguments) -> None:
        """Default values of parameters, which hold unless a caller gives others."""
        names = [*arguments.posonlyargs, *arguments.args]
        for name, default in zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True):
            self._assign(ast.Name(name.arg), default, "")

    def _assign(self, target: ast.expr, value: ast.expr, inside: str) -> None:
        key = _key(target)
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, other in zip(target.elts, value.elts, strict=True):
                self._assign(one, other, inside)
            return
        try:
            made = self._value(value, inside)
        except _UnknownError:
            made = None
            self._take_calls(value, inside)
        if key is not None:
            self._values.pop(key, None)
            if made is not None:
                self._values[key] = made

    def _take_calls(self, tree: ast.AST, inside: str) -> None:
        for found in ast.walk(tree):
            if isinstance(found, ast.Call):
                self._call(found, inside)

    def _value(self, tree: ast.expr, inside: str) -> Any:
        """Value of an expression that is a literal, a known name, dict(...), or a call that adds a node."""
        key = _key(tree)
        if key is not None:
            if key not in self._values:
                raise _UnknownError(key)
            return self._values[key]
        if isinstance(tree, ast.Call):
            if isinstance(tree.func, ast.Name) and tree.func.id == "dict" and not tree.args:
                return self._keywords(tree)
            added = self._call(tree, inside)
            if added is None:
                raise _UnknownError(ast.unparse(tree)[:60])
            return added
        if isinstance(tree, ast.Dict):
            names = [self._value(each, inside) if each is not None else None for each in tree.keys]
            if not all(isinstance(name, str) for name in names):
                raise _UnknownError("a table")
            return {str(name): self._value(each, inside) for name, each in zip(names, tree.values, strict=True)}
        if isinstance(tree, ast.JoinedStr):
            raise _UnknownError(ast.unparse(tree)[:60])
        try:
            return ast.literal_eval(tree)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
            raise _UnknownError(ast.unparse(tree)[:60]) from error

    def _keywords(self, call: ast.Call) -> dict[str, Any]:
        """Values of the arguments with names, including those of tables behind **."""
        found: dict[str, Any] = {}
        for keyword in call.keywords:
            if keyword.arg is None:
                table = self._value(keyword.value, "")
                if not isinstance(table, dict):
                    raise _UnknownError("** without a table")
                found |= table
            elif keyword.arg in ("cls", "cls1", "cls2", "link", "intf"):
                found[keyword.arg] = ast.unparse(keyword.value)[:60]
            else:
                try:
                    found[keyword.arg] = self._value(keyword.value, "")
                except _UnknownError:
                    if keyword.arg in (*LINK_OPTIONS, "params1", "params2"):
                        raise
        return found

    # ---- calls ----

    def _call(self, call: ast.Call, inside: str) -> _Node | None:
        """Read a call; return the name of the node that it adds."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if name in _NODE_CALLS or name == "addLink":
            if inside:
                self._note(call.lineno, f"{name} appears in {inside}")
                return None
            try:
                if name in _NODE_CALLS:
                    return self._add_node(call, name)
                self._add_link(call)
            except _UnknownError as error:
                self._note(call.lineno, f"{name} has an argument without a literal value: {error}")
        elif name in _IGNORED_CALLS:
            self._note(call.lineno, f"{name} has no counterpart in a scenario")
        return None

    def _note(self, line: int, text: str) -> None:
        note = f"Line {line} is not read: {text}."
        if len(self.graph.notes) < _MOST_NOTES and note not in self.graph.notes:
            self.graph.notes.append(note)

    def _add_node(self, call: ast.Call, method: str) -> _Node:
        options = self._keywords(call)
        given = self._value(call.args[0], "") if call.args else options.get("name")
        if not isinstance(given, str):
            raise _UnknownError("the name of the node")
        node = _Node(given)
        if node not in self._nodes:
            kind = "router" if "router" in str(options.get("cls", "")).lower() else _NODE_CALLS[method]
            self.graph.nodes.append(RawNode(node, call.lineno, {"kind": kind}))
            self._nodes.add(node)
            check_count(self.graph, call.lineno)
        return node

    def _add_link(self, call: ast.Call) -> None:
        options = self._keywords(call)
        ends = [self._value(each, "") for each in call.args[:2]]
        ends += [options[key] for key in ("node1", "node2")[len(ends) :] if key in options]
        if len(ends) != 2 or not all(isinstance(end, str) for end in ends):
            raise _UnknownError("the two nodes")
        for end in ends:
            if end not in self._nodes:
                raise _UnknownError(f'node "{end}", which no line before adds')
        sides = []
        for key in ("params1", "params2"):
            table = options.get(key) or {}
            if not isinstance(table, dict):
                raise _UnknownError(key)
            sides.append({**table, **{name: options[name] for name in LINK_OPTIONS if name in options}})
        forward, reverse = (link_direction(side, self.graph.file, call.lineno) for side in sides)
        for note in (*forward.notes, *reverse.notes):
            self._note(call.lineno, note)
        values: dict[str, Value] = {**forward.values}
        values |= {f"reverse_{key}": value for key, value in reverse.values.items() if forward.values.get(key) != value}
        tables = dict(forward.tables)
        if forward.tables != reverse.tables:
            none = {"jitter": '{ spread = "0s" }'}
            tables |= {f"reverse_{key}": text for key, text in {**none, **reverse.tables}.items()}
        self.graph.edges.append(RawEdge(ends[0], ends[1], call.lineno, values, tables=tables))
        check_count(self.graph, call.lineno)


def _key(tree: ast.expr) -> str | None:
    """Text of a plain name, or of an attribute of one: "h1", "self.h1"."""
    if isinstance(tree, ast.Name):
        return tree.id
    if isinstance(tree, ast.Attribute) and isinstance(tree.value, ast.Name):
        return f"{tree.value.id}.{tree.attr}"
    return None


def _is_main(test: ast.expr) -> bool:
    """True for the condition __name__ == "__main__"."""
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
