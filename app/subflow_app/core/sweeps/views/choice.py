"""Which view of a sweep is looked at and what it shows; what is not chosen, or is not there, is chosen sensibly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from subflow_app.core.language import tr, translatable
from subflow_app.core.sweeps.views.boxes import BoxesContent, box_plot
from subflow_app.core.sweeps.views.classes import MOST_LEVELS, in_classes
from subflow_app.core.sweeps.views.heat_map import HeatMapContent, heat_map
from subflow_app.core.sweeps.views.lines import LinesContent, line_plot
from subflow_app.core.sweeps.views.parallel import ParallelContent, parallel
from subflow_app.core.sweeps.views.scatter import ScatterContent, scatter
from subflow_app.core.sweeps.views.study import Study, StudyFigure
from subflow_app.core.sweeps.views.table import StudyRow, study_rows

TABLE, HEAT, LINES, BOXES, SCATTER, PARALLEL = "table", "heat", "lines", "boxes", "scatter", "parallel"

VIEWS: Mapping[str, str] = {
    TABLE: translatable("Table"),
    HEAT: translatable("Heat map"),
    LINES: translatable("Lines"),
    BOXES: translatable("Boxes"),
    SCATTER: translatable("Scatter"),
    PARALLEL: translatable("Parallel"),
}

# What each view can be told, in the order in which it is asked.
FIELDS: Mapping[str, tuple[str, ...]] = {
    TABLE: ("figures",),
    HEAT: ("figure", "x", "y"),
    LINES: ("figure", "x", "series"),
    BOXES: ("figure", "x", "series"),
    SCATTER: ("figure", "other", "series"),
    PARALLEL: ("figure", "figures"),
}

_USUAL = ("goodput_bps", "mean_rtt_s", "loss_ratio", "fairness.jain")


@dataclass(frozen=True, slots=True)
class ViewChoice:
    """What is looked at.

    Attributes:
        view: key of VIEWS.
        figure: what colours, boxes and lines tell; of a scatter that up the plot.
        other: of a scatter, the figure along the plot.
        figures: with a column in the table, and an axis of parallel coordinates.
        x: parameter along the plot.
        y: parameter up the map; empty: none.
        series: parameter that tells lines, boxes and marks apart; empty: none, None: whichever suits.
        fixed: level of each parameter that is held; those left out are averaged over.
        order: of the axes of parallel coordinates.
    """

    view: str = TABLE
    figure: str = ""
    other: str = ""
    figures: tuple[str, ...] = ()
    x: str = ""
    y: str | None = None
    series: str | None = None
    fixed: Mapping[str, int] = field(default_factory=dict)
    order: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class TableContent:
    """What the table shows: rows, and the figures that have columns."""

    study: Study
    figures: tuple[StudyFigure, ...]
    rows: tuple[StudyRow, ...]


Content = TableContent | HeatMapContent | LinesContent | BoxesContent | ScatterContent | ParallelContent


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A view with all that it shows.

    Attributes:
        choice: with everything chosen.
        study: the sweep, with parameters in classes where there are too many values.
        content: of the view; None while there is nothing to show.
        note: what has to be known to read it; empty if nothing has.
    """

    choice: ViewChoice
    study: Study
    content: Content | None
    note: str = ""


def varying(study: Study) -> list[str]:
    """Parameters with more than one value; all if none has."""
    found = [parameter.key for parameter in study.parameters if len(parameter.levels) > 1]
    return found or [parameter.key for parameter in study.parameters]


def flow_in_question(study: Study) -> str:
    """The flow whose parameters alone are varied, if there are others beside it; empty if there is no such.

    Its own figures are what such a sweep is made for: the total of a link that is full tells nothing.
    """
    varied = {key.split(".")[1] for key in varying(study) if key.startswith("flows.") and key.count(".") > 1}
    flows = {figure.owner for figure in study.figures if figure.key.startswith("flows.")}
    return next(iter(varied)) if len(varied) == 1 and varied < flows else ""


def settled(choice: ViewChoice, study: Study) -> ViewChoice:
    """The choice with everything chosen, and nothing that the sweep does not have."""
    keys, figures = varying(study), [figure.key for figure in study.figures]
    flow = flow_in_question(study)
    own = (f"flows.{flow}.goodput_bps",) if flow else ()
    figure = choice.figure if choice.figure in figures else study.default_figure(*own, *_USUAL)
    delay = (f"flows.{flow}.mean_rtt_s",) if flow else ()
    other = choice.other if choice.other in figures else study.default_figure(*delay, "mean_rtt_s", "p95_rtt_s")
    usual = tuple(key for key in (*own, *_USUAL) if key in figures) or tuple(figures[:4])
    chosen = tuple(key for key in figures if key in choice.figures) or usual
    series = choice.series
    if series is None or (series and series not in keys):
        default = study.default_series()
        series = default if default in keys else ""
    x = choice.x if choice.x in keys else ""
    if not x:
        # Lines run along numbers, and what tells them apart is no axis.
        free = [key for key in keys if key != series] or keys
        numbers = [key for key in free if study.parameter(key).is_numeric]
        x = next(iter([*numbers, *free]), "")
    y = choice.y
    if y is None or y == x or (y and y not in keys):
        y = next((key for key in sorted(keys, key=lambda key: key != series) if key != x), "")
    fixed = {
        key: level for key, level in choice.fixed.items() if key in keys and level < len(study.parameter(key).levels)
    }
    return replace(choice, figure=figure, other=other, figures=chosen, series=series, x=x, y=y, fixed=fixed)


def held_parameters(choice: ViewChoice, study: Study) -> list[str]:
    """Parameters that a settled choice has no place for, so that they are held or averaged over."""
    used: dict[str, tuple[str | None, ...]] = {
        HEAT: (choice.x, choice.y),
        LINES: (choice.x, choice.series),
        BOXES: (choice.x, choice.series),
        SCATTER: (choice.series,),
    }
    if choice.view not in used:
        return []
    return [
        key
        for key in varying(study)
        if key not in used[choice.view] and 1 < len(study.parameter(key).levels) <= MOST_LEVELS
    ]


def show(choice: ViewChoice, study: Study) -> Shown:
    """Everything that a view shows; for a worker thread, large sweeps take a moment."""
    choice = settled(choice, study)
    if not study.figures or not study.parameters:
        return Shown(choice, study, None)
    series = choice.series or ""
    in_use = {
        HEAT: (choice.x, choice.y or ""),
        LINES: (choice.x, series),
        BOXES: (choice.x, series),
        SCATTER: (series,),
    }
    study, classed = in_classes(study, *in_use.get(choice.view, ()))
    held = {key: level for key, level in choice.fixed.items() if key in held_parameters(choice, study)}
    make: Mapping[str, Callable[[], Content]] = {
        TABLE: lambda: TableContent(
            study, tuple(map(study.figure, choice.figures)), tuple(study_rows(study, choice.figures))
        ),
        HEAT: lambda: heat_map(study, choice.figure, choice.x, choice.y or "", held),
        LINES: lambda: line_plot(study, choice.figure, choice.x, series, held),
        BOXES: lambda: box_plot(study, choice.figure, choice.x, series, held),
        SCATTER: lambda: scatter(study, choice.other, choice.figure, series, held),
        PARALLEL: lambda: parallel(study, choice.figures, choice.figure, choice.order),
    }
    content = make[choice.view]()
    return Shown(choice, study, content, _note(content, classed))


def _note(content: Content, classed: tuple[str, ...]) -> str:
    sentences = []
    averaged = (
        "" if isinstance(content, TableContent | ScatterContent | ParallelContent) else ", ".join(content.averaged)
    )
    if averaged and isinstance(content, BoxesContent):
        sentences.append(tr("Runs with all values of {keys} are in each box.", keys=averaged))
    elif averaged:
        sentences.append(tr("Averaged over {keys}; so there is no interval.", keys=averaged))
    if isinstance(content, HeatMapContent) and content.is_within_noise:
        width = content.figure.text(content.interval_width() / content.figure.scale)
        sentences.append(
            tr("The colours reach over {width}, the mean width of the intervals: the cells hardly differ.", width=width)
        )
    if classed:
        sentences.append(tr("Values of {keys} are put into classes.", keys=", ".join(classed)))
    return " ".join(sentences)
