"""Which run stands in which column, and what is written above it."""

from __future__ import annotations

from tests.helpers.members import for_each

from subflow_app.features.history.core.run_names import plot_columns


@for_each(
    ("names", "short"),
    [
        (["Demo", "Another"], ["Demo", "Another"]),
        (["Two paths: lia", "Two paths: olia", "Two paths: lia (2)"], ["… lia", "… olia", "… lia (2)"]),
        # No column is left without a name.
        (["Demo", "Demo again"], ["Demo", "Demo again"]),
        (["Two paths"], ["Two paths"]),
    ],
)
def test_each_run_has_a_column_named_after_what_differs(names: list[str], short: list[str]) -> None:
    columns = plot_columns(names, {})
    assert [(set(each.runs), each.title) for each in columns] == [({run}, name) for run, name in enumerate(names)]
    assert [each.short_title for each in columns] == short


def test_originals_stand_with_the_last_of_their_forks() -> None:
    # Run 2 is the original of 0, which is the original of 3.
    columns = plot_columns(["fork", "other", "original", "fork of the fork"], {2: 0, 0: 3})
    assert [(set(column.runs), column.title) for column in columns] == [({0, 2, 3}, "fork of the fork"), ({1}, "other")]
    # Runs that name each other as originals end the search.
    assert {run for column in plot_columns(["a", "b"], {0: 1, 1: 0}) for run in column.runs} == {0, 1}
