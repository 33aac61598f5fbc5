"""The topologies of the arena: links, and the paths of the connections over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain


@dataclass(frozen=True, slots=True)
class Span:
    """A link of a topology.

    Attributes:
        ends: the two nodes.
        share: the link's fraction of the round-trip time drawn for it.
        is_access: whether the link is a fast access link that never saturates.
    """

    ends: tuple[str, str]
    share: float = 1.0
    is_access: bool = False


Paths = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Topology:
    """Links, and the paths of the connections that cross them.

    Attributes:
        name: "ring".
        title: one line for display.
        spans: links by name, directed from the server to the client.
        users: paths of each connection.
    """

    name: str
    title: str
    spans: Mapping[str, Span]
    users: tuple[Paths, ...]

    @property
    def bottlenecks(self) -> tuple[str, ...]:
        """Names of the links that may saturate."""
        return tuple(name for name, span in self.spans.items() if not span.is_access)

    @property
    def most_paths(self) -> int:
        """Largest number of paths of a connection."""
        return max(map(len, self.users))

    def path_over(self, link: str) -> tuple[str, ...]:
        """The shortest path that crosses a link."""
        return min((path for path in chain(*self.users) if link in path), key=len)


_DIRECT = Span(("server", "client"))
_LETTERS = "abcdefgh"


def _disjoint(name: str, count: int, title: str) -> Topology:
    links = _LETTERS[:count]
    return Topology(name, title, dict.fromkeys(links, _DIRECT), (tuple((link,) for link in links),))


def _gathered(name: str, count: int, title: str) -> Topology:
    """Several access links that lead to one bottleneck."""
    ways = [f"way{number}" for number in range(1, count + 1)]
    spans = {way: Span(("server", "hub"), 0.8, is_access=True) for way in ways}
    return Topology(name, title, {**spans, "a": Span(("hub", "client"), 0.2)}, (tuple((way, "a") for way in ways),))


def _four(name: str, title: str, spans: Mapping[str, Span], paths: Paths) -> Topology:
    """Four connections with the same paths."""
    return Topology(name, f"{title}, shared by four connections with the same paths", spans, (paths,) * 4)


_FIRST, _SECOND = Span(("server", "hub"), 0.5), Span(("hub", "client"), 0.5)
_WAY, _REST = Span(("server", "hub"), 0.8, is_access=True), Span(("hub", "client"), 0.2)
_EARLY, _LATE = Span(("server", "hub"), 0.2), Span(("hub", "client"), 0.8, is_access=True)

TOPOLOGIES: Mapping[str, Topology] = {
    topology.name: topology
    for topology in (
        _disjoint("one", 1, "One link"),
        _disjoint("two", 2, "Two disjoint links"),
        _disjoint("three", 3, "Three disjoint links"),
        _gathered("shared", 2, "Two ways into one bottleneck"),
        _disjoint("four", 4, "Four disjoint links"),
        Topology(
            "pair",
            "Two connections, each over the same two links",
            dict.fromkeys("ab", _DIRECT),
            ((("a",), ("b",)), (("a",), ("b",))),
        ),
        Topology(
            "fork",
            "Two ways into one bottleneck, and a link by itself",
            {"way1": _WAY, "way2": _WAY, "a": _REST, "b": _DIRECT},
            ((("way1", "a"), ("way2", "a"), ("b",)),),
        ),
        Topology(
            "tandem",
            "A path over two bottlenecks in a row, and a link by itself",
            {"a": _FIRST, "b": _SECOND, "c": _DIRECT},
            ((("a", "b"), ("c",)),),
        ),
        Topology(
            "crossed",
            "Three paths over four bottlenecks, two in each: neighbours share one",
            {"a": _FIRST, "b": _FIRST, "c": _SECOND, "d": _SECOND},
            ((("a", "c"), ("b", "d"), ("a", "d")),),
        ),
        Topology(
            "ring",
            "Three connections over three links, each over two of them",
            dict.fromkeys("abc", _DIRECT),
            ((("a",), ("b",)), (("b",), ("c",)), (("c",), ("a",))),
        ),
        Topology(
            "offload",
            "A connection over two links, one that has the second alone",
            dict.fromkeys("ab", _DIRECT),
            ((("a",), ("b",)), (("b",),)),
        ),
        _gathered("trunk", 3, "Three ways into one bottleneck"),
        _disjoint("five", 5, "Five disjoint links"),
        _disjoint("eight", 8, "Eight disjoint links"),
        Topology("exit", "A bottleneck before a fast link", {"a": _EARLY, "way": _LATE}, ((("a", "way"),),)),
        Topology("entry", "A bottleneck behind a fast link", {"way": _WAY, "a": _REST}, ((("way", "a"),),)),
        Topology("row", "Two bottlenecks in a row", {"a": _FIRST, "b": _SECOND}, ((("a", "b"),),)),
        Topology(
            "chain",
            "Three bottlenecks in a row",
            {
                "a": Span(("server", "hub"), 1 / 3),
                "b": Span(("hub", "hub2"), 1 / 3),
                "c": Span(("hub2", "client"), 1 / 3),
            },
            ((("a", "b", "c"),),),
        ),
        _four("quartet", "One link", {"a": _DIRECT}, (("a",),)),
        _four("quartet-two", "Two disjoint links", dict.fromkeys("ab", _DIRECT), (("a",), ("b",))),
        _four("quartet-row", "Two bottlenecks in a row", {"a": _FIRST, "b": _SECOND}, (("a", "b"),)),
        _four(
            "quartet-ways",
            "Two ways into one bottleneck",
            {"way1": _WAY, "way2": _WAY, "a": _REST},
            (("way1", "a"), ("way2", "a")),
        ),
        _four("quartet-three", "Three disjoint links", dict.fromkeys("abc", _DIRECT), (("a",), ("b",), ("c",))),
    )
}
"""All topologies by name."""
