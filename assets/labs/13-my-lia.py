"""My LIA: so far two NewRenos that know nothing of each other."""

title = "My LIA"
source = "RFC 6356 section 3"


def on_ack(w, ack, siblings):
    left = slow_start(w, ack)  # packets that are left for congestion avoidance
    # Here a NewReno grows by 1/cwnd for each packet. LIA takes the lesser of that and of
    #     max(cwnd/RTT²) / (sum cwnd/RTT)²
    # where max and sum go over all subflows: max(s.cwnd / s.srtt for s in siblings), say.
    w.cwnd += left / w.cwnd


def on_loss(w, loss):
    basis = loss.inflight if loss.is_timeout else w.cwnd
    w.ssthresh = max(basis / 2, 2)
