"""Link directions as queueing disciplines of Linux: arguments of `tc`, and what they cannot express.

A direction becomes up to three nested disciplines: netem (loss, delay, jitter), tbf (rate), and its queue. The
simulator has the queue before the delay; the order makes no difference as long as the delay is constant.

Source: tc(8), tc-netem(8), tc-tbf(8), tc-red(8), tc-codel(8), tc-fq_codel(8), tc-dualpi2(8).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from subflow_app.features.editor.core.tc_reader import ETHERNET_BYTES, FASTEST_BPS, plain_burst_bytes
from subflow_sim.queue_params import RED_CLASSIC_WEIGHT
from subflow_sim.units import Dimension, format_quantity

if TYPE_CHECKING:
    from subflow_sim.scenario import LinkDirection, QueueSpec

MANY_PACKETS = 1_000_000
"""Length of a queue that is unlimited in the simulator."""

_MOST_BYTES = 2_000_000_000
_LEAST_NETEM_PACKETS = 100_000
_SMALL_PACKET_BYTES = 64


@dataclass(frozen=True, slots=True)
class Shaping:
    """Arguments of the disciplines of a direction; an empty text means that it has no such discipline.

    Attributes:
        netem: arguments of netem, for example "delay 20ms loss 1% limit 100000".
        tbf: arguments of tbf.
        queue: name and arguments of the queue.
    """

    netem: str = ""
    tbf: str = ""
    queue: str = ""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of the disciplines."""
        named = (("netem", self.netem), ("tbf", self.tbf), (self.queue.partition(" ")[0], self.queue))
        return tuple(name for name, arguments in named if arguments)

    @property
    def lines(self) -> tuple[str, ...]:
        """Place and arguments of each discipline, as `tc qdisc replace dev NAME` takes them."""
        found = []
        parent = "root"
        for number, text in enumerate((f"netem {self.netem}", f"tbf {self.tbf}", self.queue), 1):
            if text.strip() in ("netem", "tbf", ""):
                continue
            found.append(f"{parent} handle {number}: {text}")
            parent = f"parent {number}:1"
        return tuple(found) or ("root noqueue",)


def shaping(side: LinkDirection, mtu_bytes: int, *, has_netem: bool = False, has_tbf: bool = False) -> Shaping:
    """The disciplines of a direction.

    Args:
        side: the direction; parts that Linux lacks are left out, see `lacking`.
        mtu_bytes: size of the largest IP packet, bytes.
        has_netem: True to have netem even without delay and loss, because an event brings them.
        has_tbf: True to have a token bucket even without a limit of the rate, because an event brings one.
    """
    frame_bytes = mtu_bytes + ETHERNET_BYTES
    netem = " ".join(_netem(side))
    if netem or has_netem:
        in_delay = side.delay_s * (side.rate_bps or 0.0) / 8 / _SMALL_PACKET_BYTES
        netem = f"{netem or 'delay 0ms'} limit {max(_LEAST_NETEM_PACKETS, math.ceil(in_delay))}"
    if side.rate_bps is None and not has_tbf:
        return Shaping(netem)
    rate_bps = FASTEST_BPS if side.rate_bps is None else side.rate_bps
    return Shaping(netem, _tbf(side, rate_bps, frame_bytes), _queue(side.queue, frame_bytes))


def rate_text(rate_bps: float) -> str:
    """A rate for `tc`, in whole bit/s: "8mbit"."""
    return format_quantity(round(rate_bps), Dimension.RATE).removesuffix("/s").lower()


def time_text(time_s: float) -> str:
    """A time for `tc`, in whole nanoseconds: "20ms"."""
    return format_quantity(round(time_s, 9), Dimension.TIME)


def share_text(share: float) -> str:
    """A share for `tc`: "1%"."""
    return format_quantity(share, Dimension.RATIO)


def _netem(side: LinkDirection) -> Iterator[str]:
    """Words of netem for delay and loss."""
    if side.delay_s > 0 or side.jitter is not None:
        yield f"delay {time_text(side.delay_s)}"
        if side.jitter is not None:
            yield time_text(side.jitter.spread_s)
            if side.jitter.kind in ("normal", "pareto"):
                yield f"distribution {side.jitter.kind}"
    if side.loss_model is not None:
        model = side.loss_model
        # p, r, 1-h and 1-k: steps from good to bad and back, then the losses in the bad and in the good state.
        yield f"loss gemodel {' '.join(map(share_text, (model.p, model.r, model.bad, model.good)))}"
    elif side.loss > 0:
        yield f"loss {share_text(side.loss)}"


def _tbf(side: LinkDirection, rate_bps: float, frame_bytes: int) -> str:
    burst_bytes = plain_burst_bytes(rate_bps, frame_bytes - ETHERNET_BYTES)
    words = ""
    if side.bucket is not None:
        burst_bytes = side.bucket.burst_bytes
        if side.bucket.peak_bps is not None and math.isfinite(side.bucket.peak_bps):
            words = f" peakrate {rate_text(side.bucket.peak_bps)} mtu {frame_bytes}"
    limit_bytes = side.queue.limit_bytes
    if limit_bytes is None:
        limit_bytes = min((side.queue.limit_pkts or MANY_PACKETS) * frame_bytes, _MOST_BYTES)
    return f"rate {rate_text(rate_bps)} burst {burst_bytes}{words} limit {limit_bytes}"


def _queue(queue: QueueSpec, frame_bytes: int) -> str:
    """Name and arguments of the queue; empty for a limit in bytes, which tbf has by itself."""
    options: dict[str, Any] = dict(queue.options)
    packets = queue.limit_pkts
    if packets is None:
        packets = MANY_PACKETS if queue.limit_bytes is None else max(1, queue.limit_bytes // frame_bytes)
    ecn = "ecn" if options.get("ecn") else "noecn"
    if queue.discipline == "red":
        least, most = (round(options[key] * frame_bytes) for key in ("min", "max"))
        burst = max(1, round((2 * least + most) / (3 * frame_bytes)))
        # RED needs a limit above its upper threshold, and reads the size of a packet to measure idle times.
        limit_bytes = max(queue.limit_bytes or packets * frame_bytes, most + frame_bytes)
        return (
            f"red limit {min(limit_bytes, _MOST_BYTES)} min {least} max {most} avpkt {frame_bytes} burst {burst} "
            f"probability {options['max_p']:g}" + (" ecn" if options.get("ecn") else "")
        )
    if queue.discipline in ("codel", "fq_codel"):
        words = [queue.discipline, f"limit {packets}"]
        if queue.discipline == "fq_codel":
            words.append(f"flows {options['flows']:g} quantum {options['quantum']:g}")
        words.append(f"target {time_text(options['target'])} interval {time_text(options['interval'])} {ecn}")
        if options.get("ce_threshold") is not None:
            words.append(f"ce_threshold {time_text(options['ce_threshold'])}")
        return " ".join(words)
    if queue.discipline == "dualpi2":
        return (
            f"dualpi2 limit {packets} target {time_text(options['delay_target'])} "
            f"tupdate {time_text(options['update'])} alpha {options['alpha']:g} beta {options['beta']:g} "
            f"step_thresh {time_text(options['step'])} coupling_factor {options['coupling']:g}"
        )
    return f"pfifo limit {packets}" if queue.limit_bytes is None else ""


def lacking(where: str, side: LinkDirection) -> Iterator[str]:
    """Parts of a direction that Linux does not have, one sentence each.

    Args:
        where: name of the direction, for example "links.wifi (forward)".
        side: the direction.
    """
    if side.trace is not None:
        mean = rate_text(side.rate_bps or 0.0)
        yield f"{where}: the rate trace {_shown(side.trace.file)} becomes its mean, {mean}"
    if side.delay_trace is not None:
        yield f"{where}: the delay trace {_shown(side.delay_trace.file)} becomes its mean, {time_text(side.delay_s)}"
    for name, what in (
        ("retransmission", "retransmissions of the link layer"),
        ("outages", "random outages"),
        ("handover", "hand-overs"),
        ("grants", "grants of a scheduler"),
        ("access", "access to a shared medium"),
    ):
        if getattr(side, name) is not None:
            yield f"{where}: {what} are left out"
    if side.jitter is not None:
        if side.jitter.kind == "exponential":
            yield f"{where}: exponential jitter becomes uniform, which netem has"
        if not side.reorder:
            yield f"{where}: with jitter, netem lets packets overtake one another"
    if side.rate_bps is not None:
        yield from _queue_lacking(where, side)


def _queue_lacking(where: str, side: LinkDirection) -> Iterator[str]:
    queue = side.queue
    options: dict[str, Any] = dict(queue.options)
    if queue.limit_pkts is None and queue.limit_bytes is None:
        yield f"{where}: the unlimited queue becomes one of {MANY_PACKETS} packets"
    elif queue.limit_bytes is not None and queue.discipline not in ("droptail", "red"):
        yield f"{where}: the limit of {queue.limit_bytes} B becomes one in packets"
    if queue.discipline == "red":
        if options.get("mode", "instantaneous") == "instantaneous":
            yield f"{where}: RED goes by the average queue, as Linux does, instead of the current one"
        elif options.get("weight", RED_CLASSIC_WEIGHT) != RED_CLASSIC_WEIGHT:
            yield f"{where}: RED has the weight that tc derives from its burst, instead of {options['weight']:g}"
        if options.get("gentle", True):
            yield f"{where}: RED drops everything above max, because Linux has no gentle RED"
    if queue.discipline == "dualpi2" and options.get("ramp"):
        yield f"{where}: DualPI2 has a step instead of a ramp, as in Linux"
    if queue.discipline == "dualpi2" and options["coupling"] != int(options["coupling"]):
        yield f"{where}: DualPI2's coupling {options['coupling']:g} must be a whole number in Linux"


def _shown(name: str) -> str:
    return "".join(each if each.isprintable() else "?" for each in name)[:80]
