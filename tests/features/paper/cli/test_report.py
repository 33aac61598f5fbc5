"""The command ``subflow report``: a document on stored runs, or the reason why it cannot be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each


def test_report_is_written_where_it_is_wanted_or_under_a_name_of_its_own(
    subflow: Subflow, stored_run: dict[str, Any], database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path, magic in ((tmp_path / "r.html", b"<!DOCTYPE html>"), (tmp_path / "r.pdf", b"%PDF")):
        answer = subflow("report", 1, "--db", database, "-o", path, "--figure", "cwnd", "--title", "My report")
        assert (answer.code, answer.out) == (0, f"wrote {path}\n")
        assert path.read_bytes().startswith(magic)
    answer = subflow("report", "last", "last", "--db", database, "--figure", "cwnd", "--json")

    assert answer.document == {"run_ids": [1], "file": "report-1.html"}
    assert "<title>" in (tmp_path / "report-1.html").read_text()


@for_each(
    ("words", "why"),
    [
        (("-o", "x.docx"), "reports are written as .html or .pdf"),
        (("--page", "a3"), 'pages of size "a3": must be one of a4, letter'),
        (("--figure", "magic"), '--figure = "magic"'),
        (("-o", "no/such/folder/x.pdf"), "choose another folder"),
    ],
)
def test_bad_input_is_told(
    subflow: Subflow, stored_run: dict[str, Any], database: Path, words: tuple[str, str], why: str
) -> None:
    answer = subflow("report", 1, "--db", database, *words)
    assert (answer.code in (1, 2), why in answer.err) == (True, True)
