"""Instants made by hand, with packets at places chosen by a test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from subflow_sim.instant import FlowsNow, Instant, LinksNow, PacketsUnderWay, SubflowsNow


class P(NamedTuple):
    """A packet: link direction, subflow, kind, progress, and its place in the queue."""

    link: str
    subflow: str
    kind: int = 0
    progress: float = 0.0
    queue_position: int = -1


def make_instant(now_s: float, packets: Sequence[P], links: Sequence[str], subflows: Sequence[str]) -> Instant:
    order = sorted(packets, key=lambda each: links.index(each.link))
    count = len(order)
    under_way = PacketsUnderWay(
        np.array([links.index(each.link) for each in order], np.int32),
        np.array([subflows.index(each.subflow) for each in order], np.int32),
        np.array([each.kind for each in order], np.uint8),
        np.arange(count, dtype=np.uint32),
        np.full(count, 1500, np.uint16),
        np.array([each.progress for each in order], np.float32),
        np.array([each.queue_position for each in order], np.int32),
    )
    queues = np.array(
        [sum(each.link == link and each.queue_position >= 0 for each in order) for link in links], np.int32
    )
    zeros = np.zeros(len(links), np.int64)
    full = np.full(len(subflows), 10.0)
    return Instant(
        now_s,
        under_way,
        LinksNow(tuple(links), queues, queues.astype(np.int64) * 1500, np.full(len(links), True), zeros, zeros),
        SubflowsNow(
            tuple(subflows), full > 0, ("open",) * len(subflows), full, full / 2, full - 1, *([full * 0.01] * 4)
        ),
        FlowsNow((), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.bool_)),
    )
