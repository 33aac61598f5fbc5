"""Columns read rows, and texts, files and orders follow from them."""

import math

from subflow_app.core.number_text import fixed
from subflow_app.core.tables import Column, NumberColumn, TextTable, csv_flag, csv_number, csv_text

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
