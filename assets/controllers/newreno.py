"""NewReno (as text): one packet more per round trip, half the window on loss."""

title = "NewReno (as text): one packet more per round trip, half the window on loss"
source = "RFC 5681"


def on_ack(w, ack):
    left = slow_start(w, ack)
    w.cwnd += left / w.cwnd


def on_loss(w, loss):
    basis = loss.inflight if loss.is_timeout else w.cwnd
    w.ssthresh = max(basis / 2, 2)
