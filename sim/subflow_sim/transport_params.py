"""The keys of `[transport]`: behaviour of TCP where the RFCs leave a choice, and the values of each profile."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from subflow_sim.parameter import Param
from subflow_sim.scenario_model import OptionValue, Profile
from subflow_sim.units import Dimension

TRANSPORT: tuple[Param, ...] = (
    Param(
        "initial_window",
        Dimension.COUNT,
        "Packets that a new subflow may send before the first ACK (RFC 6928). Default: 10.",
        minimum=1,
        maximum=10_000,
        field="initial_window_pkts",
    ),
    Param(
        "handshake",
        Dimension.FLAG,
        "Opens each subflow with SYN and SYN-ACK packets, which take time and may be lost; further subflows begin "
        "when the first has data acknowledged. Otherwise a flow may send as soon as it starts, and further subflows "
        "a round trip later. Default: set by the profile, true or false.",
    ),
    Param(
        "syn_retries",
        Dimension.COUNT,
        "Number of times that an unanswered SYN is sent again after the first four (net.ipv4.tcp_syn_retries). The "
        "intervals are 1 s five times, then 2, 4, 8 s and so on; after the last one the subflow is given up. "
        "Default: 6, which is 131 s.",
        minimum=0,
        maximum=127,
    ),
    Param(
        "loss_detection",
        Dimension.CHOICE,
        'When a packet counts as lost. "dupack": three packets sent later have arrived (RFC 6675). "rack": one '
        "packet sent later has arrived and a reordering window has passed; a probe finds losses at the end of a "
        "flight (RFC 8985). Default: set by the profile, rack or dupack.",
        choices=("rack", "dupack"),
    ),
    Param(
        "dsack",
        Dimension.FLAG,
        "The receiver reports packets that it got twice (RFC 2883). Default: set by the profile, true or false.",
    ),
    Param(
        "delayed_ack",
        Dimension.CHOICE,
        'When the receiver acknowledges. "off": every packet. "rfc": every second packet, or after 200 ms (RFC '
        '1122, RFC 5681). "linux": at once while the connection begins and its receive window opens, then every '
        "second one, or after 40 to 200 ms as packets are spaced. Default: set by the profile, linux or off.",
        choices=("off", "rfc", "linux"),
    ),
    Param(
        "delayed_ack_timeout",
        Dimension.TIME,
        'How long an ACK may be delayed; with "linux" where packets follow each other closely. Default: 200 ms for '
        '"rfc", 40 ms for "linux".',
        minimum=0.0,
        exclusive_minimum=True,
        maximum=0.5,
    ),
    Param(
        "quick_acks",
        Dimension.COUNT,
        'How many packets "linux" acknowledges at once at the start, after a duplicate and after a long silence; '
        "at most half of those that fit into the receive window. ACKs that open the receive window come on top. "
        "Default: 16.",
        minimum=0,
        maximum=1000,
    ),
    Param(
        "rto",
        Dimension.CHOICE,
        'How the retransmission timeout follows the RTT. "rfc6298": srtt + 4 rttvar, at least rto_min. "linux": '
        "srtt plus a margin, the largest 4 rttvar of the last round trips but at least rto_min; a timeout within a "
        "recovery does not lower ssthresh again. Default: as in the profile, linux or rfc6298.",
        choices=("rfc6298", "linux"),
        field="rto_rule",
    ),
    Param(
        "rto_min",
        Dimension.TIME,
        "Lower bound of the retransmission timeout, or of the margin that it adds to the RTT; see rto. Linux uses "
        "200 ms, RFC 6298 asks for 1 s. Default: 200 ms.",
        minimum=0.0,
        maximum=60.0,
    ),
    Param(
        "rto_max",
        Dimension.TIME,
        "Upper bound of the retransmission timeout, including back-off. Default: set by the profile, 120 s or 60 s.",
        minimum=1.0,
        maximum=1000.0,
    ),
    Param(
        "prr",
        Dimension.CHOICE,
        'Proportional rate reduction: how the cwnd shrinks during a recovery. "off": at once (RFC 6675). '
        '"rfc6937": over the round trip, with the slow-start reduction bound. "linux": the same, but more '
        "careful while losses continue (RFC 9937). Default: set by the profile, linux or off.",
        choices=("off", "rfc6937", "linux"),
    ),
    Param(
        "undo",
        Dimension.FLAG,
        "Undoes a reduction of the cwnd when timestamps or reports of duplicates show that nothing was lost (RFC "
        "3522, RFC 3708). Default: set by the profile, true or false.",
    ),
    Param(
        "cwnd_validation",
        Dimension.CHOICE,
        'Growth of a cwnd that is not fully used. "off": it still grows. "hold": it does not grow. '
        '"decay": moreover, after one timeout it moves half-way to what is used (RFC 2861). Default: set by the '
        "profile, decay or hold.",
        choices=("off", "hold", "decay"),
    ),
    Param(
        "idle_restart",
        Dimension.CHOICE,
        'The cwnd after a pause longer than the retransmission timeout. "off": unchanged. "rfc5681": at most the '
        'initial window. "linux": halved for each timeout that passed, down to the initial window. Default: set by '
        "the profile, linux or off.",
        choices=("off", "rfc5681", "linux"),
    ),
    Param(
        "ecn",
        Dimension.CHOICE,
        "Explicit congestion notification: queues with ecn = true mark packets instead of dropping them, and senders "
        'respond as to a loss, without retransmitting. "rfc3168": the receiver echoes marks until the sender '
        'confirms. "accecn": it counts them (RFC 9768). Packets of controllers that do not respond to marks, such '
        "as bbr and the learned ones, are dropped as usual. Default: off.",
        choices=("off", "rfc3168", "accecn"),
    ),
    Param(
        "dss_option",
        Dimension.SIZE,
        "Bytes that MPTCP's DSS option (RFC 8684) takes from the payload of each packet of an mptcp flow: with 24, "
        "1424 of 1500 bytes on the wire are data. Default: set by the profile, 24 bytes (as Linux) or none.",
        minimum=0,
        maximum=40,
    ),
    Param(
        "tso",
        Dimension.FLAG,
        "Paced packets leave in bursts, as Linux hands them to a network card that splits them (TSO): a "
        "millisecond's worth of the rate, at least 2 packets and at most 64 kB, more where the RTT is below 3 ms. "
        "The mean rate stays the same. For controllers that pace. Default: false.",
    ),
)
"""All keys of the section, in the order in which forms show them. An omitted key has the value of the profile."""

PROFILES: Mapping[Profile, Mapping[str, OptionValue]] = MappingProxyType(
    {
        "linux": MappingProxyType(
            {
                "initial_window": 10,
                "handshake": True,
                "syn_retries": 6,
                "loss_detection": "rack",
                "dsack": True,
                "delayed_ack": "linux",
                "quick_acks": 16,
                "rto": "linux",
                "rto_min": 0.2,
                "rto_max": 120.0,
                "prr": "linux",
                "undo": True,
                "cwnd_validation": "decay",
                "idle_restart": "linux",
                "ecn": "off",
                "dss_option": 24,
                "tso": False,
            }
        ),
        "textbook": MappingProxyType(
            {
                "initial_window": 10,
                "handshake": False,
                "syn_retries": 6,
                "loss_detection": "dupack",
                "dsack": False,
                "delayed_ack": "off",
                "quick_acks": 16,
                "rto": "rfc6298",
                "rto_min": 0.2,
                "rto_max": 60.0,
                "prr": "off",
                "undo": False,
                "cwnd_validation": "hold",
                "idle_restart": "off",
                "ecn": "off",
                "dss_option": 0,
                "tso": False,
            }
        ),
    }
)
"""Values of each profile, without `delayed_ack_timeout`, whose default depends on `delayed_ack`."""

_DELAYED_ACK_TIMEOUTS_S = {"off": 0.04, "rfc": 0.2, "linux": 0.04}


def effective_transport(profile: Profile, given: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """The value of every transport option, in the order of `TRANSPORT`.

    Args:
        profile: profile that supplies the omitted options.
        given: values by key from a scenario file.

    Returns:
        SI values by key: times in seconds, the initial window in packets.
    """
    chosen = {**PROFILES[profile], **given}
    chosen.setdefault("delayed_ack_timeout", _DELAYED_ACK_TIMEOUTS_S.get(str(chosen["delayed_ack"]), 0.04))
    return {param.key: chosen[param.key] for param in TRANSPORT}
