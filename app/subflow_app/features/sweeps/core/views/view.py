"""What a view of a sweep is: what it can be told, what it shows of that, and in which form it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from subflow_app.features.sweeps.core.views.study import Study
from subflow_app.vocabulary.language import tr

Form = Literal["plot", "map", "table"]
PLOT: Final = "plot"
MAP: Final = "map"
TABLE: Final = "table"

PARAMETERS = ("x", "y", "series")
"""Fields that are parameters which have a place in the picture."""


@dataclass(frozen=True, slots=True)
class ViewChoice:
    """What is looked at.

    Attributes:
        view: key of VIEWS.
        figure: what colours, boxes and lines tell; of a scatter that up the plot.
        other: of a scatter, the figure along the plot.
        figures: with a column in the table.
        x: parameter along the plot.
        y: parameter up the map; empty: none.
        series: parameter that tells lines, boxes and marks apart; empty: none, None: whichever suits.
        fixed: level of each parameter that is held; those left out are averaged over.
    """

    view: str = "table"
    figure: str = ""
    other: str = ""
    figures: tuple[str, ...] = ()
    x: str = ""
    y: str | None = None
    series: str | None = None
    fixed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SweepView:
    """A view.

    Attributes:
        key: names it in code.
        title: of its tab, English.
        words: what it is to those who do not see it, English.
        fields: what it can be told, fields of :class:`ViewChoice`, by what they are called in it, English; in the order
            in which they are asked.
        content: what it shows of a sweep: a `Picture` if it is a plot or a map. The choice is settled.
        form: how that is drawn.
        is_mean_of_held: whether parameters without a place are averaged over, where they are not held.
    """

    key: str
    title: str
    words: str
    fields: Mapping[str, str]
    content: Callable[[Study, ViewChoice], Any]
    form: Form = PLOT
    is_mean_of_held: bool = True

    def places(self, choice: ViewChoice) -> list[str]:
        """Keys of the parameters that have a place in the picture."""
        return [key for name in PARAMETERS if name in self.fields and (key := getattr(choice, name))]

    @property
    def holds(self) -> bool:
        """Whether parameters without a place can be held."""
        return any(name in self.fields for name in PARAMETERS)


def averaged_over(study: Study, places: Sequence[str], fixed: Mapping[str, int] | None) -> list[str]:
    """Keys of the parameters that have neither a place nor a level that they are held at."""
    return [p.key for p in study.parameters if p.key not in (*places, *(fixed or {})) and len(p.levels) > 1]


def averaged_note(study: Study, places: Sequence[str], fixed: Mapping[str, int] | None) -> str:
    """That means are over several values of other parameters; empty if they are not."""
    averaged = ", ".join(averaged_over(study, places, fixed))
    return tr("Averaged over {keys}, so no interval is shown.", keys=averaged) if averaged else ""
