"""Simplifies a network in which a claim fails, to make it comprehensible: fewer parts, rounder numbers, no randomness.

Each step removes a part, makes two parts equal, shortens the run, or rounds a number. A step is kept only if the claim
still fails with every seed that is tried, and not much less clearly than at first.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations
from typing import Any, TypeAlias, cast

from subflow_app.features.breaking.core.trial import Trial, network_of
from subflow_app.features.catalog.core.uses import Use, read_tables
from subflow_app.foundation.errors import ArenaError
from subflow_sim.draws import Draw, Pick, Range
from subflow_sim.errors import ParamError, ScenarioError
from subflow_sim.parameter import Param
from subflow_sim.params import SECTIONS
from subflow_sim.scenario import Scenario
from subflow_sim.scenario_model import QueueSpec

Tree: TypeAlias = dict[str, Any]
"""Tables of a scenario file."""

_KEPT = 0.6  # share of the initial margin that has to remain
_LEAST_MARGIN = -0.02
_DURATIONS_S = (10.0, 15.0, 20.0, 30.0)
_LEAST_WARMUP_S = 5.0
_ROUNDS = 3
_LINK = {param.key: param for param in SECTIONS["link"]}
_FLOW = {param.key: param for param in SECTIONS["flow"]}
_RUN = {param.key: param for param in SECTIONS["scenario"]}
_LINK_KEYS = ("rate", "delay", "queue", "loss")
_FLOW_KEYS = ("size", "recv_buffer", "send_buffer")
_ROUNDED = (("links", _LINK_KEYS, _LINK), ("flows", _FLOW_KEYS, _FLOW))


def scenario_of(tree: Mapping[str, Any], name: str = "network") -> Scenario:
    """Build a scenario from its tables.

    Raises:
        ScenarioError: if the tables are not a valid scenario.
    """
    own = copy.deepcopy(dict(tree))
    own.pop("training", None)
    return read_tables(Use.BREAK, own, file=name)


class Shrinking:
    """Simplifies a network in which a claim fails.

    Args:
        trial: claim and controller.
        tree: tables of a scenario file in which the claim fails.
        draws: varied values by dotted key; they bound the number of flows, and only varied values are made equal.
        is_stopped: polled before each step; True ends the simplification.

    Attributes:
        tree: the simplest tables found.
        margin: largest margin over the seeds, i.e. the least clear failure.
        tried: number of networks tried.
    """

    def __init__(
        self,
        trial: Trial,
        tree: Mapping[str, Any],
        draws: Mapping[str, Draw],
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self.tree: Tree = copy.deepcopy(dict(tree))
        self.tried = 0
        self._trial = trial
        self._draws = draws
        self._is_stopped = is_stopped
        self._target = 0.0
        self.margin = self._margin(self.tree)
        self._target = min(_KEPT * self.margin, _LEAST_MARGIN)

    def run(self) -> None:
        """Repeats all kinds of steps until they no longer simplify the network, at most `_ROUNDS` times."""
        if not self.margin < 0:
            return
        for _ in range(_ROUNDS):
            before = copy.deepcopy(self.tree)
            for steps in (_fewer, _without_luck, _shorter, _alike, _rounder):
                self._take(steps)
            if self.tree == before:
                return

    def _take(self, steps: Callable[[Tree, Mapping[str, Draw]], Iterator[list[Tree]]]) -> None:
        """Takes the first candidate of each group with which the claim still fails."""
        done = 0
        while not self._is_stopped():
            groups = list(steps(self.tree, self._draws))
            if done >= len(groups):
                return
            taken = next((tree for tree in groups[done] if tree != self.tree and self._fails(tree)), None)
            if taken is not None:
                is_shorter = len(list(steps(taken, self._draws))) < len(groups)
                self.tree = taken
                done += not is_shorter
            else:
                done += 1

    def _fails(self, tree: Tree) -> bool:
        margin = self._margin(tree)
        if margin <= self._target:
            self.margin = margin
            return True
        return False

    def _margin(self, tree: Tree) -> float:
        """The largest margin over the seeds; infinite if the network is not valid or the claim fails too weakly."""
        try:
            net = network_of(scenario_of(tree))
        except (ScenarioError, ArenaError):
            return math.inf
        self.tried += 1
        margin = self._trial.steady_margin(net, self._target)
        return margin if margin <= self._target else math.inf


# Each of these generators yields groups of candidates. The first suitable candidate of a group is taken.


def _fewer(tree: Tree, draws: Mapping[str, Draw]) -> Iterator[list[Tree]]:
    for number in range(len(tree.get("events", ()))):
        yield [_without(tree, "events", number)]
    for name, flow in tree["flows"].items():
        count = flow.get("count", 1)
        draw = draws.get(f"flows.{name}.count")
        least = min(draw.trials()) if isinstance(draw, Range | Pick) else count
        if least == 0:
            yield [_without_flow(tree, name)]
        smaller = [each for each in (1, 2) if max(least, 1) <= each < count]
        if smaller:
            yield [_with(tree, each, "flows", name, "count") for each in smaller]
        paths = flow.get("paths", ())
        if len(paths) > 2:
            left = [[*paths[:place], *paths[place + 1 :]] for place in reversed(range(len(paths)))]
            yield [_with(_without(tree, "flows", name, "backup"), each, "flows", name, "paths") for each in left]


def _without_luck(tree: Tree, _draws: Mapping[str, Draw]) -> Iterator[list[Tree]]:
    if "start_jitter" in tree:
        yield [_without(tree, "start_jitter")]
    for name, link in tree["links"].items():
        yield from ([_without(tree, "links", name, key)] for key in ("loss", "reverse") if key in link)
    for name, flow in tree["flows"].items():
        keys = ("start", "recv_buffer", "send_buffer")
        yield from ([_without(tree, "flows", name, key)] for key in keys if key in flow)


def _shorter(tree: Tree, _draws: Mapping[str, Draw]) -> Iterator[list[Tree]]:
    duration_s, warmup_s = _seconds(tree, "duration"), _seconds(tree, "warmup")
    is_timed = tree.get("events") or any({"start", "stop", "size"} & flow.keys() for flow in tree["flows"].values())
    if is_timed:
        return
    shorter = []
    for each_s in _DURATIONS_S:
        if each_s < duration_s:
            own_s = max(round(each_s * warmup_s / duration_s), min(warmup_s, _LEAST_WARMUP_S))
            shorter.append(_with(_with(tree, f"{own_s:g}s", "warmup"), f"{each_s:g}s", "duration"))
    yield shorter


def _alike(tree: Tree, draws: Mapping[str, Draw]) -> Iterator[list[Tree]]:
    links = tree["links"]
    for key in _LINK_KEYS:
        chosen = [name for name in links if f"links.{name}.{key}" in draws]
        for other, name in combinations(chosen, 2):
            first, second = links[other].get(key), links[name].get(key)
            if first != second and _is_plain(first) and _is_plain(second):
                yield [_with(tree, first, "links", name, key), _with(tree, second, "links", other, key)]


def _rounder(tree: Tree, _draws: Mapping[str, Draw]) -> Iterator[list[Tree]]:
    for section, keys, params in _ROUNDED:
        for name, table in tree[section].items():
            for key in keys:
                value = table.get(key)
                if value is not None and _is_plain(value):
                    yield [_with(tree, each, section, name, key) for each in _rounded(params[key], value)]


def _rounded(param: Param, value: Any) -> list[str]:
    """Round numbers near a value as text, first with one digit, then with two; empty if it is not a positive number."""
    try:
        number: Any = param.read(value)
    except ParamError:
        return []
    if isinstance(number, QueueSpec):
        packets = number.limit_pkts
        return [f"{each:.0f}pkt" for each in _round_numbers(float(packets)) if each >= 1] if packets else []
    if not isinstance(number, int | float) or not 0 < number < math.inf:
        return []
    return [param.format(each) for each in _round_numbers(float(number))]


def _round_numbers(number: float) -> Iterator[float]:
    step = 10.0 ** math.floor(math.log10(number))
    for digits, further in ((1, 0), (2, 2)):
        unit = step / 10 ** (digits - 1)
        low, high = math.floor(number / unit + 1e-9) - further, math.ceil(number / unit - 1e-9) + further
        near = sorted(range(max(low, 1), high + 1), key=lambda each, unit=unit: abs(each * unit - number))  # type: ignore[misc]
        for each in near:
            yield float(f"{each * unit:.6g}")
            if math.isclose(each * unit, number, rel_tol=1e-6):
                return


def _with(tree: Tree, value: Any, *path: str | int) -> Tree:
    changed = copy.deepcopy(tree)
    _at(changed, path)[path[-1]] = value
    return tidy(changed)


def _without(tree: Tree, *path: str | int) -> Tree:
    changed = copy.deepcopy(tree)
    table: Any = _at(changed, path)
    table.pop(path[-1], *([] if isinstance(table, list) else [None]))
    return tidy(changed)


def _at(tree: Tree, path: Sequence[str | int]) -> Any:
    """The table or list that contains the last element of a path."""
    return reduce(lambda here, step: here[step], path[:-1], cast("Any", tree))


def _without_flow(tree: Tree, name: str) -> Tree:
    changed = _without(tree, "flows", name)
    changed["events"] = [each for each in changed.get("events", ()) if each.get("flow") != name]
    return tidy(changed)


def tidy(tree: Tree) -> Tree:
    """A copy without unused links, without the events of these links, and without nodes at which no link ends."""
    used = {link for flow in tree["flows"].values() for path in flow.get("paths", ()) for link in path}
    links = {name: link for name, link in tree["links"].items() if name in used}
    ends = {end for link in links.values() for end in link["ends"]}
    nodes = {name: node for name, node in tree["nodes"].items() if name in ends}
    events = [event for event in tree.get("events", ()) if event.get("link") is None or event["link"] in used]
    others = {key: value for key, value in tree.items() if key != "events"}
    return {**others, "links": links, "nodes": nodes, **({"events": events} if events else {})}


def is_round(tree: Tree) -> bool:
    """True if the values of all links and flows that `_ROUNDED` lists have at most two significant digits."""
    values = [
        (table.get(key), params[key])
        for section, keys, params in _ROUNDED
        for table in tree[section].values()
        for key in keys
        if table.get(key) is not None and _is_plain(table.get(key))
    ]
    return all(_is_round(param.read(value)) for value, param in values)


def _is_round(number: Any) -> bool:
    if isinstance(number, QueueSpec):
        number = number.limit_pkts
    return not isinstance(number, int | float) or math.isinf(number) or math.isclose(number, float(f"{number:.2g}"))


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _seconds(tree: Tree, key: str) -> float:
    seconds: Any = _RUN[key].read(tree.get(key, 0))
    return float(seconds)
