"""Where the formula of a rule is from, as something that can be opened."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

# Of papers and programs, by what their part of a source begins with. A paper that is not here is told without a link.
_ADDRESSES: Mapping[str, str] = {
    "Brakmo": "https://doi.org/10.1145/190314.190317",
    "Cardwell": "https://doi.org/10.1145/3012426.3022184",
    "Dong et al.": "https://www.usenix.org/conference/nsdi18/presentation/dong",
    "Ferlin": "https://doi.org/10.1109/IFIPNetworking.2016.7497206",
    "Gilad": "https://doi.org/10.1145/3386367.3432030",
    "Khalili": "https://doi.org/10.1145/2413176.2413178",
    "Lim": "https://doi.org/10.1145/3143361.3143376",
    "Raiciu": "https://www.usenix.org/conference/nsdi12/technical-sessions/presentation/raiciu",
    "Xu et al.": "https://doi.org/10.1109/JSAC.2019.2904358",
    "PCC-Uspace": "https://github.com/PCCproject/PCC-Uspace",
    "as in vivace": "https://github.com/PCCproject/PCC-Uspace",
    "Linux MPTCP": "https://github.com/multipath-tcp/mptcp",
    "Linux mptcp_": "https://github.com/multipath-tcp/mptcp",
    "Linux tcp_bbr": "https://github.com/torvalds/linux/blob/master/net/ipv4/tcp_bbr.c",
    "Linux tcp_cubic": "https://github.com/torvalds/linux/blob/master/net/ipv4/tcp_cubic.c",
    "Linux tcp_vegas": "https://github.com/torvalds/linux/blob/master/net/ipv4/tcp_vegas.c",
    "Linux tcp_enter": "https://github.com/torvalds/linux/blob/master/net/ipv4/tcp_input.c",
    "Linux tcp_reinit": "https://github.com/torvalds/linux/blob/master/net/ipv4/tcp_cong.c",
    "Linux tcp_cwnd": "https://github.com/torvalds/linux/blob/master/net/ipv4/tcp_output.c",
}
_RFC = re.compile(r"RFC (\d+)(?: sections? (\d+(?:\.\d+)*))?")
_DRAFT = re.compile(r"(draft-[a-z0-9-]+)(?: section (\d+(?:\.\d+)*))?")
# A source is a list; within a part of it only an RFC begins another one.
_SEPARATOR = re.compile(r"; |, (?=RFC )")


@dataclass(frozen=True, slots=True)
class RuleSource:
    """A part of a source.

    Attributes:
        text: "RFC 6356 section 3".
        url: where it can be read; empty: not known.
    """

    text: str
    url: str


def rule_sources(source: str) -> tuple[RuleSource, ...]:
    """The parts of the source of a rule, in order; none of a rule without a source."""
    return tuple(RuleSource(part, _address(part)) for part in _SEPARATOR.split(source) if part)


def _address(part: str) -> str:
    if rfc := _RFC.match(part):
        section = f"#section-{rfc[2]}" if rfc[2] else ""
        return f"https://www.rfc-editor.org/rfc/rfc{rfc[1]}{section}"
    if draft := _DRAFT.match(part):
        section = f"#section-{draft[2]}" if draft[2] else ""
        return f"https://datatracker.ietf.org/doc/html/{draft[1]}{section}"
    return next((url for start, url in _ADDRESSES.items() if part.startswith(start)), "")
