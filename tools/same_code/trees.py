"""Compare Python files by their syntax trees without imports, and their imports as sets."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

from tools.same_code.names import Names, module_of
from tools.same_code.texts import shown

_IGNORED = {"ctx", "kind", "type_comment", "type_ignores"}
# Import that appears and disappears with imports for type checkers.
_FREE_IMPORTS = {"typing.TYPE_CHECKING"}

Bound = dict[str, set[str]]


@dataclass(frozen=True)
class Source:
    """A Python file of one revision.

    Attributes:
        path: path of the file.
        tree: its syntax tree.
        bound: imported things by their local names.
        imported: all imported things.
        places: paths by the names of variables, derived from `__file__`.
        other_lines: its lines, without imports.
    """

    path: str
    tree: ast.Module
    bound: Bound
    imported: set[str]
    places: dict[str, str]
    other_lines: list[bytes]


def parse(path: str, content: bytes) -> Source:
    """Parses a file."""
    tree = ast.parse(content, path)
    bound: Bound = {}
    imported: set[str] = set()
    package = module_of(path) if path.endswith("/__init__.py") else module_of(path).rpartition(".")[0]
    lines: list[bytes | None] = list(content.splitlines())
    for node in _statements(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for name, thing, is_whole in _imports(node, package):
            bound.setdefault(name, set()).add(thing if is_whole else name)
            imported.add(thing)
        for number in range(node.lineno - 1, node.end_lineno or node.lineno):
            if b";" not in (lines[number] or b";"):
                lines[number] = None
    places = _places(tree, path) if b"__file__" in content else {}
    return Source(path, tree, bound, imported, places, _without_imports(lines))


def _places(tree: ast.Module, path: str) -> dict[str, str]:
    places = {"__file__": path}
    for node in _statements(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            place = _location(node.value, places)
            if place is not None:
                places[node.targets[0].id] = place
    return places


def _without_imports(lines: list[bytes | None]) -> list[bytes]:
    """Lines without imports (None) and without blank lines beside imports; other blank lines may belong to a text."""
    kept: list[bytes] = []
    for is_empty, run in groupby(lines, key=lambda line: not line):
        together = list(run)
        if not is_empty or None not in together:
            kept += [line for line in together if line is not None]
    return kept


def _imports(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, str, bool]]:
    """Each imported thing: its local name, its full name, and True if the local name stands for the full name."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0], alias.name, alias.asname is not None
        return
    module = node.module or ""
    if node.level:
        above = package.split(".")[: len(package.split(".")) - node.level + 1]
        module = ".".join([*above, *([module] if module else [])])
    for alias in node.names:
        yield alias.asname or alias.name, f"{module}.{alias.name}", True


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child
            yield from _statements(child)


def is_docstring_only(content: bytes) -> bool:
    """True if a Python file contains only a docstring or nothing."""
    body = ast.parse(content).body
    return not body or (len(body) == 1 and is_docstring(body[0]))


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def compare(old: Source, new: Source, names: Names) -> tuple[list[str], bool]:
    """Compares two files; returns the first different node, if any, and True if names had to be mapped."""
    comparison = _Comparison(old, new, names)
    found = comparison.differences_of_imports()
    if not found and comparison.is_same_at_a_glance():
        return [], False
    first = comparison.compare(old.tree, new.tree)
    return [*found, *([first] if first else [])], comparison.has_mapped


@dataclass
class _Comparison:
    old: Source
    new: Source
    names: Names
    has_mapped: bool = False
    lines: list[int] = field(default_factory=lambda: [1, 1])

    def differences_of_imports(self) -> list[str]:
        """Imports that were removed, added, or refer to another place."""
        was, now = self.old.imported - _FREE_IMPORTS, self.new.imported - _FREE_IMPORTS
        mapped = {thing: self.names.modules(thing) for thing in was}
        lost = sorted(thing for thing, places in mapped.items() if not places & now)
        came = sorted(now - set[str]().union(*mapped.values()))
        return [f"import lost: {thing}" for thing in lost] + [f"import came: {thing}" for thing in came]

    def is_same_at_a_glance(self) -> bool:
        """True if the lines without imports are equal, and imported names refer to the same things."""
        if self.old.other_lines != self.new.other_lines or self.old.bound.keys() != self.new.bound.keys():
            return False
        if self.old.path != self.new.path and (self.old.places or self.new.places):
            return False
        return all(self._are_same_things(things, self.new.bound[name]) for name, things in self.old.bound.items())

    def compare(self, old: object, new: object) -> str | None:
        """First difference of two nodes, lists or values."""
        if isinstance(old, ast.AST) and isinstance(new, ast.AST):
            return self._compare_nodes(old, new)
        if isinstance(old, list) and isinstance(new, list):
            return self._compare_lists(old, new)
        return None if type(old) is type(new) and old == new else self._difference(old, new)

    def _compare_lists(self, old: list[ast.AST], new: list[ast.AST]) -> str | None:
        was = [node for node in old if not _is_dropped(node)]
        now = [node for node in new if not _is_dropped(node)]
        for a, b in zip(was, now, strict=False):
            found = self.compare(a, b)
            if found:
                return found
        if len(was) == len(now):
            return None
        rest = min(len(was), len(now))
        return self._difference(*(nodes[rest] if len(nodes) > rest else None for nodes in (was, now)))

    def _compare_nodes(self, old: ast.AST, new: ast.AST) -> str | None:
        self.lines = [getattr(old, "lineno", self.lines[0]), getattr(new, "lineno", self.lines[1])]
        if isinstance(old, ast.Constant) and isinstance(new, ast.Constant):
            return None if self._are_same_constants(old.value, new.value) else self._difference(old, new)
        if isinstance(old, ast.Name) and isinstance(new, ast.Name):
            return None if self._are_same_names(old, new) else self._difference(old, new)
        if self.old.places and self.new.places:
            was, now = _location(old, self.old.places), _location(new, self.new.places)
            if was is not None and now is not None:
                if not self.names.is_same_place(was, now):
                    return f"{self._difference(old, new)} ({was or '.'} became {now or '.'})"
                return None
        if isinstance(old, ast.BinOp) and isinstance(new, ast.BinOp):
            joined = self._compare_joined(old, new)
            if joined:
                return None
        if isinstance(old, ast.Attribute | ast.Name) and isinstance(new, ast.Attribute | ast.Name):
            if isinstance(old, ast.Attribute) and isinstance(new, ast.Attribute) and old.attr == new.attr:
                kept, lines = self.has_mapped, list(self.lines)
                if self.compare(old.value, new.value) is None:
                    return None
                self.has_mapped, self.lines = kept, lines
            return None if self._are_same_chains(old, new) else self._difference(old, new)
        if type(old) is not type(new):
            return self._difference(old, new)
        for name in old._fields:
            if name not in _IGNORED:
                found = self.compare(getattr(old, name, None), getattr(new, name, None))
                if found:
                    return found
        return None

    def _are_same_constants(self, old: object, new: object) -> bool:
        if type(old) is not type(new):
            return False
        if not isinstance(old, str) or not isinstance(new, str) or old == new:
            return repr(old) == repr(new)  # distinguishes 0.0 from -0.0
        return self._are_same_texts(old, new)

    def _are_same_texts(self, old: str, new: str) -> bool:
        if old == new:
            return True
        is_same = self.names.are_same_texts(old, new, self.old.path, self.new.path)
        self.has_mapped |= is_same
        return is_same

    def _are_same_names(self, old: ast.Name, new: ast.Name) -> bool:
        if old.id not in self.old.bound and new.id not in self.new.bound:
            return old.id == new.id
        return self._are_same_chains(old, new)

    def _are_same_chains(self, old: ast.AST, new: ast.AST) -> bool:
        """True if two dotted names refer to the same imported thing, independent of local names."""
        was, now = _things(old, self.old.bound), _things(new, self.new.bound)
        return bool(was and now) and self._are_same_things(was, now)

    def _are_same_things(self, was: set[str], now: set[str]) -> bool:
        mapped = [self.names.modules(thing) for thing in was]
        return all(places & now for places in mapped) and now <= set[str]().union(*mapped)

    def _compare_joined(self, old: ast.BinOp, new: ast.BinOp) -> bool:
        """True if two paths joined from texts are equal, independent of the number of texts."""
        (was, was_text), (now, now_text) = _joined(old), _joined(new)
        if not was_text or not now_text or was_text == now_text:
            return False
        return self.names.are_same_texts(was_text, now_text, "", "") and self.compare(was, now) is None

    def _difference(self, old: object, new: object) -> str:
        return f"line {self.lines[0]}, now {self.lines[1]}: {_shown(old)} became {_shown(new)}"


def _shown(node: object) -> str:
    if node is None:
        return "nothing"
    text = ast.unparse(node) if isinstance(node, ast.AST) else repr(node)
    return shown(" ".join(text.split()))


def _is_dropped(node: object) -> bool:
    """True for imports, and for a block for type checkers that contains only imports."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if not isinstance(node, ast.If):
        return False
    test = node.test
    name = test.id if isinstance(test, ast.Name) else test.attr if isinstance(test, ast.Attribute) else ""
    return name == "TYPE_CHECKING" and all(map(_is_dropped, [*node.body, *node.orelse]))


def _things(node: ast.AST, bound: Bound) -> set[str]:
    """Imported things that a dotted name may refer to; empty if it does not begin with an imported name."""
    rest = ""
    while isinstance(node, ast.Attribute):
        rest, node = f".{node.attr}{rest}", node.value
    return {thing + rest for thing in bound.get(node.id, ())} if isinstance(node, ast.Name) else set()


def _joined(node: ast.expr) -> tuple[ast.expr, str]:
    """The base of a path expression, and the texts appended to it with slashes."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
        return node, ""
    if not isinstance(node.right, ast.Constant) or not isinstance(node.right.value, str):
        return node, ""
    first, text = _joined(node.left)
    return first, f"{text}/{node.right.value}" if text else node.right.value


def _location(node: ast.AST, places: dict[str, str]) -> str | None:
    """Path from the repository's root that an expression about `__file__` yields; None for other expressions."""
    if isinstance(node, ast.Name):
        return places.get(node.id)
    if isinstance(node, ast.Call):
        called = node.func
        if isinstance(called, ast.Name) and called.id == "Path" and len(node.args) == 1:
            return _location(node.args[0], places)
        if not isinstance(called, ast.Attribute):
            return None
        if called.attr in ("resolve", "absolute") and not node.args:
            return _location(called.value, places)
        place = _location(called.value, places) if called.attr in ("with_name", "joinpath") else None
        texts = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        if place is None or len(texts) != len(node.args):
            return None
        return posixpath.join(posixpath.dirname(place) if called.attr == "with_name" else place, *texts)
    if isinstance(node, ast.Attribute) and node.attr == "parent":
        place = _location(node.value, places)
        return None if place is None else posixpath.dirname(place)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "parents":
        place = _location(node.value.value, places)
        steps = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if place is None or not isinstance(steps, int):
            return None
        for _ in range(steps + 1):
            if not place:
                return None  # above the repository
            place = posixpath.dirname(place)
        return place
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        place = _location(node.left, places)
        right = node.right.value if isinstance(node.right, ast.Constant) else None
        return posixpath.join(place, right) if place is not None and isinstance(right, str) else None
    return None
