"""Layers, features and the imports between them."""

from __future__ import annotations

import ast
import functools
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import networkx
from tests.helpers import import_graph
from tests.helpers.import_graph import ROOT, Graph, When

SHELL, QT, CORE, COMMANDS = "shell", "qt", "core", "cli"
LAYERS = (SHELL, QT, CORE, COMMANDS, "toolkit", "terminal", "foundation", "vocabulary")
PACKAGES = ("subflow_store", "subflow_agents", "subflow_sim")


@dataclass(frozen=True)
class Size:
    """Size of a box.

    Attributes:
        files: number of Python files.
        lines: lines of code, without blank lines, comments and docstrings.
    """

    files: int
    lines: int


@dataclass(frozen=True)
class House:
    """The boxes of the drawing.

    Attributes:
        files: Python files by box: a layer, a package, or a part of a feature (`arena.qt`).
        orders: rows of parts from the top, by `QT` and `CORE`: each part imports only from rows below it.
        arrows: imports between boxes of the same kind, without those that follow from others.
    """

    files: Mapping[str, list[Path]]
    orders: Mapping[str, tuple[tuple[str, ...], ...]]
    arrows: Graph

    def size(self, box: str) -> Size:
        """Size of a box."""
        return Size(len(self.files[box]), sum(map(code_lines, self.files[box])))

    def outline(self) -> list[str]:
        """Boxes and arrows without sizes, a line each."""
        boxes = [f"box {name}" for name in sorted(self.files)]
        rows = [f"row {' '.join(row)}" for kind in (QT, CORE) for row in self.orders[kind]]
        return boxes + rows + [f"arrow {a} {b}" for a in sorted(self.arrows) for b in sorted(self.arrows[a])]


def box_of(module: str) -> tuple[str, str] | None:
    """Layer or package of a module, and its feature there; None for the version and the program's name."""
    package, *rest = module.split(".")
    if package in PACKAGES:
        return package, ""
    if rest[:1] == ["features"]:
        return (rest[2], rest[1]) if len(rest) > 2 else None
    if rest[:1] == ["__main__"]:
        return SHELL, ""
    return (rest[0], "") if rest and rest[0] in LAYERS else None


def read_house() -> House:
    """Reads the house from the imports of this checkout."""
    known = import_graph.modules()
    boxes = {module: box for module in known if (box := box_of(module)) is not None}
    found = [
        (boxes[one.importer], boxes[one.imported])
        for one in import_graph.imports(known)
        if one.when is not When.NEVER and one.importer in boxes and one.imported in boxes
    ]
    arrows = dict(reduced((a[0], b[0]) for a, b in found))
    for kind in (QT, CORE):
        inside = reduced((a[1], b[1]) for a, b in found if a[0] == b[0] == kind)
        arrows |= {f"{a}.{kind}": frozenset(f"{b}.{kind}" for b in targets) for a, targets in inside.items() if targets}
    files: dict[str, list[Path]] = {}
    for module, (layer, feature) in boxes.items():
        for name in {layer, f"{feature}.{layer}" if feature else layer}:
            files.setdefault(name, []).append(known[module])
    return House(files, {kind: _order(kind) for kind in (QT, CORE)}, arrows)


def reduced(pairs: Iterable[tuple[str, str]]) -> Graph:
    """Transitive reduction: removes an arrow if a longer way leads to the same place."""
    graph = networkx.DiGraph((source, target) for source, target in pairs if source != target)
    least = networkx.transitive_reduction(graph)
    return {node: frozenset(least[node]) for node in least if least[node]}


def _order(kind: str) -> tuple[tuple[str, ...], ...]:
    """Rows of a contract in pyproject.toml, which import-linter checks."""
    tree = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    beginning, end = "subflow_app.features.", f".{kind}"
    for contract in tree["tool"]["importlinter"]["contracts"]:
        rows = [row.replace(":", "|").split("|") for row in contract.get("layers", ())]
        if rows and all(one.strip().startswith(beginning) and one.strip().endswith(end) for row in rows for one in row):
            return tuple(tuple(one.strip().removeprefix(beginning).removesuffix(end) for one in row) for row in rows)
    raise LookupError(f"pyproject.toml has no contract with the order of features.*{end}")


@functools.cache
def code_lines(path: Path) -> int:
    """Number of lines that are neither blank nor comment nor docstring."""
    text = path.read_text(encoding="utf-8")
    stripped = map(str.strip, text.splitlines())
    lines = {number for number, line in enumerate(stripped, start=1) if line and not line.startswith("#")}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)
