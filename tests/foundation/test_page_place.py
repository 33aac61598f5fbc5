"""A page is written to the given file, into the given folder, or here under a default name."""

from __future__ import annotations

from pathlib import Path

import pytest

from subflow_app.foundation.errors import ExportError
from subflow_app.foundation.files import page_place


def test_a_name_that_ends_as_pages_do_is_a_file_and_any_other_a_folder(tmp_path: Path) -> None:
    assert page_place(None, "run-1") == Path("run-1.html")
    assert page_place(tmp_path / "new" / "mine.HTML", "run-1") == tmp_path / "new" / "mine.HTML"
    assert page_place(tmp_path / "pages", "run-1") == tmp_path / "pages" / "run-1.html"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "pages"]


def test_a_folder_with_such_a_name_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "old.html").mkdir()
    assert page_place(tmp_path / "old.html", "run-1") == tmp_path / "old.html" / "run-1.html"


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(ExportError, match="cannot be written"):
        page_place(tmp_path / "file" / "mine.html", "run-1")
