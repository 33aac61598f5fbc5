"""A sweep on two processes: they start, share the work, and make the very runs that one process makes."""

from __future__ import annotations

from subflow_app.selftest.check import Check, Place, require

_WORDS = ("sweep", "t-2link", "--axis", "flows.mptcp.controller=lia,olia", "--seeds", "1..2", "--no-store")


def check(place: Place) -> str:
    """Makes it both ways."""
    for jobs in (2, 1):
        place.subflow(*_WORDS, "--jobs", jobs, "--out", f"by-{jobs}.csv", "--long", may_speak=True)
    by_two, by_one = ((place.folder / f"by-{jobs}.csv").read_bytes() for jobs in (2, 1))
    require(by_two.count(b"\n") > 4, "the table of results is empty")
    require(by_two == by_one, "two processes made other results than one")
    return f"4 runs on two processes, the same {by_two.count(bytes([10])) - 1} figures as on one"


CHECK = Check("sweep", check)
