"""Shy (as text): a bandwidth-delay product in flight, and less of it while a queue does not drain."""

title = "Shy (as text): a bandwidth-delay product in flight, less of it while a queue stands"
source = "a reference of the arena, docs/arena.md; no published algorithm"

cap = option(1.02, min=0.5, max=4, help="Window in bandwidth-delay products, without the 3 packets on top.")
shy = option(0.7, min=0.05, max=4, help="The same while a queue stands.")
own = option(0.1, min=0, max=1, help="A queue stands from this share of the lowest RTT on.")

my = state(
    rate=windowed_max(over=3),  # largest delivery rate of the last 3 s, packets per second
    low=inf,  # lowest RTT of the current eight round trips, s
    rounds=0,
    queue=0,  # lowest queueing delay of the eight round trips before, over the lowest RTT of all
)


def on_delivery(w, sample):
    my.rate.update(sample.rate, at=sample.now)


def on_every_ack(w, ack):
    my.low = min(my.low, ack.rtt)
    my.rounds += 1 if ack.begins_round else 0
    if my.rounds == 8:
        my.queue = my.low / ack.min_rtt - 1
        my.low = inf
        my.rounds = 0
    slow_start(w, ack)
    if w.cwnd >= w.ssthresh:
        # The 3 packets keep a small window from stalling on delayed ACKs.
        w.cwnd = max((shy if my.queue > own else cap) * my.rate * ack.min_rtt + 3, 4)
        w.rate = max(1.1 * my.rate, 4 / ack.srtt)


def on_loss(w, loss):
    w.ssthresh = max(w.cwnd * 0.9, 2)  # ends slow start; afterwards losses change nothing
