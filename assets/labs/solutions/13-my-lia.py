"""My LIA: together the subflows take what one TCP would."""

title = "My LIA"
source = "RFC 6356 section 3"


def on_ack(w, ack, siblings):
    left = slow_start(w, ack)  # packets that are left for congestion avoidance
    total = sum(s.cwnd / s.srtt for s in siblings)
    linked = max(s.cwnd / (s.srtt * s.srtt) for s in siblings) / (total * total)
    w.cwnd += left * min(linked, 1 / w.cwnd)  # no faster than a TCP on this path


def on_loss(w, loss):
    basis = loss.inflight if loss.is_timeout else w.cwnd
    w.ssthresh = max(basis / 2, 2)
