"""Definitions of all modules, independent of their files: a commit that joins files changes no definition."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tools.same_code.names import module_of

# Name of a module or file within a text.
_PLACE = re.compile(r"\bsubflow_\w+(?:[./]\w+)+")


@dataclass(frozen=True, slots=True)
class Definition:
    """A statement of a module that is neither an import nor its docstring.

    Attributes:
        name: the defined name, or the kind of the statement.
        tree: syntax tree as text, with the original names of imported things.
    """

    name: str
    tree: str


def definitions(sources: Mapping[str, bytes]) -> Counter[Definition]:
    """Definitions of modules, given by path."""
    modules = {module_of(path) for path in sources}
    found: Counter[Definition] = Counter()
    for path, content in sources.items():
        tree = ast.parse(content)
        named = _Plain(tree, modules)
        body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
        for statement in body:
            if isinstance(statement, ast.Import | ast.ImportFrom) or _is_for_types(statement):
                continue
            name = _name(statement)
            if name == "__all__":
                continue
            plain = ast.dump(named.visit(statement))
            # A path derived from `__file__` depends on the depth of the file.
            depth = f" at depth {path.count('/')}" if "'__file__'" in plain else ""
            found[Definition(name, plain + depth)] += 1
    return found


def compare(old: Counter[Definition], new: Counter[Definition]) -> list[str]:
    """A line for each definition that only one revision contains; a renamed definition is one line."""
    gone, come = list((old - new).elements()), list((new - old).elements())
    lines = []
    for before in sorted(gone, key=lambda one: one.name):
        after = next((each for each in come if _nameless(each) == _nameless(before)), None)
        if after is not None:
            lines.append(f"renamed: {before.name} to {after.name}")
            gone.remove(before)
            come.remove(after)
    names = Counter(one.name for one in gone), Counter(one.name for one in come)
    lines += [f"differs: {name}" for name in sorted((names[0] & names[1]).elements())]
    lines += [f"only before: {name}" for name in sorted((names[0] - names[1]).elements())]
    return lines + [f"only after: {name}" for name in sorted((names[1] - names[0]).elements())]


def _nameless(one: Definition) -> str:
    tree = one.tree
    for name in one.name.split(", "):
        tree = tree.replace(f"'{name}'", "…")
    return tree


def _is_for_types(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test)


def _name(statement: ast.stmt) -> str:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return statement.name
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    parts = [each for target in targets if target is not None for each in ast.walk(target)]
    names = [each.id for each in parts if isinstance(each, ast.Name)]
    return ", ".join(names) or type(statement).__name__


class _Plain(ast.NodeTransformer):
    """Removes imports, and replaces imported names by the original names."""

    def __init__(self, tree: ast.Module, modules: set[str]) -> None:
        self._modules: set[str] = set()
        self._names: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("subflow_"):
                for alias in node.names:
                    if f"{node.module}.{alias.name}" in modules:
                        self._modules.add(alias.asname or alias.name)
                    elif alias.asname:
                        self._names[alias.asname] = alias.name

    def visit_Import(self, _node: ast.Import) -> None:
        """Removes the import."""

    def visit_ImportFrom(self, _node: ast.ImportFrom) -> None:
        """Removes the import."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id in self._modules:
            return ast.Name(node.attr, node.ctx)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._names.get(node.id, node.id), node.ctx)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        value: Any = node.value
        return ast.Constant(_PLACE.sub("…", value)) if isinstance(value, str) else node
