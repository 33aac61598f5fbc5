"""Initial texts of new scripts."""

from __future__ import annotations

from collections.abc import Mapping

from subflow_sim.scenario_model import ScriptKind

_CONTROLLER = '''"""NAME: its behaviour, in a line."""

title = "Its behaviour, in a line"
# source = "RFC 6356"

# Values that a scenario can set: controller = { name = "NAME", gain = 0.5 }
gain = option(1.0, min=0, max=10, help="Packets per round trip that the window grows by.")

# Values remembered from call to call.
my = state(losses=0)


def on_ack(w, ack):
    """An ACK arrived and the window limited sending: increase it."""
    left = slow_start(w, ack)  # the packets of the ACK that slow start leaves for congestion avoidance
    w.cwnd += gain * left / w.cwnd


def on_loss(w, loss):
    """Packets were lost: set w.ssthresh, the window after the loss."""
    my.losses += 1
    if loss.is_timeout:
        w.ssthresh = max(loss.inflight / 2, 2)
    else:
        w.ssthresh = max(w.cwnd / 2, 2)
'''

_SCHEDULER = '''"""NAME: its choice of a subflow, in a line."""

title = "Its choice of a subflow, in a line"
work_conserving = True  # the only subflow with room is taken without asking

# Values remembered of each subflow.
per = per_subflow(packets=0)


def select(subflows, packet):
    """A packet needs a subflow: return one, or `wait`."""
    s = best(subflows, by=lambda s: (s.has_sent_this, s.srtt), where=lambda s: s.is_available)
    if s is None:  # none has room
        return wait
    per[s].packets += 1
    return s
'''

SKELETONS: Mapping[ScriptKind, str] = {"controller": _CONTROLLER, "scheduler": _SCHEDULER}
"""Runnable scripts by kind, with NAME in place of the script's name."""
