"""Which run stands in which column, and what is written above it."""

from __future__ import annotations

from subflow_app.features.history.core.run_names import plot_columns


def test_each_run_has_a_column_in_their_order() -> None:
    columns = plot_columns(["Demo", "Another"], {})
    assert [(set(column.runs), column.title, column.short_title) for column in columns] == [
        ({0}, "Demo", "Demo"),
        ({1}, "Another", "Another"),
    ]


def test_short_titles_leave_out_the_words_that_all_begin_with() -> None:
    columns = plot_columns(["Two paths: lia", "Two paths: olia", "Two paths: lia (2)"], {})
    assert [column.short_title for column in columns] == ["… lia", "… olia", "… lia (2)"]


def test_no_column_is_left_without_a_name() -> None:
    assert [column.short_title for column in plot_columns(["Demo", "Demo again"], {})] == ["Demo", "Demo again"]
    assert [column.short_title for column in plot_columns(["Two paths"], {})] == ["Two paths"]


def test_originals_stand_with_the_last_of_their_forks() -> None:
    # Run 2 is the original of 0, which is the original of 3.
    columns = plot_columns(["fork", "other", "original", "fork of the fork"], {2: 0, 0: 3})
    assert [(set(column.runs), column.title) for column in columns] == [
        ({0, 2, 3}, "fork of the fork"),
        ({1}, "other"),
    ]


def test_runs_that_name_each_other_as_originals_end_the_search() -> None:
    assert {run for column in plot_columns(["a", "b"], {0: 1, 1: 0}) for run in column.runs} == {0, 1}
