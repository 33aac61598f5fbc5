"""Rules of the code that no other tool checks."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

from tests.helpers import import_graph
from tests.helpers.members import for_each

from subflow_app.distribution import DISTRIBUTION, install_command

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SOURCE_FOLDERS = ("sim", "agents", "app", "packaging", "tests")
SOURCES = sorted(
    path
    for path in [ROOT / "dev.py", *(path for folder in SOURCE_FOLDERS for path in (ROOT / folder).rglob("*"))]
    if path.suffix in (".py", ".pyi", ".h", ".cpp") and path.name != "_core.pyi"  # a generated file
)

# Packages whose name differs from the imported name. shiboken6 comes with PySide6, in the matching version.
DISTRIBUTION_OF = {
    "PySide6": "PySide6-Essentials",
    "PySide6QtAds": "PySide6-QtAds",
    "shiboken6": "PySide6-Essentials",
    "yaml": "PyYAML",
}

MOST_WINDOWS = 30
"""Places of all tests that make a main window; a place with parameters makes several."""

MOST_PRIVATE_NAMES = 112
"""Places of tests that use private names of other modules, without the tests of a feature's window."""

# Public in spite of the underscore: the methods of named tuples, and the call that ends a process.
PUBLIC_NAMES = {"_asdict", "_exit", "_fields", "_make", "_replace"}


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_nothing_is_left_for_later() -> None:
    left_for_later = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
    found = [
        f"{_name(path)}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if left_for_later.search(line)
    ]
    assert found == []


def _folders_with_a_readme() -> list[str]:
    top = ["agents", "app", "assets", "packaging", "sim", "tests"]
    parts = ["sim/core", "sim/bindings", "sim/bench"]
    packages = [
        _name(path.parent) for folder in ("sim", "agents", "app") for path in (ROOT / folder).rglob("__init__.py")
    ]
    features = [name for name in packages if name.startswith("app/subflow_app/features/") and name.count("/") == 3]
    # Docstrings of packages explain the folders below.
    return sorted({*top, *parts, *features, *(name for name in packages if name.count("/") <= 2)})


@for_each("folder", _folders_with_a_readme())
def test_a_folder_says_what_it_is_what_it_may_import_and_where_to_start(folder: str) -> None:
    readme = ROOT / folder / "README.md"
    assert readme.exists()
    assert len([line for line in readme.read_text(encoding="utf-8").splitlines() if line.strip()]) >= 3


def test_the_packages_import_what_they_declare_and_declare_what_they_import() -> None:
    own = {"subflow_sim", "subflow_agents", "subflow_store", "subflow_app"}
    imported = set()
    for path in SOURCES:
        if path.suffix != ".py" or not _name(path).startswith(("sim/subflow_sim/", "agents/", "app/")):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                imported.add(node.module.partition(".")[0])
    from_others = imported - own - set(sys.stdlib_module_names)
    declared = {re.split(r"[<>=]", requirement)[0] for requirement in PROJECT["dependencies"]}
    extras = ("envs", "train", "cluster", "pcap")
    optional = {one.partition("==")[0] for extra in extras for one in PROJECT["optional-dependencies"][extra]}
    # The icons are drawn from the fonts of this package, which is not imported.
    from_others.add("qtawesome")
    needed = {DISTRIBUTION_OF.get(name, name) for name in from_others}
    assert needed - optional == declared


def test_nothing_is_imported_in_a_circle() -> None:
    found = import_graph.imports(import_graph.modules())
    assert import_graph.circles(import_graph.between_rooms(found)) == []
    assert import_graph.circles(import_graph.between_modules(found)) == []


def test_what_is_imported_late_is_not_loaded_already() -> None:
    known = import_graph.modules()
    assert import_graph.needless(known, import_graph.imports(known)) == []


def test_few_tests_have_a_window_of_their_own() -> None:
    # Making a window takes longer than most tests, which share the window of the fixture `window`.
    makes = re.compile(r"^@pytest\.mark\.own_window$|\b(?:make|open)_window\(|\bMainWindow\(", re.MULTILINE)
    tests = [path for path in SOURCES if path.name.startswith("test_") and path != Path(__file__)]
    made = {_name(path): len(makes.findall(path.read_text(encoding="utf-8"))) for path in tests}
    assert sum(made.values()) <= MOST_WINDOWS, {name: count for name, count in made.items() if count}


def test_features_are_tested_without_the_window() -> None:
    # Tests of the whole window belong to tests/shell; a desk has the parts that a feature uses.
    folder = ROOT / "tests" / "features"
    uses = re.compile(r"\b(?:MainWindow|make_window|open_window|window: Any|run_once: Callable)\b")
    assert [_name(path) for path in folder.rglob("*.py") if uses.search(path.read_text(encoding="utf-8"))] == []


def _private(name: str) -> bool:
    last = name.rpartition(".")[2]
    return last.startswith("_") and not last.endswith("_") and last not in PUBLIC_NAMES


def _private_names(tree: ast.Module) -> list[str]:
    """Private names of other modules that a module uses, imports or patches."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _private(node.attr):
            owner = ast.unparse(node.value)
            found += [node.attr] if owner not in ("self", "cls", "super()") else []
        elif isinstance(node, ast.ImportFrom) and node.module != "subflow_sim":
            found += [alias.name for alias in node.names if _private(alias.name)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr":
            patched = [getattr(part, "value", None) for part in node.args[:2]]
            found += [name for name in patched if isinstance(name, str) and _private(name)]
    return found


def test_few_tests_know_what_is_private() -> None:
    # Such a test fails at a change without visible effect. Where a test needs such a name, one helper uses it for all.
    tests = [path for path in SOURCES if path.suffix == ".py" and _name(path).startswith("tests/")]
    names = {_name(path): _private_names(ast.parse(path.read_text(encoding="utf-8"))) for path in tests}
    outside = {name: found for name, found in names.items() if found and "/qt/" not in name}
    assert sum(map(len, outside.values())) <= MOST_PRIVATE_NAMES, outside


def test_what_is_installed_is_pinned() -> None:
    # Tools are pinned exactly, so that formatting and findings are the same everywhere; libraries up to the next
    # breaking version. Learning needs exact versions as well: other versions of PyTorch learn other policies from the
    # same seed.
    extras = PROJECT["optional-dependencies"]
    assert all("==" in requirement for extra in ("dev", "envs", "train") for requirement in extras[extra])
    assert all("==" in requirement or "<" in requirement for requirement in PROJECT["dependencies"])


def test_nobody_is_sent_to_the_project_of_another_that_has_our_short_name_on_pypi() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    extras = "|".join(PROJECT["optional-dependencies"])
    wrong = re.compile(
        rf"subflow\[({extras})\]|(metadata|distribution|version)\(\"subflow\"\)|pip install ['\"]?subflow\b(?!-)"
    )
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "assets").rglob("*.po")]
    read = [path for path in [*SOURCES, *pages] if path != Path(__file__)]
    assert [_name(path) for path in read if wrong.search(path.read_text(encoding="utf-8"))] == []
    for extra in ("train", "cluster", "pcap"):
        assert extra in PROJECT["optional-dependencies"]
        assert install_command(extra) == f'pip install "subflow-workbench[{extra}]"'
