"""``subflow report``: a document on stored runs, or a word why there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.helpers.command_line import Subflow


@pytest.mark.parametrize(("name", "magic"), [("r.html", b"<!DOCTYPE html>"), ("r.pdf", b"%PDF")])
def test_report_is_written_where_it_is_wanted(
    subflow: Subflow, stored_run: dict[str, Any], database: Path, tmp_path: Path, name: str, magic: bytes
) -> None:
    answer = subflow("report", 1, "--db", database, "-o", tmp_path / name, "--figure", "cwnd", "--title", "My report")

    assert answer.code == 0
    assert answer.out == f"wrote {tmp_path / name}\n"
    assert (tmp_path / name).read_bytes().startswith(magic)


def test_report_has_a_name_of_its_own(
    subflow: Subflow, stored_run: dict[str, Any], database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = subflow("report", "last", "last", "--db", database, "--figure", "cwnd", "--json")

    assert answer.document == {"run_ids": [1], "file": "report-1.html"}
    assert "<title>" in (tmp_path / "report-1.html").read_text()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("-o", "x.docx"), "reports are written as .html or .pdf"),
        (("--page", "a3"), 'pages of size "a3": must be one of a4, letter'),
        (("--figure", "magic"), '--figure = "magic"'),
        (("-o", "no/such/folder/x.pdf"), "choose another folder"),
    ],
)
def test_what_cannot_be_written_is_said(
    subflow: Subflow,
    stored_run: dict[str, Any],
    database: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, str],
    why: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = subflow("report", 1, "--db", database, *words)

    assert answer.code in (1, 2)
    assert why in answer.err
    assert list(tmp_path.glob("x*")) == []
