"""The first things that a visitor meets: folders that explain themselves, the files at the top, the changelog."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import subflow_app
from subflow_app.foundation.citation import RELEASED
from subflow_sim.catalog import controllers, schedulers

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

LONGEST_PART = 120
"""Lines of the changelog on one version: more is not read."""

LONGEST_LINE = 120

# Each is where people, GitHub, pip or CMake look for it. Everything else has a folder.
AT_THE_TOP = {
    *("README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "codemeta.json"),
    *("CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md"),
    *("dev.py", "pyproject.toml", "CMakeLists.txt", ".clang-format", ".gitignore"),
}


TOPS = [ROOT / name for name in ("agents", "app", "assets", "docs", "packaging", "sim", "tests", "tools")]

_FILE = re.compile(r"`([\w./-]*\w\.(?:py|h|cpp|toml|sh|nsi|md|json|yml|db|svg|js|html|ts|lock|po|gz))`")
_FOLDER = re.compile(r"`([\w./-]+/)`")
_PLACE = re.compile(r"`((?:\.\./|agents/|app/|assets/|docs/|sim/|tests/|subflow_\w+/)[\w./-]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
# Files that commands write, or that developers make while they work.
_NOT_KEPT = re.compile(r"build/|subflow-demo/|my\.toml$|my-lia\.py$|\.subflow\.toml$|(FILE|LAB|RUN|NAME)\b")


# Suffixes of source files.
_SOURCES = {".py", ".h", ".cpp", ".c", ".js", ".sh", ".nsi"}
# Parts of a feature, explained by the README of the feature; tests/features/README.md explains the parts of its tests.
_PARTS_OF_FEATURES = re.compile(r"app/subflow_app/features/\w+/(core|qt|cli)|tests/features/.+")
# Copied into the built guide as a whole, so that a README would be published; docs/README.md explains it.
_PUBLISHED = "docs/_static"


def _folders() -> Iterator[Path]:
    """Folders below the tops that contain files; without caches and builds."""
    for top in TOPS:
        for folder in (top, *sorted(path for path in top.rglob("*") if path.is_dir())):
            names = folder.relative_to(ROOT).parts
            if not any(name == "__pycache__" or name.startswith(".") for name in names):
                yield folder


def _holds_sources(folder: Path) -> bool:
    return any(path.suffix in _SOURCES for path in folder.iterdir() if path.is_file())


def _is_explained(folder: Path) -> bool:
    """True if a folder has its README, or may share one.

    A folder with source files has its README, except the parts of a feature. Data folders at the second level have a
    README or are named in the README above.
    """
    if any((folder / page).is_file() for page in ("README.md", "index.md")):
        return True
    name, above = folder.relative_to(ROOT).as_posix(), folder.parent / "README.md"
    is_named = above.is_file() and folder.parent != ROOT and f"`{folder.name}/`" in above.read_text(encoding="utf-8")
    if _PARTS_OF_FEATURES.fullmatch(name):
        return True
    if _holds_sources(folder) and name != _PUBLISHED and not name.startswith("assets/"):
        return False
    return is_named or (name.count("/") > 1 and not _holds_sources(folder))


def _parts() -> dict[str, str]:
    """The parts of the changelog by their headings without ``## ``."""
    cut = re.split(r"^## (.+)$", CHANGELOG, flags=re.MULTILINE)
    return dict(zip(cut[1::2], cut[2::2], strict=True))


def test_each_folder_explains_itself() -> None:
    assert [folder.relative_to(ROOT).as_posix() for folder in _folders() if not _is_explained(folder)] == []


def test_the_readme_of_a_feature_names_first_files_of_core_and_window() -> None:
    missing = []
    for feature in sorted((ROOT / "app/subflow_app/features").iterdir()):
        for part in (feature / "core", feature / "qt"):
            page = feature / "README.md"
            if part.is_dir() and list(part.glob("*.py")) and f"`{part.name}/" not in page.read_text(encoding="utf-8"):
                missing.append(f"{page.relative_to(ROOT).as_posix()}: {part.name}/")
    assert missing == []


def test_a_readme_names_only_files_and_folders_that_exist() -> None:
    pages = [ROOT / "README.md", *(page for top in TOPS for page in sorted(top.rglob("README.md")))]
    tree = {path.relative_to(ROOT).as_posix() for top in TOPS for path in top.rglob("*")}
    missing = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        # A path in backticks lies below the page or at the end of some path of the tree, as `core/labs/grading.py`.
        named = {name for kind in (_FILE, _FOLDER, _PLACE) for name in kind.findall(text)}
        named |= {link.partition("#")[0] for link in _LINK.findall(text) if "://" not in link}
        missing += [
            f"{page.relative_to(ROOT).as_posix()}: {name}"
            for name in sorted(named)
            if not _NOT_KEPT.search(name)
            and not any((folder / name).exists() for folder in (page.parent, ROOT, ROOT / "app", ROOT / "sim"))
            and not any(f"/{path}".endswith(f"/{name.rstrip('/')}") for path in tree)
        ]
    assert missing == []


def test_only_what_a_visitor_or_a_tool_looks_for_lies_at_the_top() -> None:
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("no repository of git")
    # A file that is moved away is listed until the change is committed.
    top = {name for name in listed.stdout.splitlines() if "/" not in name and (ROOT / name).exists()}
    assert top == AT_THE_TOP


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    newest = next(iter(_parts()))
    assert citation is not None
    versions = {
        "subflow_app.__version__": subflow_app.__version__,
        "pyproject.toml": project["version"],
        "CITATION.cff": citation[1],
        "codemeta.json": json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))["version"],
        "CHANGELOG.md": newest.partition("]")[0].removeprefix("["),
    }
    assert versions == dict.fromkeys(versions, subflow_app.__version__)
    # A release writes the day in place of the word: the day that citations give.
    assert newest in {f"[{subflow_app.__version__}] - {when}" for when in ("unreleased", RELEASED)}


def test_the_changelog_is_short_enough_to_be_read() -> None:
    for heading, part in _parts().items():
        assert len(part.splitlines()) < LONGEST_PART, heading
    assert [line for line in CHANGELOG.splitlines() if len(line) > LONGEST_LINE] == []
    assert len(re.findall(r"^### ", next(iter(_parts().values())), re.MULTILINE)) > 1


def test_the_changelog_names_each_controller_and_scheduler() -> None:
    plain = re.sub(r"[^a-z0-9]", "", CHANGELOG.lower())
    assert [each.name for each in (*controllers(), *schedulers()) if each.name.replace("-", "") not in plain] == []
