"""The drawing of a topology for print: nodes, links with their values, and the coloured path of every subflow."""

from __future__ import annotations

from collections.abc import Mapping

from subflow_app.features.editor.core.topology import PictureLink, picture_of
from subflow_app.features.paper.core.report_tables import delay_text, rate_text
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.picture import SketchLink, SketchNode, TopologySketch
from subflow_sim.scenario import Scenario

# Beyond the first limit, labels contain only the names of links; beyond the second limit, links have no labels. The
# values are also listed in a table.
_MOST_LINKS_WITH_VALUES = 12
_MOST_LINKS_WITH_NAMES = 40


def sketch_of(scenario: Scenario, positions: Mapping[str, tuple[float, float]] | None = None) -> TopologySketch:
    """The drawing of a scenario's topology, with the path of each subflow.

    Args:
        scenario: a scenario with at least one node.
        positions: positions of nodes on the canvas that override those of the scenario; None: the scenario's.
    """
    picture = picture_of(scenario, positions)
    colours = {owner: palette.hex_colour(path.colour) for owner, path in picture.paths.items()}
    # On the canvas, y points downwards.
    places = {name: (x, -y) for name, (x, y) in picture.places.items()}
    count = len(picture.links)
    return TopologySketch(
        tuple(SketchNode(name, x, y, name in picture.routers) for name, (x, y) in places.items()),
        tuple(
            SketchLink(
                *places[link.link.ends[0]],
                *places[link.link.ends[1]],
                link.bow,
                _label(link, count),
                tuple(colours[owner] for owner in link.lanes),
            )
            for link in picture.links.values()
        ),
        tuple((_way(path.label, path.count), colours[owner]) for owner, path in picture.paths.items()),
        tuple((note.text, note.at[0], -note.at[1]) for note in picture.notes),
    )


def _label(link: PictureLink, count: int) -> str:
    if count > _MOST_LINKS_WITH_NAMES:
        return ""
    if count > _MOST_LINKS_WITH_VALUES:
        return link.link.name
    direction = link.link.forward
    return f"{link.link.name}: {rate_text(direction.rate_bps)}, {delay_text(direction.delay_s)}"


def _way(label: str, count: int) -> str:
    return f"{label} (× {count})" if count > 1 else label
