"""OLIA (as text): opportunistic linked increases."""

title = "OLIA (as text): traffic on the best paths only, a probe on the others"
source = "Khalili et al., CoNEXT 2012, equations (5) and (6)"

tolerance = 1e-3  # ranks this close are equal: round-trip times are never the same to the nanosecond


def distance(s):
    """Packets acknowledged between two losses, or since the last one if these are more."""
    return max(s.acked_since_loss, s.acked_between_losses)


def rank(s):
    return distance(s) / (s.srtt * s.srtt)


def on_ack(w, ack, siblings):
    left = slow_start(w, ack)
    if len(siblings) == 1:
        w.cwnd += left / w.cwnd
        return
    if left == 0:
        return
    best = max(rank(s) for s in siblings) * (1 - tolerance)
    largest = max(floor(s.cwnd) for s in siblings)

    # The paths with the largest window, and the best ones that are not among them
    n_largest = 0
    n_collected = 0
    for s in siblings:
        if floor(s.cwnd) == largest:
            n_largest += 1
        elif rank(s) >= best:
            n_collected += 1

    own = siblings.own
    alpha = 0
    if n_collected > 0:
        if floor(own.cwnd) == largest:
            alpha = -1 / (len(siblings) * n_largest)
        elif rank(own) >= best:
            alpha = 1 / (len(siblings) * n_collected)

    total = sum(s.rate for s in siblings)
    coupled = own.cwnd / (own.srtt * own.srtt) / (total * total)
    w.cwnd = max(w.cwnd + left * (coupled + alpha / w.cwnd), 1)


def on_loss(w, loss, siblings):
    basis = loss.inflight if loss.is_timeout else w.cwnd
    w.ssthresh = max(basis / 2, 1 if len(siblings) > 1 else 2)
