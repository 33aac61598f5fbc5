"""Round robin (as text): the subflows with room in turn."""

title = "Round robin (as text): the subflows with room in turn"
source = "Linux mptcp_rr.c"

num_segments = option(1, min=1, max=255, unit="pkt", help="Packets that a subflow gets in a row.")

per = per_subflow(used=0)


def select(subflows, packet):
    if packet.is_reinjection:
        return best(subflows, by=lambda s: 0, where=lambda s: s.is_available)
    # One in the middle of its turn comes before one that has yet to have it.
    if not any(s.is_available and per[s].used < num_segments for s in subflows):
        for s in subflows:
            if s.is_available:
                per[s].used = 0
    turn = best(
        subflows,
        by=lambda s: per[s].used == 0,
        where=lambda s: s.is_available and per[s].used < num_segments,
    )
    if turn is None:
        return wait
    per[turn].used += 1
    return turn
