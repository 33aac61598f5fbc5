"""CUBIC (as text): a cubic curve over the time since the last loss."""

title = "CUBIC (as text): a cubic curve over the time since the last loss"
source = "RFC 9438"

fast_convergence = option(True, help="Give up more when the window was still below the one before it.")
reno_friendly = option(True, help="Never grow slower than NewReno would.")

steepness = option(0.4, min=0.001, max=100, unit="pkt/s3", help="C of the RFC: how steep the curve is.")

beta = 0.7  # what is left of the window after a loss (section 4.6)
alpha = 3 * (1 - beta) / (1 + beta)  # with it, Reno-friendly growth has the mean window of Reno (section 4.3)

my = state(
    w_max=0,  # 0: no loss so far
    cwnd_prior=0,  # before the last reduction
    has_epoch=False,
    is_after_timeout=False,
    began=0,  # the epoch: the time since the first ACK of congestion avoidance
    origin=0,  # w_max of it
    k=0,  # when the curve is back there
    w_est=0,  # what Reno would have
    last_ack=0,
    was_idle=False,
)


def on_every_ack(w, ack):
    # Time in which the window was not in use does not count (section 5.8).
    if my.was_idle:
        sent = ack.now - ack.oldest_rtt  # nothing was under way from the ACK before until then
        if sent > my.last_ack:
            my.began += sent - my.last_ack
    elif not ack.is_cwnd_limited:
        my.began += ack.now - my.last_ack
    my.last_ack = ack.now
    my.was_idle = ack.inflight == 0


def on_ack(w, ack):
    if w.cwnd < w.ssthresh:
        my.has_epoch = False
    left = slow_start(w, ack)
    if left == 0:
        return
    if not my.has_epoch:
        if my.w_max == 0:  # slow start was left without a loss
            my.cwnd_prior = w.cwnd
        # After that, or a timeout, the window is where the curve is flat (sections 4.8 and 4.10).
        if my.w_max == 0 or my.is_after_timeout or w.cwnd >= my.w_max:
            my.w_max = w.cwnd
        my.is_after_timeout = False
        my.origin = my.w_max
        my.k = cbrt(max(my.w_max - w.cwnd, 0) / steepness)
        my.w_est = w.cwnd
        my.began = ack.now
        my.has_epoch = True

    # Reno's own pace once the window from before the reduction is reached again (section 4.3)
    my.w_est += (1 if my.w_est >= my.cwnd_prior else alpha) * left / w.cwnd
    t = ack.now - my.began
    d = t - my.k
    curve = steepness * d * d * d + my.origin
    if reno_friendly and curve < my.w_est:
        w.cwnd = max(w.cwnd, my.w_est)
        return
    # Where the curve will be a round trip from now, at most half as much again (section 4.2)
    ahead = t + ack.srtt - my.k
    target = min(max(steepness * ahead * ahead * ahead + my.origin, w.cwnd), 1.5 * w.cwnd)
    w.cwnd += left * (target - w.cwnd) / w.cwnd


def on_loss(w, loss):
    my.cwnd_prior = w.cwnd
    # Fast convergence: make room for newcomers (section 4.7).
    my.w_max = w.cwnd * (1 + beta) / 2 if fast_convergence and w.cwnd < my.w_max else w.cwnd
    w.ssthresh = max(beta * w.cwnd, 2)
    my.has_epoch = False
    my.is_after_timeout = loss.is_timeout
