"""Better than LIA: so far LIA itself."""

title = "Better than LIA"

keep = option(0.5, min=0.1, max=1, help="Share of the window after a loss.")


def on_ack(w, ack, siblings):
    left = slow_start(w, ack)
    total = sum(s.cwnd / s.srtt for s in siblings)
    linked = max(s.cwnd / (s.srtt * s.srtt) for s in siblings) / (total * total)
    w.cwnd += left * min(linked, 1 / w.cwnd)


def on_loss(w, loss):
    basis = loss.inflight if loss.is_timeout else w.cwnd
    w.ssthresh = max(keep * basis, 2)
