"""Tables on a terminal lose no text, even on a narrow one."""

from __future__ import annotations

import pytest

from subflow_app.terminal import terminal
from subflow_app.vocabulary.tables import TextColumn, TextTable

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


def test_tables_are_whole_on_80_columns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = printed(capsys, 70, monkeypatch)

    assert text.count("1234.567") == 5
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 70
    # The name is wrapped into lines of the first column, which together give the whole name.
    folded = "".join(line.partition("  ")[0].strip() for line in text.splitlines()[4:])
    assert folded.replace(" ", "").startswith("download.1·access→core")


def test_names_are_no_markup(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "[red]x[/red]" in printed(capsys, 200, monkeypatch)


def test_what_would_steer_a_terminal_is_spelled_out(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.print_line("\x1b[2Ja\u202eb\x9b1m\tc")
    terminal.print_error("\x07")
    terminal.print_tables(TextTable("\x1b]0;x\x07", (TextColumn("Name", is_number=False),), (("\x1b[31mred",),)))
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == r"\u001b[2Ja\u202eb\u009b1m" + "\tc"
    assert r"\u001b[31mred" in out
    assert not {"\x1b", "\x07", "\x9b"} & set(out + err)


def test_wide_characters_and_cells_of_several_lines_have_room(capsys: pytest.CaptureFixture[str]) -> None:
    columns = (TextColumn("Name", is_number=False), TextColumn("Rate"))
    terminal.print_tables(TextTable("", columns, (("漢字", "1"), ("Zürich\nnorth", "2"))))
    assert capsys.readouterr().out.splitlines()[2:] == ["漢字       1", "Zürich     2", "north"]
