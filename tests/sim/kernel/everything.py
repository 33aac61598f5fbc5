"""Everything that a controller of the kernel may use (only for tests)."""

over = option(0.5, min=0.01, max=100, unit="s", help="x")
fast = option(True, help="faster")
LIMIT = 3.5
my = state(
    bw=windowed_max(over=0.3), low=windowed_min(over=over), mean=ewma(weight=0.125), was=False, last=0, seen=0, sum=0
)


def sq(x):
    return x**2


def on_start(w):
    w.rate = 10


def on_every_ack(w, ack, siblings):
    my.low.update(ack.rtt, at=ack.now)
    my.mean.update(ack.srtt)
    my.last = ack.now - ack.oldest_rtt
    my.seen += 1 if ack.begins_round and ack.in_recovery else 0
    lowest = min((s.srtt for s in siblings if not s.own), default=1)
    my.sum = sum(s.cwnd / s.srtt for s in siblings if s.window > 20) + ack.marked / lowest
    w.advertised = count(s.advertised > 0 for s in siblings) - len(siblings) / 3
    for s in siblings:
        for t in siblings:
            if s.srtt < t.srtt and s.acked_since_loss > t.acked_between_losses:
                my.sum += s.rate - t.rate / t.srtt * ack.rtt
    fastest = best(siblings, by=lambda s: (floor(s.srtt * 20), s.cwnd), where=lambda s: s.window > 2)
    my.was = known(my.mean) and fastest.own


def on_ack(w, ack, siblings):
    left = slow_start(w, ack)
    if any(s.cwnd > 90 for s in siblings) and not my.was:
        w.cwnd = max(LIMIT, abs(sin_like(my.last / ack.srtt)) + cbrt(-w.cwnd) + sqrt(left) + exp(-my.mean / ack.srtt) + log(w.cwnd))
    elif all(s.cwnd > 10 for s in siblings) or fast:
        w.cwnd += left / w.cwnd + sq(left) // 3 % 5 - ceil(my.low / ack.rtt) + w.cwnd**0.3 * pow(2, -3)
    w.cwnd = max(w.cwnd, 1)
    w.rate = max(my.bw, 4 / ack.srtt)


def sin_like(x):
    return x - x**3 / 6 + x**5 / 120


def on_delivery(w, sample):
    my.bw.update(sample.rate, at=sample.now)
    if sample.lost > 3 and not sample.is_app_limited and not sample.in_loss:
        my.seen += sample.delivered - sample.prior_delivered - sample.prior_inflight
    my.last = sample.interval + (sample.now - my.last if my.last > 0 else 0)


def on_loss(w, loss, siblings):
    basis = loss.inflight if loss.is_timeout else w.cwnd
    w.ssthresh = max(basis / 2, 2) if not loss.is_mark else max(0.8 * w.cwnd, siblings.own.cwnd / 4, 1)


def on_recovery_exit(w, ack):
    my.was = False
