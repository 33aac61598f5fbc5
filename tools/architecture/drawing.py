"""The drawing as SVG: rows of boxes, and arrows that pass between them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from tests.helpers.import_graph import ROOT
from tools.architecture.house import COMMANDS, CORE, QT, SHELL, House, Size

FIGURE = ROOT / "docs" / "figures" / "architecture.svg"
WORDS = {
    SHELL: "shell: the window, its menus and the list of commands",
    QT: "Qt parts of features",
    CORE: "cores of features",
    COMMANDS: "commands",
}

_WIDTH, _EDGE = 780.0, 10.0
_BOX, _HIGH, _PITCH, _GAP, _LANE = 86.0, 27.0, 39.0, 7.0, 8.0
_MOST_IN_ROW = 3
_ROUNDS = 24  # iterations that move boxes towards their neighbours in other rows
_STYLE = """
svg { --paper: #ffffff; --ink: #1b1b1b; --quiet: #5a5a5a; --line: #7a8594;
  --top: #e7e0f3; --qt: #dcebfb; --core: #dff1e2; --cli: #fbeed3; --low: #ececec; --room: #f7f7f8; }
@media (prefers-color-scheme: dark) { svg { --paper: #131416; --ink: #eeeeee; --quiet: #b4b4b4; --line: #8a95a5;
  --top: #3b3350; --qt: #223a55; --core: #24432b; --cli: #4c3d1c; --low: #33363a; --room: #1b1d20; } }
text { font-family: 'DejaVu Sans', Verdana, sans-serif; font-size: 10.5px; fill: var(--ink); text-anchor: middle; }
.size { font-size: 8.5px; fill: var(--quiet); } .title { font-size: 11.5px; font-weight: bold; }
rect { stroke: var(--line); stroke-width: 0.6; rx: 4px; } .room { fill: var(--room); }
.paper { fill: var(--paper); stroke: none; } .shell { fill: var(--top); } .qt { fill: var(--qt); }
.core { fill: var(--core); } .cli { fill: var(--cli); } .low { fill: var(--low); }
path { fill: none; stroke: var(--line); stroke-width: 1.1; } .layer { stroke: var(--ink); stroke-width: 1.8; }
marker path { fill: var(--line); stroke: none; } #bold path { fill: var(--ink); }
"""


@dataclass
class _Place:
    """A box in a row, or the position where an arrow passes the row."""

    name: str
    x: float
    row: int
    wide: float


@dataclass(frozen=True)
class _Box:
    left: float
    top: float
    wide: float
    high: float

    @property
    def middle(self) -> float:
        return self.left + self.wide / 2

    @property
    def right(self) -> float:
        return self.left + self.wide

    @property
    def bottom(self) -> float:
        return self.top + self.high


def svg(house: House) -> str:
    """The whole drawing."""
    parts: list[str] = []
    boxes: dict[str, _Box] = {}
    inner = _WIDTH - 2 * _EDGE
    top = _EDGE
    boxes[SHELL] = _Box(_EDGE, top, inner, 34)
    top = boxes[SHELL].bottom + 28
    rooms = {kind: _rows(house, kind) for kind in (QT, CORE)}
    wide_cli, between = 104.0, 30.0
    wide_room = (inner - wide_cli - 2 * between) / 2
    commands = sorted(name for name in house.files if name.endswith(f".{COMMANDS}"))
    high = max(max(len(rows) for rows, _chains in rooms.values()) * _PITCH, len(commands) * 27.0) + 38
    left = _EDGE
    for kind, wide in ((QT, wide_room), (CORE, wide_room), (COMMANDS, wide_cli)):
        boxes[kind] = _Box(left, top, wide, high)
        left += wide + between
    low = boxes[CORE].bottom + 28
    third = (inner - 2 * between) / 3
    boxes["toolkit"] = _Box(_EDGE, low, boxes[QT].wide, 34)
    boxes["terminal"] = _Box(boxes[COMMANDS].left, low, wide_cli, 34)
    low += 62
    boxes["foundation"] = _Box(_EDGE, low, inner, 34)
    low += 62
    for number, name in enumerate(("subflow_store", "vocabulary", "subflow_agents")):
        boxes[name] = _Box(_EDGE + number * (third + between), low, third, 34)
    low += 62
    boxes["subflow_sim"] = _Box(_EDGE + third + between, low, 2 * third + between, 34)
    for name, box in boxes.items():
        kind = name if name in (SHELL, QT, CORE, COMMANDS) else "low"
        is_room = name in rooms or name == COMMANDS
        parts.append(_rect(box, "room" if is_room else kind))
        parts.append(_text(box.middle, box.top + (14 if is_room else 15), WORDS.get(name, name), "title"))
        parts.append(_text(box.middle, box.top + (26 if is_room else 27), _size(house.size(name)), "size"))
    for kind, (rows, chains) in rooms.items():
        parts += _room(house, kind, boxes[kind], rows, chains)
    for number, name in enumerate(commands):
        step = (high - 38) / len(commands)
        box = _Box(boxes[COMMANDS].left + 9, top + 34 + number * step, _BOX, min(step - 4, _HIGH))
        parts += _named(box, COMMANDS, name, house.size(name))
    parts += [_layer_arrow(boxes[a], boxes[b]) for a, b in _layer_arrows(house, boxes)]
    bottom = boxes["subflow_sim"].bottom + _EDGE
    outline = escape("\n".join(house.outline()))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {bottom:g}" role="img">\n'
        "<title>Layers and features of Subflow, with the imports between them</title>\n"
        f"<metadata>\n{outline}\n</metadata>\n<style>{_STYLE}</style>\n"
        f"<defs>{_tip('thin')}{_tip('bold')}</defs>\n"
        f'<rect class="paper" width="{_WIDTH:g}" height="{bottom:g}"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


# ---- parts of features ----


def _rows(house: House, kind: str) -> tuple[list[list[_Place]], list[list[str]]]:
    """Rows of boxes and of passing arrows, and each arrow as the names of the places along it."""
    names: list[list[str]] = []
    for row in house.orders[kind]:
        # A long row takes several lines.
        lines = -(-len(row) // _MOST_IN_ROW)
        names += [list(row[line::lines]) for line in range(lines)]
    row_of = {f"{name}.{kind}": number for number, row in enumerate(names) for name in row}
    rows = [[_Place(f"{name}.{kind}", 0, number, _BOX) for name in row] for number, row in enumerate(names)]
    chains = []
    for source in row_of:
        for target in sorted(house.arrows.get(source, ())):
            between = range(row_of[source] + 1, row_of[target])
            passes = [f"{source} > {target} {number}" for number in between]
            for name, number in zip(passes, between, strict=True):
                rows[number].append(_Place(name, 0, number, _LANE))
            chains.append([source, *passes, target])
    _arrange(rows, chains)
    return rows, chains


def _arrange(rows: list[list[_Place]], chains: Sequence[Sequence[str]]) -> None:
    """Orders each row for few crossings and short arrows, then moves its places below their neighbours."""
    joined: dict[str, list[str]] = {}
    for one, other in (pair for chain in chains for pair in itertools.pairwise(chain)):
        joined.setdefault(one, []).append(other)
        joined.setdefault(other, []).append(one)
    place = {each.name: each for row in rows for each in row}
    for row in rows:
        _spread(row, [0.0] * len(row))

    def wanted(each: _Place) -> float:
        return _mean([place[name].x for name in joined.get(each.name, ())], each.x)

    best = (_crossings(place, chains), [list(row) for row in rows])
    for number in range(_ROUNDS):
        for row in rows if number % 2 else rows[::-1]:
            row.sort(key=lambda each: (wanted(each), each.name))
            _spread(row, [wanted(each) for each in row])
        best = min(best, (_crossings(place, chains), [list(row) for row in rows]), key=lambda tried: tried[0])
    rows[:] = best[1]
    for number in range(_ROUNDS):
        for row in rows if number % 2 else rows[::-1]:
            _spread(row, [wanted(each) for each in row])


def _crossings(place: Mapping[str, _Place], chains: Sequence[Sequence[str]]) -> int:
    """Number of pairs of arrows that cross between two rows."""
    steps: dict[int, list[tuple[float, float]]] = {}
    for one, other in (pair for chain in chains for pair in itertools.pairwise(chain)):
        steps.setdefault(place[one].row, []).append((place[one].x, place[other].x))
    return sum(
        (one[0] - other[0]) * (one[1] - other[1]) < 0
        for between in steps.values()
        for one, other in itertools.combinations(between, 2)
    )


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _spread(row: Sequence[_Place], wanted: Sequence[float]) -> None:
    """Moves the places of a row as near to the wanted positions as their widths allow.

    Source: pool adjacent violators, Ayer et al. 1955.
    """
    offsets = [0.0]
    for one, other in itertools.pairwise(row):
        offsets.append(offsets[-1] + (one.wide + other.wide) / 2 + _GAP)
    pools: list[tuple[float, int]] = []
    for value in (each - offset for each, offset in zip(wanted, offsets, strict=True)):
        mean, count = value, 1
        while pools and pools[-1][0] >= mean:
            before, more = pools.pop()
            mean, count = (before * more + mean * count) / (more + count), more + count
        pools.append((mean, count))
    means = [mean for mean, count in pools for _ in range(count)]
    for each, mean, offset in zip(row, means, offsets, strict=True):
        each.x = mean + offset


def _room(
    house: House, kind: str, room: _Box, rows: Sequence[Sequence[_Place]], chains: Sequence[Sequence[str]]
) -> Iterator[str]:
    places = {each.name: each for row in rows for each in row}
    least = min(each.x - each.wide / 2 for each in places.values())
    most = max(each.x + each.wide / 2 for each in places.values())
    shift = room.middle - (least + most) / 2
    scale = min(1.0, (room.wide - 8) / (most - least))
    pitch = (room.high - 38) / len(rows)

    def box(name: str) -> _Box:
        each = places[name]
        wide = each.wide * scale
        x = room.middle + (each.x + shift - room.middle) * scale
        return _Box(x - wide / 2, room.top + 34 + each.row * pitch, wide, _HIGH)

    for chain in chains:
        points = [(box(chain[0]).middle, box(chain[0]).bottom)]
        for name in chain[1:-1]:
            points += [(box(name).middle, box(name).top), (box(name).middle, box(name).bottom)]
        points.append((box(chain[-1]).middle, box(chain[-1]).top))
        yield _curve(points)
    for name in (name for name in places if " " not in name):
        yield from _named(box(name), kind, name, house.size(name))


def _named(box: _Box, kind: str, name: str, size: Size) -> Iterator[str]:
    yield _rect(box, kind)
    yield _text(box.middle, box.top + 12, name.partition(".")[0], "")
    yield _text(box.middle, box.top + 22, _size(size, short=True), "size")


# ---- layers ----


def _layer_arrows(house: House, boxes: dict[str, _Box]) -> Iterator[tuple[str, str]]:
    for source in boxes:
        for target in sorted(house.arrows.get(source, ())):
            yield source, target


def _layer_arrow(source: _Box, target: _Box) -> str:
    """An arrow between layers: sideways to a neighbour, else straight down where the two boxes overlap."""
    if source.top == target.top:
        y = source.top + 60
        is_right = source.left < target.left
        start, end = (source.right, target.left) if is_right else (source.left, target.right)
        return _path(f"M {start:.1f} {y:.1f} L {end:.1f} {y:.1f}", "layer")
    x = (max(source.left, target.left) + min(source.right, target.right)) / 2
    return _path(f"M {x:.1f} {source.bottom:.1f} L {x:.1f} {target.top:.1f}", "layer")


# ---- SVG ----


def _size(size: Size, *, short: bool = False) -> str:
    files = f"{size.files}" if short else f"{size.files} files"
    lines = f"{size.lines:,}".replace(",", "\u2009")
    return f"{files} · {lines}" + ("" if short else " lines")


def _rect(box: _Box, kind: str) -> str:
    return f'<rect class="{kind}" x="{box.left:.1f}" y="{box.top:.1f}" width="{box.wide:.1f}" height="{box.high:.1f}"/>'


def _text(x: float, y: float, text: str, kind: str) -> str:
    chosen = f' class="{kind}"' if kind else ""
    return f'<text{chosen} x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _curve(points: Sequence[tuple[float, float]]) -> str:
    """A smooth curve through points, vertical at each."""
    drawn = f"M {points[0][0]:.1f} {points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        middle = (y0 + y1) / 2
        drawn += f" C {x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"
    return _path(drawn, "")


def _tip(name: str) -> str:
    size = 'viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse"'
    return f'<marker id="{name}" {size} orient="auto"><path d="M 0 0.5 L 8 4 L 0 7.5 z"/></marker>'


def _path(drawn: str, kind: str) -> str:
    chosen, tip = (f' class="{kind}"', "bold") if kind else ("", "thin")
    return f'<path{chosen} marker-end="url(#{tip})" d="{drawn}"/>'
