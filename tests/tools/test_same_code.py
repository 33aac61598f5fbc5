"""Commits that move code, and commits that change it, in small repositories."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tools.same_code import __main__ as same_code
from tools.same_code import prose
from tools.same_code.definitions import compare, definitions
from tools.same_code.names import Names
from tools.same_code.revisions import Repository

OLD, NEW = "app/subflow_app/core/arena/report.py", "app/subflow_app/features/arena/core/report.py"
USER = "app/subflow_app/qt/panel.py"
CPP, CPP_NEW = "sim/core/ring.h", "sim/core/base/ring.h"
REPORT = '''"""Writes reports; see `core/arena/report.py`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.core.paths import labs

if TYPE_CHECKING:
    from subflow_app.core.paths import Labs

HERE = Path(__file__).resolve()
ROOT = HERE.parents[4]
LIMIT = 600


def report(name: Labs) -> str:
    """A report, for tests/core/arena."""
    return f"subflow_app.core.arena.report of {labs(name)}" * LIMIT
'''
PANEL = """from subflow_app.core.arena import report

TEXT = report.report("subflow_app.core.arena.report")
PLACE = report.ROOT / "app" / "subflow_app" / "core" / "arena"
"""
RING = """// A ring, for sim/core/ring.h.
#pragma once
#include "units.h"

inline int ring(int size) { return size * 2; } // twice

inline int least(int first, int second) { return first < second ? first : second; }
"""
BEFORE = {
    OLD: REPORT,
    "app/subflow_app/core/arena/__init__.py": '"""The arena."""\n',
    "app/subflow_app/core/paths.py": "class Labs:\n    pass\n\n\ndef labs(name):\n    return name\n",
    USER: PANEL,
    CPP: RING,
    "docs/arena.md": "The arena lies in `app/subflow_app/core/arena/report.py`.\nIt ranks.\n",
}


def _moved() -> dict[str, str]:
    """The files after a good move."""
    report = REPORT.replace("core/arena/report.py", "features/arena/core/report.py").replace("parents[4]", "parents[5]")
    panel = PANEL.replace("core.arena import report", "features.arena.core import report as report")
    panel = panel.replace("core.arena.report", "features.arena.core.report")
    return {
        NEW: report.replace("core.arena.report of", "features.arena.core.report of"),
        "app/subflow_app/features/__init__.py": '"""Features for users."""\n',
        "app/subflow_app/features/README.md": "Features.\n",
        "app/subflow_app/features/arena/__init__.py": "",
        "app/subflow_app/core/paths.py": BEFORE["app/subflow_app/core/paths.py"],
        USER: panel.replace('"core" / "arena"', '"features" / "arena" / "core"'),
        CPP_NEW: RING.replace("sim/core/ring.h", "sim/core/base/ring.h").replace('"units.h"', '"core/units.h"'),
        "docs/arena.md": BEFORE["docs/arena.md"].replace("core/arena/report.py", "features/arena/core/report.py"),
    }


Made = Callable[[dict[str, str]], same_code.Report]


def _git(folder: Path, *words: str) -> None:
    person = ("-c", "user.name=Zoe", "-c", "user.email=zoe@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(folder), *person, *words], check=True, capture_output=True)


def _commit(folder: Path, files: dict[str, str], subject: str) -> None:
    for path in [*folder.rglob("*")]:
        if path.is_file() and ".git" not in path.relative_to(folder).parts:
            path.unlink()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    _git(folder, "add", "-A")
    _git(folder, "commit", "--quiet", "--allow-empty", "-m", subject)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    _git(tmp_path, "init", "--quiet")
    _commit(tmp_path, BEFORE, "Begin")
    return tmp_path


@pytest.fixture
def after(repository: Path) -> Made:
    def compare(files: dict[str, str]) -> same_code.Report:
        _commit(repository, files, "Move the arena")
        return same_code.compare_revisions(Repository(repository), "HEAD^", "HEAD")

    return compare


def _problems(report: same_code.Report) -> dict[str, list[str]]:
    return {verdict.path: verdict.problems for verdict in report.verdicts if verdict.kind == same_code.DIFFERENT}


def _changed(path: str, old: str, new: str) -> dict[str, str]:
    files = _moved()
    assert old in files[path]
    return {**files, path: files[path].replace(old, new)}


def test_a_move_changes_nothing(after: Made) -> None:
    report = after(_moved())
    assert _problems(report) == {}
    kinds = {verdict.path: verdict.kind for verdict in report.verdicts}
    assert {kinds[path] for path in (NEW, USER, CPP_NEW, "docs/arena.md")} == {same_code.MAPPED}
    assert kinds["app/subflow_app/features/README.md"] == same_code.ADDED
    assert report.unchanged == 1
    assert not report.differs


def test_imports_may_get_another_order_place_and_spelling(after: Made) -> None:
    files = {
        **BEFORE,
        USER: PANEL.replace("from subflow_app.core.arena import report", "import subflow_app.core.arena.report"),
    }
    files[USER] = files[USER].replace("report.report(", "subflow_app.core.arena.report.report(")
    files[USER] = files[USER].replace("report.ROOT", "subflow_app.core.arena.report.ROOT")
    (verdict,) = after(files).verdicts
    assert (verdict.kind, verdict.problems) == (same_code.EQUAL, [])


@pytest.mark.parametrize(
    ("path", "old", "new", "problem"),
    [
        (NEW, "LIMIT = 600", "LIMIT = 601", "line 15, now 15: `600` became `601`"),
        (NEW, "Writes reports", "Writes report", "line 1, now 1: `'Writes reports"),
        (NEW, "parents[5]", "parents[4]", "(. became app)"),
        (NEW, "import labs\n", "import labs, more\n", "import came: subflow_app.core.paths.more"),
        (
            NEW,
            "    from subflow_app.core.paths import Labs\n",
            "    pass\n",
            "import lost: subflow_app.core.paths.Labs",
        ),
        (USER, "features.arena.core import report as report", "features.arena import report", "import lost: "),
        (USER, '"features" / "arena"', '"features" / "arenas"', "became"),
        (CPP_NEW, "size * 2", "size * 3", "line 5, now 5: `2` became `3`"),
        (CPP_NEW, "// twice", "// doubled", "line 5, now 5: `// twice` became `// doubled`"),
        ("docs/arena.md", "It ranks.", "It sorts.", "1 line changed, the first: line 2, now 2"),
    ],
)
def test_a_change_is_found(path: str, old: str, new: str, problem: str, after: Made) -> None:
    problems = _problems(after(_changed(path, old, new)))
    assert list(problems) == [path]
    assert any(problem in found for found in problems[path]), problems


def test_new_and_lost_files_are_found(after: Made) -> None:
    files = {**_moved(), "app/subflow_app/extra.py": "A = 1\n", "app/subflow_app/other/__init__.py": "B = 2\n"}
    del files["app/subflow_app/core/paths.py"]
    assert _problems(after(files)) == {
        "app/subflow_app/core/paths.py": ["gone"],
        "app/subflow_app/extra.py": ["new"],
        "app/subflow_app/other/__init__.py": ["new"],
    }


def test_each_move_of_a_range_has_a_line(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _commit(repository, _moved(), "Move the arena")
    _commit(repository, _changed(NEW, "600", "601"), "Raise the limit")
    files = _changed(NEW, "600", "602")
    _commit(repository, {"docs/rank.md": files.pop("docs/arena.md"), **files}, "Move the page")
    _git(repository, "tag", "end")
    words = ["--each", "HEAD~3", "end", "--repository", str(repository)]

    assert same_code.main(words) == 1
    head, first, second, problem = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["commit", "moved"]
    assert (first.endswith("0  Move the arena"), second.endswith("1  Move the page")) == (True, True)
    assert "`601` became `602`" in problem
    assert same_code.main([*words, "--allow", "app/*/report.py"]) == 0
    capsys.readouterr()

    assert same_code.main([*words, "--json"]) == 1
    documents = json.loads(capsys.readouterr().out)
    assert [document["subject"] for document in documents] == ["Move the arena", "Move the page"]
    assert {name: count for name, count in documents[1]["counts"].items() if count} == {
        "unchanged": 6,
        "moved": 1,
        "different": 1,
    }
    assert same_code.main(["HEAD~3", "HEAD~2", "--repository", str(repository)]) == 0
    assert "unchanged" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="git"):
        same_code.main(["nowhere", "HEAD", "--repository", str(repository)])


def test_a_name_is_mapped_only_where_it_means_one_thing() -> None:
    paths = ["app/core/arena/x.py", "app/core/arena/y.py", "app/qt/arena/x.py", "docs/a.md"]
    names = Names(paths, {"app/core/arena/x.py": "app/arena/core/x.py", "app/core/arena/y.py": "app/arena/core/y.py"})

    def are_same(old: str, new: str, path: str = "docs/a.md") -> bool:
        return names.are_same_texts(old, new, path, path)

    assert are_same("see core/arena/x.py, please", "see arena/core/x.py, please")
    assert are_same("core.arena.x.f and `app/core/arena`", "arena.core.x.f and\n`app/arena/core`")
    assert are_same("arena/y.py", "core/y.py")
    assert not are_same("arena/x.py", "core/x.py")  # of the one or the other
    assert are_same("arena/x.py", "core/x.py", "app/core/z.py")  # but here the one below the same folder
    assert not are_same("app/qt/arena/x.py", "app/arena/core/x.py")
    assert are_same("../app/core/arena/x.py", "../app/arena/core/x.py")
    assert not are_same("core/arena/x.py and  two", "core/arena/x.py and two")


def test_definitions_are_the_same_in_whichever_file_they_lie() -> None:
    apart = {
        "app/subflow_app/rows.py": b'"""Rows."""\n\n\ndef rows() -> int:\n    return 1\n',
        "app/subflow_app/panel.py": b"from subflow_app import rows\n\n_SIZE = 3\n\n\n"
        b"def panel() -> int:\n    return rows.rows() * _SIZE\n",
    }
    joined = {
        "app/subflow_app/panel.py": b"def rows() -> int:\n    return 1\n\n\n_SIZE = 3\n\n\n"
        b"def panel() -> int:\n    return rows() * _SIZE\n"
    }
    assert compare(definitions(apart), definitions(joined)) == []
    renamed = {path: content.replace(b"_SIZE", b"_WIDTH") for path, content in joined.items()}
    assert compare(definitions(apart), definitions(renamed)) == ["renamed: _SIZE to _WIDTH", "differs: panel"]
    less = {path: content.replace(b"return 1", b"return 2") for path, content in joined.items()}
    assert compare(definitions(apart), definitions(less)) == ["differs: rows"]
    gone = {"app/subflow_app/panel.py": b"_SIZE = 3\n"}
    assert compare(definitions(apart), definitions(gone)) == ["only before: panel", "only before: rows"]
    rooted = b"from pathlib import Path\n\nROOT = Path(__file__).parents[2]\n"
    deep, flat = {"app/subflow_app/about/core/licences.py": rooted}, {"app/subflow_app/about/core.py": rooted}
    assert compare(definitions(deep), definitions(flat)) == ["differs: ROOT"]


def test_prose_alone_differs() -> None:
    old = '"""Old."""\n\n\ndef tell(name):  # old\n    """Old."""\n    raise ValueError(f"the name says {name}")\n'
    new = '"""New."""\n\n\ndef report(name):\n    raise ValueError(f"{name} is the name")\n'
    assert prose.difference("a.py", old, new, {"tell": "report"}) is None
    cases: tuple[tuple[str, str, str, str, dict[str, str]], ...] = (  # english: keep
        ("another name", "a.py", old, new, {}),
        ("another key", "a.py", 'x = {"key": 1}', 'x = {"keys": 1}', {}),
        ("another value in a sentence", "a.py", 'x = f"a {b} c"', 'x = f"a {d} c"', {}),
        ("another number", "a.h", "int a = 1;  // one", "int a = 2;  // one", {}),
        ("less code", "a.cpp", "f(); g();", "f();", {}),
    )
    for name, path, was, now, map_ in cases:
        assert prose.difference(path, was, now, map_), name
    assert prose.difference("a.h", 'f("one two");  // old', 'f("three four"); /* new */', {}) is None
