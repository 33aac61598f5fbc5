"""BDP (as text): a fixed window in bandwidth-delay products, paced at a fixed share of the largest delivery rate."""

title = "BDP (as text): a little more than a bandwidth-delay product in flight"
source = "a reference of the arena, docs/arena.md; no published algorithm"

gain = option(1.05, min=0.1, max=4, help="Pacing rate over the largest delivery rate.")
cap = option(1.15, min=0.5, max=4, help="Window in bandwidth-delay products, without the 3 packets on top.")

my = state(rate=windowed_max(over=3))  # largest delivery rate of the last 3 s, packets per second


def on_delivery(w, sample):
    my.rate.update(sample.rate, at=sample.now)


def on_ack(w, ack):
    slow_start(w, ack)
    if w.cwnd >= w.ssthresh:
        # The 3 packets keep a small window from stalling on delayed ACKs.
        w.cwnd = max(cap * my.rate * ack.min_rtt + 3, 4)
        w.rate = max(gain * my.rate, 4 / ack.srtt)


def on_loss(w, loss):
    w.ssthresh = max(w.cwnd * 0.9, 2)  # ends slow start; afterwards losses change nothing
