"""The choices in the dialog of figures, stored and read again."""

from __future__ import annotations

from dataclasses import asdict

from tests.helpers.members import for_each

from subflow_app.features.paper.core.figure_plan import FigureChoice
from subflow_app.foundation.settings import Settings, load_settings, save_settings


def test_choice_outlives_the_program(tmp_path) -> None:
    choice = FigureChoice("acm", "svg", 50.0, 30.0, 600, "none", is_stacked=False, has_data=True)
    save_settings(Settings().with_figure(asdict(choice)), tmp_path / "settings.json")

    assert FigureChoice.from_entries(load_settings(tmp_path / "settings.json").figure) == choice


_OF_SIZE = ({"width_mm": 5.0}, {"height_mm": True}, {"dpi": 300.5})
_OF_LOOKS: tuple[dict[str, object], ...] = (
    {"style": "nature"},
    {"style": ["ieee"]},
    {"kind": "gif"},
    {"legend": {}},
    {"is_stacked": 1},
)


@for_each("entries", [*_OF_SIZE, *_OF_LOOKS, {"unknown": 1}])
def test_what_is_not_usable_is_as_the_first_time(entries) -> None:
    assert FigureChoice.from_entries(entries) == FigureChoice()


def test_a_style_has_its_own_width_and_the_height_that_was_chosen() -> None:
    style = FigureChoice("ieee", width_mm=300.0, height_mm=33.0).paper_style

    assert (style.width_mm, style.plot_height_mm) == (88.9, 33.0)
    assert FigureChoice().style == "ieee"
