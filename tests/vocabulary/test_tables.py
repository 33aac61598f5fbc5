"""Columns read rows, and texts, files and sorting follow from the columns."""

import math

import pytest
from tests.helpers.members import for_each

from subflow_app.vocabulary.number_text import fixed
from subflow_app.vocabulary.tables import Column, NumberColumn, TextColumn, TextTable, csv_flag, csv_number, csv_text

Row = tuple[str, float]
COLUMNS: tuple[Column[Row], ...] = (
    Column("Name", lambda row: row[0]),
    NumberColumn("Rate", lambda row: row[1], fixed(1, 1e-6), "Mbit/s"),
)
ROWS: tuple[Row, ...] = (("slow", 1.25e6), ("unknown", math.nan), ("fast", 8e6))


def test_a_column_says_of_a_row_what_it_holds():
    table = TextTable.of(ROWS, COLUMNS, "Rates")
    assert table.rows == (("slow", "1.2"), ("unknown", "–"), ("fast", "8.0"))
    assert [(each.title, each.unit, each.is_number) for each in table.columns] == [
        ("Name", "", False),
        ("Rate", "Mbit/s", True),
    ]
    assert [[reader.text(row) for reader in table.readers] for row in table.rows] == [list(row) for row in table.rows]
    assert table.tab_separated.splitlines()[:2] == ["Name\tRate, Mbit/s", "slow\t1.2"]


def test_what_is_not_known_comes_after_all_that_is():
    assert [name for name, _ in sorted(ROWS, key=COLUMNS[1].sort_key)] == ["slow", "fast", "unknown"]


def test_csv_has_all_digits_and_quotes_what_has_to_be_quoted():
    cells = ("a, b", csv_number(0.1), csv_number(math.inf), csv_flag(True))
    assert csv_text(("x", "y", "z", "flag"), [cells]) == 'x,y,z,flag\n"a, b",0.1,,true\n'


@pytest.mark.parametrize("name", ["=1+1", "+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0", "@SUM(A1)"])
def test_a_name_that_begins_like_a_formula_is_no_formula_in_a_spreadsheet(name: str):
    assert csv_text([name], [[name]]).splitlines() == [f"'{name}"] * 2
    table = TextTable("", (TextColumn("Name", is_number=False),), ((name,),))
    assert table.tab_separated == f"Name\n'{name}\n"


@for_each("number", ["-3.5", "-12 345 ± 6 %", "+0.5 Mbit/s", "-", "–", "-inf", "1e-05", "-1e-05"])
def test_numbers_stay_as_they_are_in_csv(number: str):
    assert csv_text(["x"], [[number]]) == f"x\n{number}\n"


def test_a_cell_of_several_lines_stays_in_its_place_on_the_clipboard():
    table = TextTable("", (TextColumn("Note", is_number=False), TextColumn("Rate")), (("two\n\tlines", "1"),))
    assert table.tab_separated == "Note\tRate\ntwo lines\t1\n"
