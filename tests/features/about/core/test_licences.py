"""The parts of the program and their licences, in the packaged program and in a source tree."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.helpers.members import for_each

from subflow_app.features.about.core import licence_parts, read_index
from subflow_app.foundation.errors import ResourceError

INDEX = """[
  {"name": "zstd", "version": "1.5.7", "licence": "BSD-3-Clause", "homepage": "https://example.org/zstd",
   "kind": "library", "files": ["zstd/LICENSE"], "note": ""},
  {"name": "Subflow", "version": null, "licence": "MIT", "homepage": "https://example.org/zstd",
   "kind": "library", "files": [], "note": "ours"}
]"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "licenses"
    (made / "zstd").mkdir(parents=True)
    (made / "zstd" / "LICENSE").write_text("Redistribution is permitted.")
    (made / "index.json").write_text(INDEX)
    return made


def test_the_packaged_program_lists_what_came_with_it(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(sys, "_MEIPASS", str(folder.parent), raising=False)

    ours, other = licence_parts()

    assert (ours.title, ours.text()) == ("Subflow", "Subflow\nMIT\nhttps://example.org/zstd\n\nours\n")
    assert other.title == "zstd 1.5.7"
    assert other.text().endswith("---- zstd/LICENSE ----\n\nRedistribution is permitted.\n")


@for_each("content", [None, "[", "{}1", '[{"name": "zstd"}]', "[7]"])
def test_a_damaged_index_is_explained(folder: Path, content: str | None) -> None:
    index = folder / "index.json"
    index.unlink() if content is None else index.write_text(content)

    with pytest.raises(ResourceError, match=r"index\.json cannot be read .*: install Subflow again"):
        read_index(folder)


def test_a_text_that_is_missing_is_named(folder: Path) -> None:
    (part, _) = read_index(folder)
    (folder / "zstd" / "LICENSE").unlink()

    with pytest.raises(ResourceError, match="zstd/LICENSE"):
        read_index(folder)
    with pytest.raises(ResourceError, match="zstd/LICENSE cannot be read"):
        part.text()


def test_a_source_tree_lists_what_is_installed() -> None:
    parts = {part.name: part for part in licence_parts()}

    assert next(iter(parts)) == "Subflow"
    assert "Permission is hereby granted" in parts["Subflow"].text()
    assert parts["numpy"].licence.startswith("BSD-3-Clause")
    assert "Redistribution and use" in parts["numpy"].text()
    # Each part has a licence, and parts under the LGPL carry the note that they can be replaced.
    assert [part.name for part in parts.values() if not part.licence] == []
    assert [p.name for p in parts.values() if "LGPL" in p.licence and "may replace" not in p.note] == []
    # Tools for development and tests are not parts of Subflow.
    assert not {"pytest", "ruff", "mypy", "ray", "sphinx"} & set(parts)
