"""PCC (as text): tries a rate above and one below, and goes where the utility is better."""

title = "PCC (as text): tries rates, and follows a utility of rate, RTT growth and loss"
source = "after Dong et al., NSDI 2018 (PCC Vivace)"

probe = option(0.05, min=0.01, max=0.3, help="How far above and below its rate it tries, as a share.")
latency_weight = option(900, min=0, max=1e6, help="What growing round-trip times count against a rate.")
loss_weight = option(11.35, min=0, max=1e6, help="What losses count against a rate.")
noise = option(0.01, min=0, max=1, help="Slopes of the round-trip time that are smaller count as nil.")
first_rate = option(100, min=1, max=1e6, unit="pkt/s", help="The rate it begins with; doubled while that pays.")
least_rate = option(40, min=1, max=1e6, unit="pkt/s", help="It never falls below this.")
mbit = option(1e6, min=1, max=1e12, unit="1/s", help="Rates count in this many bits per second.")

my = state(
    rate=0,
    is_starting=True,
    trial=1,  # what is being tried; the tag of an interval is 8 * trial + its place in it, from 1
    planned=0,  # intervals of the trial that were begun
    best=0,  # utility so far, in the start
    best_rate=0,  # that had it
    first=0,  # utility of the first probe of a pair
    votes=0,  # pairs for going up less those for going down
    slope=0,  # utility for each Mbit/s, of all pairs together
    direction=0,
    streak=0,  # steps in that direction, one after the other
)


def cap(w, srtt):
    """What may be under way of which nothing is heard: the rate is what counts."""
    return max(2.5 * w.rate * srtt, 4)


def megabits(rate, moment):
    return rate * moment.packet_bits / mbit


def plan(w, moment):
    if my.rate == 0:
        my.rate = first_rate
    if moment.srtt == 0:  # nothing is known yet
        w.rate = my.rate
        return interval(0.1, min_packets=5)
    my.rate = max(my.rate, least_rate, 2 / moment.srtt)
    w.rate = my.rate
    tag = 0
    if my.planned < (1 if my.is_starting else 4):
        my.planned += 1
        tag = 8 * my.trial + my.planned
        if not my.is_starting:  # up, down, down, up
            w.rate = my.rate * (1 + probe if my.planned == 1 or my.planned == 4 else 1 - probe)
    w.cwnd = cap(w, moment.srtt)
    return interval(moment.srtt, min_packets=5, tag=tag)


def on_interval(w, record, moment):
    x = megabits(record.send_rate, moment)
    slope = 0
    if known(record.rtt_gradient) and record.rtt_gradient > max(noise, record.rtt_gradient_error):
        slope = record.rtt_gradient
    record.utility = x**0.9 - x * (latency_weight * slope + loss_weight * record.loss_ratio)
    if record.tag // 8 != my.trial:
        return
    if record.is_app_limited or record.sent == 0 or record.send_rate < 0.8 * record.rate:
        my.trial += 1  # tells nothing of the rate: try again
        my.planned = 0
        my.votes = 0
        my.slope = 0
        return

    if my.is_starting:
        my.trial += 1
        my.planned = 0
        if record.utility > my.best:
            my.best = record.utility
            my.best_rate = my.rate
            my.rate *= 2
        else:
            my.rate = my.best_rate if my.best_rate > 0 else my.rate / 2
            my.is_starting = False
            w.ssthresh = w.cwnd
        return now

    place = record.tag % 8
    if place == 1 or place == 3:
        my.first = record.utility
        return
    gain = my.first - record.utility if place == 2 else record.utility - my.first  # of going up
    my.votes += 1 if gain > 0 else -1 if gain < 0 else 0
    my.slope += gain / (2 * probe * megabits(my.rate, moment))
    if place == 2:
        return

    if abs(my.votes) == 2:  # both pairs say the same
        direction = 1 if my.votes > 0 else -1
        my.streak = my.streak + 1 if direction == my.direction else 1
        my.direction = direction
        at = megabits(my.rate, moment)
        step = min(my.streak * abs(my.slope) / 2, probe * my.streak * at, 0.5 * at)
        my.rate *= 1 + direction * step / at
    my.trial += 1
    my.planned = 0
    my.votes = 0
    my.slope = 0
    return now


def on_every_ack(w, ack):
    if w.rate > 0:
        w.cwnd = cap(w, ack.srtt)  # a timeout has left one packet


def on_loss(w, loss):
    # Losses count when the fate of their interval is known; after a timeout the trial is full of silence.
    if loss.is_timeout:
        if my.is_starting and my.best_rate > 0:
            my.rate = my.best_rate
        else:
            my.rate /= 2
        my.is_starting = False
        my.trial += 1
        my.planned = 0
        my.votes = 0
        my.slope = 0
    w.ssthresh = max(w.cwnd / 2, 4)
