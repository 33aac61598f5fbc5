"""Reads commands of `tc`, and the output of `tc -s qdisc show`, as links. Nothing of a file is run.

Each interface becomes a direction of a link: netem gives delay and loss, tbf, htb or netem the rate, and the queue that
is left the queue. Two interfaces form a link if `ip link add ... type veth` joins them, or if they have the same name
in two namespaces. The commands after a `sleep` of known length become events: changes of rate, delay, loss and length
of the queue at their times, and outages for `root blackhole`. The rest of them is named, and left out.

Source: tc(8), tc-netem(8), tc-tbf(8), tc-htb(8), tc-red(8), tc-codel(8), tc-fq_codel(8), tc-dualpi2(8).
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from itertools import groupby, pairwise

from subflow_app.features.editor.core.graph_files import (
    GraphFileError,
    RawChange,
    RawEdge,
    RawGraph,
    RawNode,
    Value,
    check_count,
)
from subflow_app.foundation.toml_edit import render_text
from subflow_sim.errors import ParamError
from subflow_sim.link_params import BUCKET_TABLE, JITTER_TABLE, LOSS_TABLE
from subflow_sim.parameter import Param
from subflow_sim.params import params_by_key
from subflow_sim.queue_params import QUEUE_TABLE
from subflow_sim.units import Dimension, format_quantity

NAMESPACE_PREFIX = "sf-"
"""Beginning of the names of namespaces in scripts of Subflow; the rest is the name of the node."""
ETHERNET_BYTES = 14
"""Bytes of the Ethernet header, which Linux counts as part of a packet."""

FASTEST_BPS = 100e9
"""Rate of a token bucket in scripts of Subflow while a link is unlimited that is limited at other times."""

_MOST_BPS = 1e12  # rate of an event that lifts a limit: an event cannot make a link unlimited
_MTU_BYTES = 1500
_FRAME_BYTES = _MTU_BYTES + ETHERNET_BYTES
_ALLOWED = "commands like tc qdisc add dev eth0 root netem delay 20ms rate 10mbit, or the output of tc -s qdisc show"
_NETEM_PACKETS = 1000  # default limit of netem
_MOST_LINES = 100_000
_MOST_SECONDS = 1_000_000  # time of an event
_MOST_CHARACTERS = 4000  # of a line, with the lines that continue it

_RATES = {"": 1, "bit": 1, "bps": 8}
_RATES |= {f"{p}{unit}": 1000**n * f for n, p in enumerate("kmgt", 1) for unit, f in (("bit", 1), ("bps", 8))}
_RATES |= {f"{p}i{unit}": 1024**n * f for n, p in enumerate("kmgt", 1) for unit, f in (("bit", 1), ("bps", 8))}
_SIZES = {"": 8, "b": 8, "k": 8 << 10, "kb": 8 << 10, "m": 8 << 20, "mb": 8 << 20, "g": 8 << 30, "gb": 8 << 30}
_SIZES |= {"kbit": 1 << 10, "mbit": 1 << 20, "gbit": 1 << 30}  # in bits, unlike rates powers of 1024
_TIMES = {"": "1e-6"}
for _names, _factor in (("s", "1"), ("ms", "1e-3"), ("us", "1e-6"), ("ns", "1e-9")):
    _TIMES |= dict.fromkeys((_names, f"{_names}ec", f"{_names}ecs"), _factor)
_NUMBER = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([A-Za-z%]*)\Z")

_COMMAND = re.compile(r"(?:^|[\s;&|(])tc\s+(?:-\S+\s+(?:\S+\s+)??)*(?:qdisc|class|q|c)\s+(?:add|replace|change|del)\b")
_SHOWN = re.compile(r"^qdisc [a-z0-9_]+ [0-9a-f]*: (?:dev \S+ )?(?:root|parent \S+|ingress)", re.MULTILINE)
_SHAPES = re.compile(r"\btc\b.*\b(?:add|replace|change)\b")
_BACKGROUND = re.compile(r"\s*[({].*[)}]\s*&\s*\Z")
_ASSIGNMENT = re.compile(r"(?:export\s+)?([A-Za-z_]\w*)=(\"[^\"$`]*\"|'[^']*'|[^\s\"'$`;&|()]*)\s*\Z")
_LIMIT = re.compile(r', limit = "(\w+)"')
_PAUSE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([smhd]?)\Z")
_PAUSES_S = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_BLOCKS = {"for": "done", "while": "done", "until": "done", "if": "fi", "case": "esac"}
_BLOCK_NAMES = {"done": "loop", "fi": "condition", "esac": "condition", "}": "function", ")": "subshell"}
_PREFIXES = ("sudo", "{", "(", "then", "do", "else", "exec", "!")
_FUNCTION = re.compile(r"\s*(?:function\s+[\w-]+\s*(?:\(\))?|[\w-]+\s*\(\))\s*(\{|\Z)")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")


def plain_burst_bytes(rate_bps: float, mtu_bytes: int) -> int:
    """Burst of a token bucket for a link that saves up no bursts: two packets, or 1 ms at the rate of the link.

    Less would waste capacity whenever the kernel's timer is late.
    """
    return max(2 * (mtu_bytes + ETHERNET_BYTES), math.ceil(rate_bps / 8 * 1e-3))


def looks_like_tc(head: str) -> bool:
    """True if a text with this beginning, in lower case, holds commands or the output of `tc`."""
    return _COMMAND.search(head) is not None or _SHOWN.search(head) is not None


def read_tc(content: bytes, file: str) -> RawGraph:
    """Read commands or the output of `tc`.

    Raises:
        GraphFileError: if the content holds no interface with a discipline, or an impossible value.
    """
    text = content.decode("utf-8", "replace")
    reader = _Reader(file)
    lines = text.splitlines()
    if len(lines) > _MOST_LINES:
        raise GraphFileError(file, _MOST_LINES, "is too long", f"at most {_MOST_LINES} lines")
    begun, begin = "", 0
    for number, line in enumerate(lines, 1):
        if not begun:
            begin = number
        begun += line[: _MOST_CHARACTERS + 1]
        if begun.endswith("\\") and len(begun) <= _MOST_CHARACTERS:
            begun = begun[:-1] + " "
            continue
        reader.take(begin, begun)
        begun = ""
    return reader.graph()


# ---- values ----


class _ValueTextError(ValueError):
    """A value that is not what its option takes."""


def _quantity(text: str, units: Mapping[str, int | str], what: str) -> Decimal:
    match = _NUMBER.match(text)
    if match is None or match[2].lower() not in units or len(text) > 40:
        raise _ValueTextError(f'{what} "{text[:40]}" is not a number with a unit of tc')
    try:
        return Decimal(match[1]) * Decimal(units[match[2].lower()])
    except InvalidOperation:
        raise _ValueTextError(f'{what} "{text[:40]}" is not a number') from None


def _rate(text: str) -> float:
    """A rate in bit/s."""
    return float(_quantity(text, _RATES, "rate"))


def _size(text: str) -> float:
    """A size in bytes."""
    return float(_quantity(text, _SIZES, "size") / 8)


def _time(text: str) -> float:
    """A time in s."""
    return float(_quantity(text, _TIMES, "time"))


def _share(text: str) -> float:
    """A share, which tc writes in percent with or without its sign."""
    return float(_quantity(text.removesuffix("%"), {"": 1}, "share") / 100)


def _count(text: str) -> int:
    """A number of packets."""
    return int(_quantity(text, {"": 1, "p": 1}, "number"))


def _plain(text: str) -> float:
    return float(_quantity(text, {"": 1}, "number"))


# ---- commands ----


@dataclass(slots=True)
class _Discipline:
    kind: str
    line: int
    words: list[str]
    is_root: bool


@dataclass(slots=True)
class _Device:
    """An interface with its disciplines, by handle, and classes of htb, by identifier."""

    line: int
    disciplines: dict[str, _Discipline] = field(default_factory=dict)
    classes: dict[str, _Discipline] = field(default_factory=dict)
    is_down: bool = False


def _key(parent: str) -> str:
    """Key of the discipline under a parent: "root", or the major number. A later discipline replaces the former one."""
    return parent if parent == "root" else parent.rstrip(":").removesuffix(":1")


_Place = tuple[str, str]  # namespace, which may be empty, and name of the interface


@dataclass(frozen=True, slots=True)
class _Command:
    """Words of a command, with its line and its time after the first one that shapes an interface, s."""

    at_s: Decimal
    line: int
    words: list[str]


class _Clock:
    """Time at which the lines of a script run.

    Attributes:
        at_s: time since the first command that shapes an interface, s.
        doubt: reason why the time of the following lines is not known; empty if it is.
    """

    def __init__(self) -> None:
        self.at_s = Decimal(0)
        self.doubt = ""
        self._is_running = False
        self._open: list[str] = []

    def start(self) -> None:
        """Count pauses from here."""
        self._is_running = True

    def enter(self, text: str) -> str:
        """Follow the loops, conditions, functions and blocks that a command opens or closes; return the rest of it."""
        head = _FUNCTION.match(text)
        if head is not None:
            self._open.append("}")
            text = text[head.end() :]
        words = text.split()
        while words and words[0] in _PREFIXES:
            words = words[1:]
        if text.strip() in ("(", "{"):
            self._open.append(")" if text.strip() == "(" else "}")
        elif words and words[0] in _BLOCKS:
            self._open.append(_BLOCKS[words[0]])
        elif words and self._open and words[0] == self._open[-1]:
            self._open.pop()
        return text

    def pause(self, line: int, words: Sequence[str]) -> None:
        """Take the pause of `sleep`."""
        if not self._is_running or self.doubt:
            return
        matches = [_PAUSE.match(word) for word in words]
        if not matches or None in matches or any(len(word) > 20 for word in words):
            self.doubt = f"the sleep on line {line} has no known length"
        elif self._open:
            what = _BLOCK_NAMES[self._open[-1]]
            self.doubt = f"the sleep on line {line} is part of a {what}"
        else:
            self.at_s += sum(Decimal(found[1]) * _PAUSES_S[found[2]] for found in matches if found is not None)


class _Reader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._notes: list[str] = []
        self._variables: dict[str, str] = {}
        self._devices: dict[_Place, _Device] = {}
        self._peers: dict[_Place, _Place] = {}
        self._clock = _Clock()
        self._commands: list[_Command] = []
        self._states: dict[_Place, list[_State]] = {}
        self._touched: dict[_Place, int] = {}  # interfaces that the current commands change, with the line

    def take(self, line: int, text: str) -> None:
        """Read a line of the file."""
        if len(text) > _MOST_CHARACTERS:
            self._note(line, f"it is longer than {_MOST_CHARACTERS} characters")
            return
        assigned = _ASSIGNMENT.match(text.strip())
        if assigned:
            self._variables[assigned[1]] = assigned[2].strip("\"'")
            return
        # A subshell in the background does not hold up the lines after it.
        before_s = self._clock.at_s if _BACKGROUND.match(text) else None
        self._take_parts(line, text)
        if before_s is not None:
            self._clock.at_s = before_s

    def _take_parts(self, line: int, text: str) -> None:
        for whole in re.split(r"&&|\|\||;", text):
            part = self._clock.enter(whole)
            if not re.search(r"\b(?:tc|ip|qdisc|sleep)\b", part):
                continue
            try:
                words = shlex.split(self._filled(part), comments=True)
            except ValueError:
                if re.search(r"\btc\b", part):
                    self._note(line, "its quotes do not match")
                continue
            while words and words[0] in _PREFIXES:
                words = words[1:]
            if words:
                self._collect(line, [words[0].lstrip("("), *words[1:]])

    def _collect(self, line: int, words: list[str]) -> None:
        """Keep a command until all of them are known in the order of their times."""
        if words[0] == "sleep":
            pauses = [word.rstrip(")") for word in words[1:] if word not in (")", "&")]
            self._clock.pause(line, pauses)
        elif self._clock.doubt:
            if "tc" in words:
                self._note(line, self._clock.doubt)
        elif self._clock.at_s > _MOST_SECONDS:
            self._note(line, f"it runs later than {_MOST_SECONDS} s")
        else:
            if _SHAPES.search(" ".join(words[:12])):
                self._clock.start()
            self._commands.append(_Command(self._clock.at_s, line, words))

    def _note(self, line: int, text: str) -> None:
        note = f"Line {line} is not read: {text}."
        if len(self._notes) < 200 and note not in self._notes:
            self._notes.append(note)

    def _filled(self, text: str) -> str:
        """The text with the values of variables in their places."""
        return _VARIABLE.sub(lambda found: self._variables.get(found[1] or found[2], found[0])[:200], text)

    def _take_words(self, line: int, words: list[str]) -> None:
        namespace = ""
        if words[:3] == ["ip", "netns", "exec"] and len(words) > 4:
            namespace, words = words[3], words[4:]
        if words[0] == "qdisc" and len(words) > 3:
            self._take_shown(line, words)
        elif words[0] in ("tc", "/sbin/tc", "/usr/sbin/tc"):
            self._take_tc(line, words[1:], namespace)
        elif words[0] in ("ip", "/sbin/ip", "/usr/sbin/ip"):
            self._take_ip(words[1:], namespace)

    def _take_tc(self, line: int, words: list[str], namespace: str) -> None:
        while words and words[0].startswith("-"):
            if words[0] in ("-n", "-netns", "-net") and len(words) > 1:
                namespace, words = words[1], words[1:]
            words = words[1:]
        if len(words) < 2 or words[0] not in ("qdisc", "q", "class", "c"):
            if words[:1] and words[0] in ("filter", "f", "action", "chain") and words[1:2] != ["show"]:
                self._note(line, f"tc {words[0]} sorts packets, which links of the simulator do not")
            return
        verb, rest = words[1], words[2:]
        if verb in ("show", "ls", "list") or "dev" not in rest[:-1]:
            return
        if any("$" in word or "`" in word or "*" in word for word in rest):
            self._note(line, "it has variables without a literal value before it")
            return
        at = rest.index("dev")
        device = (namespace, rest[at + 1])
        rest = rest[:at] + rest[at + 2 :]
        if verb in ("del", "delete"):
            self._delete(line, device, rest)
        elif verb in ("add", "replace", "change", "link") and words[0] in ("class", "c"):
            self._take_class(line, device, rest)
        elif verb in ("add", "replace", "change", "link"):
            self._take_discipline(line, device, rest, is_change=verb in ("change", "replace"))

    def _delete(self, line: int, place: _Place, words: list[str]) -> None:
        device = self._devices.get(place)
        if device is None:
            return
        if "parent" in words[:-1]:
            device.disciplines.pop(_key(words[words.index("parent") + 1]), None)
        else:
            device.disciplines.clear()
            device.classes.clear()
            device.is_down = False
        self._touched[place] = line

    def _take_discipline(self, line: int, place: _Place, words: list[str], *, is_change: bool) -> None:
        parent = "root"
        while words:
            if words[0] in ("root", "ingress", "clsact"):
                parent, words = words[0], words[1:]
            elif words[0] in ("parent", "handle") and len(words) > 1:
                parent, words = words[1] if words[0] == "parent" else parent, words[2:]
            else:
                break
        if parent in ("ingress", "clsact") or not words:
            self._note(line, "packets are shaped where they leave an interface")
            return
        self._put(line, place, parent, words, is_change=is_change)

    def _take_shown(self, line: int, words: list[str]) -> None:
        """A line such as: qdisc tbf 1: dev eth0 root refcnt 2 rate 8Mbit burst 3028b lat 53.9ms."""
        kind, rest = words[1], words[3:]
        device = "eth0"
        if rest[:1] == ["dev"] and len(rest) > 1:
            device, rest = rest[1], rest[2:]
        parent = "root"
        if rest[:1] == ["root"]:
            rest = rest[1:]
        elif rest[:1] == ["parent"] and len(rest) > 1:
            parent, rest = rest[1], rest[2:]
        if rest[:1] == ["refcnt"]:
            rest = rest[2:]
        if device != "lo":
            self._put(line, ("", device), parent, [kind, *rest], is_change=False)

    def _put(self, line: int, place: _Place, parent: str, words: list[str], *, is_change: bool) -> None:
        """Set the discipline of a parent; with `is_change`, one of the same kind keeps its children and its rate."""
        device = self._devices.setdefault(place, _Device(line))
        self._touched[place] = line
        key = _key(parent)
        kind, options = words[0], words[1:]
        if parent == "root":
            device.is_down = kind == "blackhole"
            if device.is_down:  # an outage: the disciplines before it stay for comparison
                return
        before = device.disciplines.get(key)
        if is_change and before is not None and before.kind == kind:
            if kind == "netem" and "rate" not in options and "rate" in before.words[:-1]:
                at = before.words.index("rate")
                options = [*options, *before.words[at : at + 2]]
        elif parent == "root":
            device.disciplines.clear()
            device.classes.clear()
        device.disciplines[key] = _Discipline(kind, line, options, parent == "root")

    def _take_class(self, line: int, place: _Place, words: list[str]) -> None:
        if "htb" not in words or "classid" not in words[:-1]:
            self._note(line, "classes are read of htb alone")
            return
        number = words[words.index("classid") + 1]
        options = words[words.index("htb") + 1 :]
        parent = words[words.index("parent") + 1] if "parent" in words[:-1] else "root"
        device = self._devices.setdefault(place, _Device(line))
        self._touched[place] = line
        device.classes[number] = _Discipline(parent, line, options, parent.endswith(":"))

    def _take_ip(self, words: list[str], namespace: str) -> None:
        """Read `ip link add ... type veth peer ...` and `ip link set ... netns ...`."""
        if words[:1] and words[0] in ("-n", "-netns") and len(words) > 1:
            namespace, words = words[1], words[2:]
        if words[:2] == ["link", "add"] and "veth" in words:
            rest = words[2:]
            split = rest.index("peer") if "peer" in rest else len(rest)
            ends = [_named(part, namespace) for part in (rest[:split], rest[split + 1 :])]
            if all(end[1] for end in ends):
                self._peers[ends[0]], self._peers[ends[1]] = ends[1], ends[0]
        elif words[:2] == ["link", "set"] and "netns" in words[:-1]:
            device = words[3] if words[2:3] == ["dev"] and len(words) > 3 else words[2]
            self._move((namespace, device), (words[words.index("netns") + 1], device))

    def _move(self, before: _Place, after: _Place) -> None:
        peer = self._peers.pop(before, None)
        if peer is not None:
            self._peers[after], self._peers[peer] = peer, after
        if before in self._devices:
            self._devices[after] = self._devices.pop(before)
        if before in self._states:
            self._states[after] = self._states.pop(before)
        if before in self._touched:
            self._touched[after] = self._touched.pop(before)

    # ---- links ----

    def graph(self) -> RawGraph:
        """The links of all interfaces that have been read."""
        self._run()
        if not self._states:
            raise GraphFileError(self._file, None, "holds no interface with a discipline", _ALLOWED)
        graph = RawGraph(self._file, "tc", notes=self._notes)
        done: set[_Place] = set()
        for place, states in self._states.items():
            if place in done:
                continue
            direction = states[0].direction
            peer = self._peer(place, done)
            done |= {place, peer} if peer is not None else {place}
            ends = _node_names(place, peer)
            back = self._states.get(peer) if peer is not None else None
            if back is None:
                graph.notes.append(
                    f"{place[1]} is shaped in one direction; the other one has neither a limit nor a delay."
                )
            for end in ends:
                if end not in {node.id for node in graph.nodes[-1:]} and all(node.id != end for node in graph.nodes):
                    graph.nodes.append(RawNode(end, direction.line))
            sides = (states, back or [_State(0.0, direction.line, _Direction(direction.line), True)])
            if "bucket" in direction.tables and sides[1][0].direction.rate_bps is None:
                # A direction without a rate cannot inherit a bucket, so the other direction must be the first.
                ends, sides = ends[::-1], sides[::-1]
            edge = _edge(place[1], ends, sides[0][0].direction, sides[1][0].direction)
            edge.changes += self._changes(*sides)
            graph.edges.append(edge)
            check_count(graph, direction.line)
        return graph

    def _run(self) -> None:
        """Run the commands in the order of their times, and keep the state of each interface at each time."""
        for at_s, commands in groupby(sorted(self._commands, key=lambda each: each.at_s), lambda each: each.at_s):
            self._touched.clear()
            for command in commands:
                self._take_words(command.line, command.words)
            for place, line in self._touched.items():
                device = self._devices[place]
                if at_s == 0 and not device.disciplines and not device.classes and not device.is_down:
                    del self._devices[place]  # its disciplines were deleted
                    continue
                states = self._states.setdefault(place, [])
                if not states and (at_s > 0 or device.is_down):
                    states.append(_State(0.0, line, self._direction(device), True) if at_s == 0 else _untouched(line))
                states.append(_State(float(at_s), line, self._direction(device), not device.is_down))
        for states in self._states.values():
            for state in states:
                if state.direction.rate_bps == FASTEST_BPS and len(states) > 1:
                    state.direction.rate_bps, state.direction.is_queued = None, True

    def _changes(self, forward: Sequence[_State], reverse: Sequence[_State]) -> list[RawChange]:
        """Changes of a link after its beginning, in the order of their times; equal ones of both directions as one."""
        found: dict[float, dict[str, RawChange]] = {}
        for way, states in (("forward", forward), ("reverse", reverse)):
            up = states[0]  # the latest state without an outage
            for before, state in pairwise(states):
                values = {} if state.is_up == before.is_up else {"up": "true" if state.is_up else "false"}
                if state.is_up:
                    with self._naming(state.line, "a change"):
                        values |= _differences(up.direction, state.direction)
                    for key in _UNCHANGEABLE:
                        if _fixed(up.direction, key) != _fixed(state.direction, key):
                            self._note(state.line, f"a link cannot change its {_UNCHANGEABLE[key]} during a run")
                    up = state
                if values:
                    found.setdefault(state.at_s, {})[way] = RawChange(state.at_s, state.line, way, values)
        changes: list[RawChange] = []
        for _, ways in sorted(found.items()):
            sides = list(ways.values())
            if len(sides) == 2 and sides[0].values == sides[1].values:
                sides = [replace(sides[0], direction="both")]
            changes += sides
        return changes

    def _peer(self, place: _Place, done: set[_Place]) -> _Place | None:
        if place in self._peers:
            peer = self._peers[place]
            return None if peer in done else peer
        same = [other for other in self._states if other != place and other[1] == place[1] and other not in done]
        return same[0] if len(same) == 1 else None

    def _direction(self, device: _Device) -> _Direction:
        made = _Direction(device.line)
        for discipline in device.disciplines.values():
            take = _TAKERS.get(discipline.kind)
            if take is not None:
                with self._naming(discipline.line, discipline.kind):
                    for unread in take(made, discipline):
                        self._note(discipline.line, unread)
            elif discipline.kind not in ("noqueue", "mq", "pfifo_fast", "fq", "htb"):
                self._note(discipline.line, f"links of the simulator have no {discipline.kind[:40]}")
        with self._naming(device.line, "htb"):
            self._take_htb(made, device)
        return made

    @contextmanager
    def _naming(self, line: int, kind: str) -> Iterator[None]:
        """Name file, line and discipline of a bad value."""
        try:
            yield
        except ParamError as error:
            raise GraphFileError(self._file, line, f"{kind}: {error.message}", error.allowed) from error
        except _ValueTextError as error:
            raise GraphFileError(self._file, line, f"{kind}: {error}", "numbers with units as in tc(8)") from error

    def _take_htb(self, made: _Direction, device: _Device) -> None:
        """The rate of the only leaf class of htb."""
        parents = {each.kind for each in device.classes.values()}
        leaves = [each for number, each in device.classes.items() if number not in parents]
        if len(leaves) > 1:
            self._note(leaves[1].line, "several classes of htb share an interface; the first one is read")
        for leaf in leaves[:1]:
            rate = _options(leaf.words, {"rate": _rate, "ceil": _rate})
            if "rate" in rate:
                made.rate_bps = float(rate.get("ceil", rate["rate"]))
        if leaves and made.queue is None and made.rate_bps is not None:
            made.queue = f"{made.netem_packets or _NETEM_PACKETS}pkt"


def _named(words: list[str], namespace: str) -> _Place:
    """Namespace and name of an interface in the words of `ip link add`."""
    name = ""
    place = 0
    while place < len(words):
        word = words[place]
        if word in ("name", "dev", "netns", "type", "mtu", "address") and place + 1 < len(words):
            if word == "netns":
                namespace = words[place + 1]
            elif word in ("name", "dev"):
                name = words[place + 1]
            place += 2
            continue
        name = name or word
        place += 1
    return namespace, name


def _node_names(place: _Place, peer: _Place | None) -> tuple[str, str]:
    """Names of the nodes at both ends of a link."""
    here = place[0].removeprefix(NAMESPACE_PREFIX) or "here"
    if peer is None:
        return here, f"beyond-{place[1]}"
    there = peer[0].removeprefix(NAMESPACE_PREFIX) or "here"
    return (here, there) if here != there else (place[1], peer[1] if peer[1] != place[1] else f"beyond-{peer[1]}")


# ---- disciplines ----


@dataclass(slots=True)
class _Direction:
    """Values of a direction of a link.

    Attributes:
        line: line of its first command.
        rate_bps: rate; None for unlimited.
        delay_s: delay, s.
        loss: probability of independent losses.
        netem_packets: limit of netem; None without netem or with its default.
        queue: limit of the queue, as in a scenario; None for the default.
        tables: tables of the link in a scenario, as TOML, by key.
        is_queued: whether the queue counts although the rate is unlimited, because it is limited at other times.
    """

    line: int
    rate_bps: float | None = None
    delay_s: float = 0.0
    loss: float = 0.0
    netem_packets: int | None = None
    queue: str | None = None
    tables: dict[str, str] = field(default_factory=dict)
    is_queued: bool = False

    @property
    def has_queue(self) -> bool:
        """True if packets wait at some time."""
        return self.rate_bps is not None or self.is_queued

    @property
    def queue_limit(self) -> str | None:
        """Limit of the queue, as in a scenario; None without one."""
        if not self.has_queue:
            return None
        found = _LIMIT.search(self.tables.get("queue", ""))
        return found[1] if found else self.queue

    @property
    def values(self) -> dict[str, str]:
        """Values in the words of a scenario."""
        found = {
            "rate": "unlimited" if self.rate_bps is None else format_quantity(self.rate_bps, Dimension.RATE),
            "delay": format_quantity(self.delay_s, Dimension.TIME),
        }
        if "loss" not in self.tables:
            found["loss"] = format_quantity(self.loss, Dimension.RATIO)
        if self.queue is not None and "queue" not in self.tables and self.has_queue:
            found["queue"] = self.queue
        return found


@dataclass(slots=True)
class _State:
    """State of an interface from a time on: the line of its latest command, its direction, and whether it is up."""

    at_s: float
    line: int
    direction: _Direction
    is_up: bool


def _untouched(line: int) -> _State:
    """The state of an interface before its first command."""
    return _State(0.0, line, _Direction(line), True)


_UNCHANGEABLE = {"jitter": "jitter", "bucket": "token bucket", "queue": "discipline"}


def _fixed(direction: _Direction, key: str) -> str:
    """A table of a direction without the parts that events can change."""
    if key == "queue" and not direction.has_queue:
        return ""
    return _LIMIT.sub("", direction.tables.get(key, ""))


def _differences(before: _Direction, now: _Direction) -> dict[str, str]:
    """Values of an event that turns one state into the other, as TOML, by key.

    Raises:
        ParamError: if a value is out of range.
    """
    values: dict[str, str] = {}
    old, new = before.values, now.values
    if before.rate_bps != now.rate_bps:
        values["rate"] = format_quantity(_MOST_BPS if now.rate_bps is None else now.rate_bps, Dimension.RATE)
    if old["delay"] != new["delay"]:
        values["delay"] = new["delay"]
    if old.get("loss", before.tables.get("loss")) != new.get("loss", now.tables.get("loss")):
        values["loss"] = new.get("loss", "")
    if now.queue_limit is not None and now.queue_limit != before.queue_limit:
        values["queue"] = now.queue_limit
    declared = params_by_key("event")
    for key, value in values.items():
        if value:
            declared[key].read(value)
        values[key] = render_text(value) if value else now.tables["loss"]
    return values


_NO_TABLES = {"jitter": '{ spread = "0s" }', "bucket": '{ burst = "1514B" }'}
"""Tables without effect, for the direction of a link whose other direction has one."""


def _edge(name: str, ends: tuple[str, str], forward: _Direction, reverse: _Direction) -> RawEdge:
    values: dict[str, Value] = {"name": name, **forward.values}
    back = reverse.values
    values |= {f"reverse_{key}": value for key, value in back.items() if forward.values.get(key) != value}
    if "queue" in forward.values and "queue" not in back and reverse.has_queue:
        values["reverse_queue"] = "100pkt" if reverse.queue is None else reverse.queue
    if "loss" in forward.tables and "loss" in back:
        values["reverse_loss"] = back["loss"]
    tables = dict(forward.tables)
    tables |= {f"reverse_{key}": text for key, text in reverse.tables.items() if forward.tables.get(key) != text}
    tables |= {
        f"reverse_{key}": text
        for key, text in _NO_TABLES.items()
        if key in forward.tables and key not in reverse.tables
    }
    if "queue" in tables and reverse.has_queue and "queue" not in reverse.tables:
        values["reverse_queue"] = reverse.queue or "100pkt"
    if not reverse.has_queue:
        tables.pop("reverse_queue", None)
    if not forward.has_queue:
        tables.pop("queue", None)
    return RawEdge(ends[0], ends[1], forward.line, values, tables=tables)


def _options(words: Sequence[str], known: Mapping[str, Callable[[str], float]]) -> dict[str, float]:
    """Values of the known options among the words."""
    return {word: known[word](words[place + 1]) for place, word in enumerate(words[:-1]) if word in known}


def _take_netem(made: _Direction, discipline: _Discipline) -> Iterator[str]:
    words = list(discipline.words)
    while words:
        key, words = words[0], words[1:]
        if key == "limit" and words:
            made.netem_packets, words = _count(words[0]), words[1:]
        elif key == "rate" and words:
            made.rate_bps, words = _rate(words[0]), words[1:]
            while words and _NUMBER.match(words[0]):
                words = words[1:]  # overhead and cells
        elif key in ("delay", "latency") and words:
            words = _take_delay(made, words)
        elif key in ("loss", "drop") and words:
            words = _take_loss(made, words)
        elif key in ("duplicate", "corrupt", "reorder", "gap", "slot", "ecn", "seed"):
            if key not in ("ecn", "seed"):
                yield f"netem's {key} is left out"
            while words and _NUMBER.match(words[0]):
                words = words[1:]
        else:
            yield f'netem\'s "{key[:40]}" is left out'
    if made.rate_bps is not None or not discipline.is_root:
        made.queue = f"{made.netem_packets or _NETEM_PACKETS}pkt"


def _take_delay(made: _Direction, words: list[str]) -> list[str]:
    made.delay_s, words = _time(words[0]), words[1:]
    spread_s = 0.0
    if words and _NUMBER.match(words[0]):
        spread_s, words = _time(words[0]), words[1:]
        if words and _NUMBER.match(words[0]):
            words = words[1:]  # correlation of successive delays
    kind = "uniform"
    if words[:1] == ["distribution"] and len(words) > 1:
        kind, words = words[1], words[2:]
    if spread_s > 0:
        kind = kind if kind in ("uniform", "normal", "pareto") else "normal"
        made.tables["jitter"] = _table(JITTER_TABLE, {"distribution": kind, "spread": _text(spread_s, Dimension.TIME)})
    return words


def _take_loss(made: _Direction, words: list[str]) -> list[str]:
    if words[0] == "gemodel":
        shares: list[float] = []
        words = words[1:]
        while words and _NUMBER.match(words[0]) and len(shares) < 4:
            shares.append(_share(words[0]))
            words = words[1:]
        if not shares:
            raise _ValueTextError("gemodel has no probability")
        p = shares[0]
        rest = [*shares[1:], *(1 - p, 1.0, 0.0)[len(shares) - 1 :]]
        names = ("p", "r", "bad", "good")
        values = {name: _text(share, Dimension.RATIO) for name, share in zip(names, (p, *rest), strict=True)}
        made.tables["loss"] = _table(LOSS_TABLE, values, '{ model = "gilbert", ')
        return words
    if words[0] == "state":
        raise _ValueTextError('loss "state": allowed are random and gemodel')
    if words[0] == "random":
        words = words[1:]
    if words:
        made.loss, words = _share(words[0]), words[1:]
    if words and _NUMBER.match(words[0]):
        words = words[1:]  # correlation of successive losses
    return words


def _take_tbf(made: _Direction, discipline: _Discipline) -> Iterator[str]:
    words = discipline.words
    numbers = _options(
        words,
        {
            "rate": _rate,
            "peakrate": _rate,
            "burst": _burst,
            "buffer": _burst,
            "maxburst": _burst,
            "limit": _size,
            "latency": _time,
            "lat": _time,
        },
    )
    if "rate" not in numbers:
        raise _ValueTextError("has no rate")
    made.rate_bps = numbers["rate"]
    burst_bytes = next((numbers[key] for key in ("burst", "buffer", "maxburst") if key in numbers), 0.0)
    limit_bytes = numbers.get("limit")
    for key in ("latency", "lat"):
        if key in numbers:
            limit_bytes = made.rate_bps / 8 * numbers[key] + burst_bytes
    if limit_bytes is not None and (made.netem_packets is None or made.queue is None):
        made.queue = f"{max(1, round(limit_bytes))}B"
    if burst_bytes > _FRAME_BYTES and burst_bytes != plain_burst_bytes(made.rate_bps, _MTU_BYTES):
        values: dict[str, str | float | bool] = {"burst": f"{round(burst_bytes)}B"}
        if "peakrate" in numbers:
            values["peak"] = _text(numbers["peakrate"], Dimension.RATE)
        made.tables["bucket"] = _table(BUCKET_TABLE, values)
    return iter(())


def _burst(text: str) -> float:
    return _size(text.partition("/")[0])


def _take_fifo(made: _Direction, discipline: _Discipline) -> Iterator[str]:
    if "limit" in discipline.words[:-1]:
        text = discipline.words[discipline.words.index("limit") + 1]
        made.queue = f"{round(_size(text))}B" if discipline.kind == "bfifo" else f"{_count(text)}pkt"
    return iter(())


def _take_codel(made: _Direction, discipline: _Discipline) -> Iterator[str]:
    numbers = _options(
        discipline.words,
        {
            "limit": _count,
            "target": _time,
            "interval": _time,
            "ce_threshold": _time,
            "flows": _count,
            "quantum": _size,
        },
    )
    values: dict[str, str | float | bool] = {"discipline": discipline.kind}
    if "limit" in numbers:
        values["limit"] = f"{numbers['limit']:g}pkt" if numbers["limit"] < 1e6 else f"{int(numbers['limit'])}pkt"
    for key in ("target", "interval", "ce_threshold"):
        if key in numbers:
            values[key] = _text(numbers[key], Dimension.TIME)
    if discipline.kind == "fq_codel":
        values |= {key: int(numbers[key]) for key in ("flows",) if key in numbers}
        values |= {key: f"{round(numbers[key])}B" for key in ("quantum",) if key in numbers}
    # FQ-CoDel marks by default; CoDel drops.
    values["ecn"] = "noecn" not in discipline.words if discipline.kind == "fq_codel" else "ecn" in discipline.words
    made.tables["queue"] = _table(QUEUE_TABLE, values)
    return iter(())


def _take_red(made: _Direction, discipline: _Discipline) -> Iterator[str]:
    numbers = _options(
        discipline.words,
        {"limit": _size, "min": _size, "max": _size, "avpkt": _size, "probability": _plain},
    )
    if "min" not in numbers or "max" not in numbers:
        raise _ValueTextError("has no min and max")
    packet_bytes = numbers.get("avpkt") or _FRAME_BYTES
    values: dict[str, str | float | bool] = {"discipline": "red", "mode": "classic", "gentle": False}
    for key in ("limit", "min", "max"):
        if key in numbers:
            packets = numbers[key] / packet_bytes
            values[key] = f"{max(1, round(packets)) if key == 'limit' else round(packets, 6):.12g}pkt"
    if "probability" in numbers:
        values["max_p"] = _text(numbers["probability"], Dimension.RATIO)
    if "ecn" in discipline.words:
        values["ecn"] = True
    made.tables["queue"] = _table(QUEUE_TABLE, values)
    if "adaptive" in discipline.words:
        yield "red's adaptive is left out"


def _take_dualpi2(made: _Direction, discipline: _Discipline) -> Iterator[str]:
    numbers = _options(
        discipline.words,
        {
            "limit": _count,
            "target": _time,
            "tupdate": _time,
            "alpha": _plain,
            "beta": _plain,
            "step_thresh": _time,
            "coupling_factor": _plain,
        },
    )
    values: dict[str, str | float | bool] = {"discipline": "dualpi2"}
    if "limit" in numbers:
        values["limit"] = f"{int(numbers['limit'])}pkt"
    for key, name in (("target", "delay_target"), ("tupdate", "update"), ("step_thresh", "step")):
        if key in numbers:
            values[name] = _text(numbers[key], Dimension.TIME)
    for key, name in (("alpha", "alpha"), ("beta", "beta"), ("coupling_factor", "coupling")):
        if key in numbers:
            values[name] = numbers[key]
    made.tables["queue"] = _table(QUEUE_TABLE, values)
    return iter(())


_TAKERS: Mapping[str, Callable[[_Direction, _Discipline], Iterator[str]]] = {
    "netem": _take_netem,
    "tbf": _take_tbf,
    "pfifo": _take_fifo,
    "bfifo": _take_fifo,
    "codel": _take_codel,
    "fq_codel": _take_codel,
    "red": _take_red,
    "dualpi2": _take_dualpi2,
}


def _text(value: float, dimension: Dimension) -> str:
    return format_quantity(value, dimension)


def _table(params: Sequence[Param], values: Mapping[str, str | float | bool], begin: str = "{ ") -> str:
    """A table of a scenario as TOML.

    Raises:
        ParamError: if a value is out of range.
    """
    declared = {param.key: param for param in params}
    words = []
    for key, value in values.items():
        declared[key].read(value)
        if isinstance(value, bool):
            words.append(f"{key} = {'true' if value else 'false'}")
        else:
            words.append(f"{key} = {render_text(value) if isinstance(value, str) else f'{value:.12g}'}")
    return f"{begin}{', '.join(words)} }}"
