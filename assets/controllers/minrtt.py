"""minRTT (as text): the fastest subflow with room."""

title = "minRTT (as text): the subflow with room that has the lowest round-trip time"
source = "Linux MPTCP default scheduler (mptcp_sched.c)"

work_conserving = True
opportunistic_retransmission = True
penalisation = True


def select(subflows, packet):
    # One that has not sent this packet yet comes before one that has.
    return best(subflows, by=lambda s: (s.has_sent_this, s.srtt), where=lambda s: s.is_available)
