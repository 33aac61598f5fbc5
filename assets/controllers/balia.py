"""BALIA (as text): balanced linked adaptation."""

title = "BALIA (as text): between LIA's responsiveness and OLIA's load balancing"
source = "draft-walid-mptcp-congestion-control-04 section 3.1"


def on_ack(w, ack, siblings):
    left = slow_start(w, ack)
    if len(siblings) == 1:
        w.cwnd += left / w.cwnd
        return
    if left == 0:
        return
    own = siblings.own
    total = sum(s.rate for s in siblings)
    alpha = max(s.rate for s in siblings) / own.rate
    coupled = own.cwnd / (own.srtt * own.srtt) / (total * total)
    w.cwnd += left * (coupled * ((1 + alpha) / 2) * ((4 + alpha) / 5))


def on_loss(w, loss, siblings):
    if len(siblings) == 1 or loss.is_timeout:
        basis = loss.inflight if loss.is_timeout else w.cwnd
        w.ssthresh = max(basis / 2, 1 if len(siblings) > 1 else 2)
        return
    alpha = max(s.rate for s in siblings) / siblings.own.rate
    w.ssthresh = max(w.cwnd - w.cwnd / 2 * min(alpha, 1.5), 1)
