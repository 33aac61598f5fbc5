"""Better than LIA: a loss without a queue is no sign of others, and takes little."""

title = "Better than LIA"

keep = option(0.5, min=0.1, max=1, help="Share of the window after a loss.")
keep_random = option(0.9, min=0.1, max=1, help="Share of the window after a loss while nothing is queued.")
share = option(0.25, min=0, max=1, help="Delay that counts as a queue, as a share of the lowest round-trip time.")

my = state(lowest=inf)


def on_every_ack(w, ack):
    my.lowest = ack.min_rtt


def on_ack(w, ack, siblings):
    left = slow_start(w, ack)
    total = sum(s.cwnd / s.srtt for s in siblings)
    linked = max(s.cwnd / (s.srtt * s.srtt) for s in siblings) / (total * total)
    if ack.srtt < (1 + share) * my.lowest:  # room for everybody: as a TCP
        linked = 1 / w.cwnd
    w.cwnd += left * min(linked, 1 / w.cwnd)


def on_loss(w, loss):
    basis = loss.inflight if loss.is_timeout else w.cwnd
    is_queue = loss.is_timeout or loss.srtt > (1 + share) * my.lowest
    w.ssthresh = max((keep if is_queue else keep_random) * basis, 2)
