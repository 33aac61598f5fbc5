"""The imports between modules of the packages, including those inside functions and those only for types.

``python -m tests.helpers.import_graph`` prints the cycles and the number of imports inside functions.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {
    "subflow_sim": ROOT / "sim/subflow_sim",
    "subflow_agents": ROOT / "agents/subflow_agents",
    "subflow_store": ROOT / "app/subflow_store",
    "subflow_app": ROOT / "app/subflow_app",
}

# Packages divided into rooms, with the number of words in the name of a room; other packages have two.
HOUSES = {
    "subflow_app.foundation": 3,
    "subflow_app.toolkit": 3,
    "subflow_app.features": 4,
}

Graph = Mapping[str, frozenset[str]]


class When(Enum):
    """Time at which an import happens."""

    AT_ONCE = auto()
    LATE = auto()  # inside a function
    NEVER = auto()  # only for types


@dataclass(frozen=True)
class Import:
    """An import of one of our modules by another.

    Attributes:
        importer: the module with the statement.
        imported: the module that the statement names, or that defines the imported name.
        line: line of the statement.
        when: the time of the import.
    """

    importer: str
    imported: str
    line: int
    when: When


def modules() -> dict[str, Path]:
    """Every module of ours with its file, packages included; the compiled core has its stub."""
    found = {}
    for package, folder in SOURCES.items():
        for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.pyi")]):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join([package, *(part for part in parts if part != "__init__")])] = path
    return found


def imports(known: Mapping[str, Path]) -> list[Import]:
    """Every import between these modules."""
    return [one for module, path in known.items() for one in _imports_of(module, path, known)]


def _imports_of(module: str, path: Path, known: Mapping[str, Path]) -> Iterator[Import]:
    for statement, when in statements(path):
        if isinstance(statement, ast.Import):
            named = {alias.name for alias in statement.names}
        else:
            assert statement.module is not None  # ruff allows no relative imports
            # A name is a module of the package, or an attribute of the package itself.
            inside = [f"{statement.module}.{alias.name}" for alias in statement.names]
            named = {name if name in known else statement.module for name in inside}
        yield from (Import(module, name, statement.lineno, when) for name in sorted(named & known.keys()))


@functools.cache
def statements(path: Path) -> tuple[tuple[ast.Import | ast.ImportFrom, When], ...]:
    """The import statements of a source, each with its time."""
    return tuple(_statements(ast.parse(path.read_text(encoding="utf-8")), When.AT_ONCE))


def _statements(node: ast.AST, when: When) -> Iterator[tuple[ast.Import | ast.ImportFrom, When]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue  # this branch imports nothing
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, when
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from _statements(ast.Module(child.body, []), When.NEVER)
            yield from _statements(ast.Module(child.orelse, []), when)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and when is When.AT_ONCE:
            yield from _statements(child, When.LATE)
        else:
            yield from _statements(child, when)


def room_of(module: str) -> str:
    """The room of a module: the core, Qt part or commands of a feature; for other packages see `HOUSES`."""
    parts = module.split(".")
    return ".".join(parts[: HOUSES.get(".".join(parts[:2]), 2)])


def between_modules(found: Iterable[Import]) -> Graph:
    """The imports of each module, including those only for types."""
    return _graph((one.importer, one.imported) for one in found)


def between_rooms(found: Iterable[Import]) -> Graph:
    """The rooms that each room imports from, including imports only for types."""
    return _graph((room_of(one.importer), room_of(one.imported)) for one in found)


def _graph(pairs: Iterable[tuple[str, str]]) -> Graph:
    edges: dict[str, set[str]] = {}
    for source, target in pairs:
        edges.setdefault(source, set())
        edges.setdefault(target, set())
        if source != target:
            edges[source].add(target)
    return {node: frozenset(targets) for node, targets in edges.items()}


def circles(graph: Graph) -> list[list[str]]:
    """The strongly connected components of more than one node, the largest first.

    Source: Tarjan 1972, Depth-first search and linear graph algorithms.
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(graph[node]):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found, key=lambda circle: (-len(circle), circle))


def needless(known: Mapping[str, Path], found: Iterable[Import]) -> list[str]:
    """Imports inside functions that save nothing: loading the importing module loads the imported one already.

    A package that loads its names on demand is not loaded with itself.
    """
    found = list(found)
    at_once = _graph((one.importer, one.imported) for one in found if one.when is When.AT_ONCE)
    asks = {name for name, path in known.items() if "def __getattr__(" in path.read_text(encoding="utf-8")}
    loaded: dict[str, set[str]] = {}

    def loads(module: str) -> set[str]:
        if module not in loaded:
            loaded[module] = set()
            for one in at_once.get(module, ()):
                loaded[module] |= {one, *loads(one)}
        return loaded[module]

    return [
        f"{one.importer}:{one.line} {one.imported}"
        for one in found
        if one.when is When.LATE and one.imported not in asks and one.imported in loads(one.importer)
    ]


def late_imports(known: Mapping[str, Path]) -> int:
    """The number of import statements inside functions, including imports of third-party packages."""
    return sum(when is When.LATE for path in known.values() for _, when in statements(path))


def report() -> str:
    """The circles between rooms and between modules, and the number of late imports."""
    known = modules()
    found = imports(known)
    lines = []
    for title, graph in (("rooms", between_rooms(found)), ("modules", between_modules(found))):
        knots = circles(graph)
        lines.append(f"{len(graph)} {title}, {len(knots)} circles")
        lines += [f"  {len(knot)}: {', '.join(name.removeprefix('subflow_app.') for name in knot)}" for knot in knots]
    late = sum(one.when is When.LATE for one in found)
    return "\n".join([*lines, f"{late_imports(known)} imports wait in functions, {late} of them of modules of ours"])


if __name__ == "__main__":
    sys.stdout.write(f"{report()}\n")
