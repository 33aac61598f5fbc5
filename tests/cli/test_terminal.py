"""Tables on a terminal: on a narrow one nothing disappears."""

from __future__ import annotations

import pytest

from subflow_app.cli import terminal
from subflow_app.core.tables import TextColumn, TextTable

TABLE = TextTable(
    "Flows",
    (TextColumn("Flow", is_number=False), *(TextColumn(f"Number {n}", "Mbit/s") for n in range(5))),
    (("download.1 · access→core", *("1234.567" for _ in range(5))), ("[red]x[/red]", *("–" for _ in range(5)))),
)


def printed(capsys: pytest.CaptureFixture[str], width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(terminal, "_PIPE_WIDTH", width)
    terminal.print_tables(TABLE)
    return capsys.readouterr().out


def test_wide_table_has_a_line_per_row(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(capsys, 200, monkeypatch).splitlines()

    assert lines[0].strip() == "Flows"
    assert len(lines) == 1 + 2 + 1 + 2
    assert lines[4].startswith("download.1 · access→core")


def test_on_80_columns_every_number_is_whole_and_every_name_is_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = printed(capsys, 70, monkeypatch)

    assert text.count("1234.567") == 5
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 70
    # The name is folded into lines of the first column; put together it is whole.
    folded = "".join(line.partition("  ")[0].strip() for line in text.splitlines()[4:])
    assert folded.replace(" ", "").startswith("download.1·access→core")


def test_names_are_no_markup(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "[red]x[/red]" in printed(capsys, 200, monkeypatch)
