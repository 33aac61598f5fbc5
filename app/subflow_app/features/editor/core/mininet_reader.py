"""Reads the topology of a Mininet script from its syntax tree. Nothing of a script is run.

Calls of addHost, addSwitch, addNode and addLink are read with their literal arguments, and with names that were
assigned a literal or a node before. The lines of other calls are named: they may depend on loops or on arguments.

Source: mininet.topo.Topo, mininet.link.TCLink and mininet.link.TCIntf (Mininet 2.3).
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Mapping
from typing import Any

from subflow_app.features.editor.core.graph_files import GraphFileError, RawEdge, RawGraph, RawNode, Value, check_count
from subflow_app.foundation.toml_edit import render_text
from subflow_sim.errors import ParamError
from subflow_sim.link_params import JITTER_TABLE
from subflow_sim.units import Dimension, format_quantity, parse_quantity

_ALLOWED = "a Python script that calls addHost, addSwitch and addLink with literal arguments"
_NODE_CALLS = {"addHost": "host", "addNode": "host", "addSwitch": "router", "addRouter": "router", "addStation": "host"}
_IGNORED_CALLS = ("addController", "addNAT")
_LINK_OPTIONS = ("bw", "delay", "jitter", "loss", "max_queue_size")
_MAX_RATE_MBPS = 1000
_QUEUE_PACKETS = 1000
"""Length of the queue if a script gives none: htb takes that of the interface, and netem has its own default."""
_MOST_NOTES = 50

_IMPORT = re.compile(r"^\s*(?:from|import)\s+(?:mininet|containernet|mn_wifi)\b", re.MULTILINE)
_TIME = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(ms|us|s|)\w*\Z")


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
                    if keyword.arg in (*_LINK_OPTIONS, "params1", "params2"):
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
            sides.append({**table, **{name: options[name] for name in _LINK_OPTIONS if name in options}})
        forward, reverse = (self._direction(side, call.lineno) for side in sides)
        values: dict[str, Value] = dict(forward[0])
        values |= {f"reverse_{key}": value for key, value in reverse[0].items() if forward[0].get(key) != value}
        tables = dict(forward[1])
        if forward[1] != reverse[1]:
            none = {"jitter": '{ spread = "0s" }'}
            tables |= {f"reverse_{key}": text for key, text in (none | reverse[1]).items()}
        self.graph.edges.append(RawEdge(ends[0], ends[1], call.lineno, values, tables=tables))
        check_count(self.graph, call.lineno)

    def _direction(self, options: Mapping[str, Any], line: int) -> tuple[dict[str, str], dict[str, str]]:
        """Values and tables of a direction for a scenario."""
        rate = options.get("bw")
        if isinstance(rate, (int, float)) and rate > _MAX_RATE_MBPS:
            self._note(line, f"bw = {rate:g}, because Mininet ignores more than {_MAX_RATE_MBPS}")
            rate = None
        values = {
            "rate": "unlimited" if rate is None else self._quantity(line, "bw", rate, 1e6, Dimension.RATE),
            "delay": self._time(line, "delay", options.get("delay", 0)),
            "loss": self._quantity(line, "loss", options.get("loss") or 0, 0.01, Dimension.RATIO),
        }
        if rate is not None:
            packets = options.get("max_queue_size") or _QUEUE_PACKETS
            values["queue"] = f"{self._quantity(line, 'max_queue_size', packets, 1, Dimension.COUNT)}pkt"
        tables = {}
        if options.get("jitter"):
            spread = self._time(line, "jitter", options["jitter"])
            for param in JITTER_TABLE:
                if param.key == "spread":
                    try:
                        param.read(spread)
                    except ParamError as error:
                        raise GraphFileError(
                            self.graph.file, line, f"jitter: {error.message}", error.allowed
                        ) from error
            tables["jitter"] = f'{{ distribution = "normal", spread = {render_text(spread)} }}'
        return values, tables

    def _quantity(self, line: int, key: str, value: Any, factor: float, dimension: Dimension) -> str:
        """A number of a link as text for a scenario."""
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
            raise GraphFileError(self.graph.file, line, f"{key} = {str(value)[:40]}", "a number of at least 0")
        if dimension is Dimension.COUNT:
            return str(int(value))
        if dimension is Dimension.RATIO:
            return f"{value!r}%" if isinstance(value, int) else format_quantity(round(value * factor, 15), dimension)
        return format_quantity(round(value * factor, 3), dimension)

    def _time(self, line: int, key: str, value: Any) -> str:
        """A time: text with a unit, as in Mininet; netem takes a number without unit as microseconds."""
        match = _TIME.match(str(value).strip()) if isinstance(value, (str, int, float)) else None
        if match is None or isinstance(value, bool) or len(str(value)) > 40:
            raise GraphFileError(self.graph.file, line, f"{key} = {str(value)[:40]}", 'a time like "20ms"')
        return format_quantity(parse_quantity(f"{match[1]}{match[2] or 'us'}", Dimension.TIME), Dimension.TIME)


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
