"""Vegas (as text): a few packets queued, judged by the round-trip times."""

title = "Vegas (as text): two to four packets queued, backs off before packets are lost"
source = "Brakmo, O'Malley, Peterson, SIGCOMM 1994; Linux tcp_vegas.c"

alpha = option(2, min=0, max=1e6, unit="pkt", help="Grow while fewer packets than this are queued.")
beta = option(4, min=0, max=1e6, unit="pkt", help="Shrink while more packets than this are queued.")
gamma = option(1, min=0, max=1e6, unit="pkt", help="Leave slow start when more packets than this are queued.")

my = state(
    lowest=inf,  # of the round trip under way
    samples=0,
    round_rtt=0,  # of the one that the present ACK ended
    round_samples=0,
    is_round_over=False,
    is_enabled=True,  # not while losses are being repaired
)


def on_every_ack(w, ack):
    my.lowest = min(my.lowest, ack.rtt)
    my.samples += 1
    my.is_round_over = ack.begins_round
    if my.is_round_over:
        my.round_rtt = my.lowest
        my.round_samples = my.samples
        my.lowest = inf
        my.samples = 0


def on_ack(w, ack):
    if my.is_enabled and my.is_round_over and my.round_samples > 2:
        queued = w.cwnd * (my.round_rtt - ack.min_rtt) / my.round_rtt
        if w.cwnd < w.ssthresh:
            if queued > gamma:
                w.cwnd = min(w.cwnd, w.cwnd - queued + 1)
                w.ssthresh = min(w.ssthresh, w.cwnd - 1)
            else:
                slow_start(w, ack)
        elif queued > beta:
            w.cwnd -= 1
            w.ssthresh = min(w.ssthresh, w.cwnd - 1)
        elif queued < alpha:
            w.cwnd += 1
        w.cwnd = max(w.cwnd, 2)
        w.ssthresh = max(w.ssthresh, 0.75 * w.cwnd)
    elif not my.is_enabled or my.is_round_over:
        left = slow_start(w, ack)
        w.cwnd += left / w.cwnd
    elif w.cwnd < w.ssthresh:
        slow_start(w, ack)


def on_loss(w, loss):
    basis = loss.inflight if loss.is_timeout else w.cwnd
    w.ssthresh = max(basis / 2, 2)
    my.is_enabled = False


def on_recovery_exit(w, ack):
    my.is_enabled = True
    my.is_round_over = False
    my.lowest = inf
    my.samples = 0
