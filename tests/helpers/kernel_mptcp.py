"""The congestion controllers of the MPTCP kernel 0.92 in whole numbers: an oracle for ``arithmetic = "kernel"``.

Written after the modules of multipath-tcp.org (net/mptcp/mptcp_coupled.c, mptcp_olia.c, mptcp_balia.c, mptcp_wvegas.c)
and the surrounding code of Linux 4.4 (net/ipv4/tcp_input.c, tcp_cong.c), independently of the controllers here: names
and integer widths are the kernel's. A packet is 1428 bytes: 1500 bytes of Ethernet without the headers, timestamps and
MPTCP's option.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

MSS = 1428
INFINITE_SSTHRESH = 0x7FFFFFFF


def u16(number: int) -> int:
    return number & 0xFFFF


def u32(number: int) -> int:
    return number & 0xFFFFFFFF


def u64(number: int) -> int:
    return number & 0xFFFFFFFFFFFFFFFF


def towards_nought(dividend: int, divisor: int) -> int:
    return dividend // divisor if dividend >= 0 else -(-dividend // divisor)


@dataclass(eq=False)
class Socket:
    """State of a subflow from tcp_sock. `ca` is the state of its module."""

    srtt_us: int
    """Eight times the smoothed round-trip time in microseconds, as in the kernel."""
    snd_cwnd: int
    snd_ssthresh: int = INFINITE_SSTHRESH
    snd_cwnd_cnt: int = 0
    snd_una: int = 0
    snd_nxt: int = 0
    state: str = "open"
    is_cwnd_limited: bool = True
    ca: dict[str, Any] = field(default_factory=dict)

    @property
    def in_slow_start(self) -> bool:
        return self.snd_cwnd < self.snd_ssthresh

    def slow_start(self, acked: int) -> int:
        """The function tcp_slow_start: returns the acknowledged packets beyond ssthresh."""
        reached = min(self.snd_cwnd + acked, self.snd_ssthresh)
        acked -= reached - self.snd_cwnd
        self.snd_cwnd = reached
        return acked

    def reno_cong_avoid(self, acked: int) -> None:
        """The function tcp_reno_cong_avoid with tcp_cong_avoid_ai."""
        if not self.is_cwnd_limited:
            return
        if self.in_slow_start:
            acked = self.slow_start(acked)
            if acked == 0:
                return
        window = self.snd_cwnd
        if self.snd_cwnd_cnt >= window:
            self.snd_cwnd_cnt = 0
            self.snd_cwnd += 1
        self.snd_cwnd_cnt += acked
        if self.snd_cwnd_cnt >= window:
            packets = self.snd_cwnd_cnt // window
            self.snd_cwnd_cnt -= packets * window
            self.snd_cwnd += packets

    def reno_ssthresh(self) -> int:
        return max(self.snd_cwnd >> 1, 2)


class Module:
    """Default behaviour of all modules. `meta` is their state at the connection."""

    def __init__(self) -> None:
        self.sockets: list[Socket] = []
        self.meta: dict[str, Any] = {}

    def begin(self, sockets: list[Socket]) -> None:
        """Stores the subflows in the order in which they joined."""
        self.sockets = sockets
        for sk in sockets:
            self.init(sk)

    def listed(self) -> Iterator[Socket]:
        """The loop mptcp_for_each_sk: mptcp_add_sock puts a joining subflow at the head of the list."""
        return reversed(self.sockets)

    @property
    def cnt_established(self) -> int:
        return len(self.sockets)

    def init(self, sk: Socket) -> None: ...
    def pkts_acked(self, sk: Socket, rtt_us: int) -> None: ...
    def cong_avoid(self, sk: Socket, acked: int) -> None:
        raise NotImplementedError

    def ssthresh(self, sk: Socket) -> int:
        return sk.reno_ssthresh()

    def set_state(self, sk: Socket, state: str) -> None: ...
    def loss_event(self, sk: Socket) -> None:
        """CA_EVENT_LOSS: a timeout, after ssthresh is set and before the window is."""

    def complete_cwr_event(self, sk: Socket) -> None:
        """CA_EVENT_COMPLETE_CWR: a recovery has ended, with cwnd at ssthresh."""


class Lia(Module):
    """The module mptcp_coupled.c."""

    def init(self, sk: Socket) -> None:
        self.meta |= {"alpha": 1, "forced_update": False}

    def recalc_alpha(self) -> None:
        alpha = 1
        if self.cnt_established > 1:
            max_numerator = best_cwnd = best_rtt = 0
            for sk in self.listed():
                numerator = (sk.snd_cwnd << 32) // (sk.srtt_us * sk.srtt_us)
                if numerator >= max_numerator:
                    max_numerator, best_cwnd, best_rtt = numerator, sk.snd_cwnd, sk.srtt_us
            denominator = 0
            for sk in self.listed():
                denominator += u64((sk.snd_cwnd << 10) * best_rtt) // sk.srtt_us
            denominator = u64(denominator * denominator)
            alpha = max((best_cwnd << 32) // denominator, 1)
        self.meta["alpha"] = alpha

    def loss_event(self, sk: Socket) -> None:
        self.recalc_alpha()

    def set_state(self, sk: Socket, state: str) -> None:
        self.meta["forced_update"] = True

    def cong_avoid(self, sk: Socket, acked: int) -> None:
        if not sk.is_cwnd_limited:
            return
        if sk.in_slow_start:
            sk.slow_start(acked)
            self.recalc_alpha()
            return
        if self.meta["forced_update"]:
            self.recalc_alpha()
            self.meta["forced_update"] = False
        wanted = sk.snd_cwnd
        if self.cnt_established > 1:
            wanted = max((1 << 12) // self.meta["alpha"], wanted)
        if sk.snd_cwnd_cnt >= wanted:
            sk.snd_cwnd += 1
            self.recalc_alpha()
            sk.snd_cwnd_cnt = 0
        else:
            sk.snd_cwnd_cnt += 1


class Olia(Module):
    """The module mptcp_olia.c."""

    def init(self, sk: Socket) -> None:
        first = u32(sk.snd_una * MSS)
        sk.ca = {"loss1": first, "loss2": first, "loss3": first, "num": 0, "den": 1, "cnt": 0}

    @staticmethod
    def crt_cwnd(sk: Socket) -> int:
        return sk.snd_ssthresh if sk.state == "recovery" else sk.snd_cwnd

    @staticmethod
    def interval(sk: Socket) -> int:
        return max(u32(sk.ca["loss3"] - sk.ca["loss2"]), u32(sk.ca["loss2"] - sk.ca["loss1"]))

    def get_epsilon(self) -> None:
        max_cwnd = max(self.crt_cwnd(sk) for sk in self.listed())
        best_int, best_rtt = 0, 1
        for sk in self.listed():
            rtt = sk.srtt_us * sk.srtt_us
            if u64(self.interval(sk) * best_rtt) >= u64(best_int * rtt):
                best_int, best_rtt = self.interval(sk), rtt

        def is_best(sk: Socket) -> bool:
            return u64(self.interval(sk) * best_rtt) == u64(best_int * sk.srtt_us * sk.srtt_us)

        largest = [sk for sk in self.listed() if self.crt_cwnd(sk) == max_cwnd]
        collected = [sk for sk in self.listed() if self.crt_cwnd(sk) != max_cwnd and is_best(sk)]
        for sk in self.listed():
            sk.ca |= {"num": 0, "den": 1}
            if collected and sk in collected:
                sk.ca |= {"num": 1, "den": self.cnt_established * len(collected)}
            elif collected and sk in largest:
                sk.ca |= {"num": -1, "den": self.cnt_established * len(largest)}

    def get_rate(self, path_rtt: int) -> int:
        rate = 1
        for sk in self.listed():
            rate += u64((self.crt_cwnd(sk) << 10) * path_rtt) // sk.srtt_us
        return u64(rate * rate)

    def set_state(self, sk: Socket, state: str) -> None:
        if state in ("loss", "recovery") and sk.ca["loss3"] != sk.ca["loss2"]:
            sk.ca["loss1"], sk.ca["loss2"] = sk.ca["loss2"], sk.ca["loss3"]

    def cong_avoid(self, sk: Socket, acked: int) -> None:
        ca = sk.ca
        ca["loss3"] = u32(sk.snd_una * MSS)
        if not sk.is_cwnd_limited:
            return
        if sk.in_slow_start:
            sk.slow_start(acked)
            return
        self.get_epsilon()
        rate = self.get_rate(sk.srtt_us)
        coupled = u64(ca["den"] * (sk.snd_cwnd << 10) ** 2)
        inc_den = u64(ca["den"] * sk.snd_cwnd * rate) or 1
        if ca["num"] == -1:
            # Both branches of the kernel divide a non-negative number.
            ca["cnt"] += towards_nought((coupled - rate) * (1 << 10), inc_den)
        else:
            ca["cnt"] += u64(u64(ca["num"] * rate + coupled) << 10) // inc_den
        if ca["cnt"] >= 1023:
            sk.snd_cwnd += 1
            ca["cnt"] = 0
        elif ca["cnt"] <= -1023:
            sk.snd_cwnd = max(1, sk.snd_cwnd - 1)
            ca["cnt"] = 0


class Balia(Module):
    """The module mptcp_balia.c. Its forced_update, set at the subflow and read at the connection, has no effect."""

    def init(self, sk: Socket) -> None:
        sk.ca = {"ai": 0, "md": 0}

    def recalc_ai(self, tp: Socket) -> None:
        ai, md = tp.snd_cwnd, tp.snd_cwnd >> 1
        rates = [MSS * sk.snd_cwnd * 8_000_000 // sk.srtt_us for sk in self.listed()]
        rate = MSS * tp.snd_cwnd * 8_000_000 // tp.srtt_us
        if self.cnt_established > 1 and rate != 0:
            max_rate = max(rates)
            alpha = max_rate // rate
            scaled_down = 0
            while max_rate > 1 << 25:
                max_rate >>= 5
                scaled_down += 1
            sum_rate = sum(each >> (5 * scaled_down) for each in rates)
            rate >>= 5 * scaled_down
            ai = u64(u64(sum_rate * sum_rate) * 10) // (rate + max_rate)
            ai = u64(ai * tp.snd_cwnd) // ((rate << 2) + max_rate)
            ai = ai or tp.snd_cwnd
            md = ((tp.snd_cwnd >> 1) * min(alpha << 10, (3 << 10) >> 1)) >> 10
        tp.ca |= {"ai": ai, "md": md}

    def loss_event(self, sk: Socket) -> None:
        self.recalc_ai(sk)

    def complete_cwr_event(self, sk: Socket) -> None:
        self.recalc_ai(sk)

    def cong_avoid(self, sk: Socket, acked: int) -> None:
        if not sk.is_cwnd_limited:
            return
        if sk.in_slow_start:
            sk.slow_start(acked)
            self.recalc_ai(sk)
            return
        wanted = u32(sk.ca["ai"]) if self.cnt_established > 1 else sk.snd_cwnd
        if sk.snd_cwnd_cnt >= wanted:
            sk.snd_cwnd += 1
            self.recalc_ai(sk)
            sk.snd_cwnd_cnt = 0
        else:
            sk.snd_cwnd_cnt += 1

    def ssthresh(self, sk: Socket) -> int:
        if self.cnt_established <= 1:
            return sk.reno_ssthresh()
        # If the window has fallen below md, the kernel's difference wraps, which removes the limit. The controller here
        # differs and keeps the window.
        return max(sk.snd_cwnd - sk.ca["md"] if sk.ca["md"] <= sk.snd_cwnd else sk.snd_cwnd, 1)


class WVegas(Module):
    """The module mptcp_wvegas.c."""

    def enable(self, sk: Socket) -> None:
        sk.ca |= {
            "doing_wvegas_now": True,
            "beg_snd_nxt": sk.snd_nxt,
            "cnt_rtt": 0,
            "sampled_rtt": 0,
            "instant_rate": 0,
            "alpha": 2,
            "weight": 1 << 16,
            "queue_delay": 0,
        }

    def init(self, sk: Socket) -> None:
        sk.ca = {"base_rtt": 0x7FFFFFFF}
        self.enable(sk)

    def pkts_acked(self, sk: Socket, rtt_us: int) -> None:
        vrtt = rtt_us + 1
        sk.ca["base_rtt"] = min(sk.ca["base_rtt"], vrtt)
        sk.ca["sampled_rtt"] = u32(sk.ca["sampled_rtt"] + vrtt)
        sk.ca["cnt_rtt"] = u16(sk.ca["cnt_rtt"] + 1)

    def set_state(self, sk: Socket, state: str) -> None:
        if state == "open":
            self.enable(sk)
        else:
            sk.ca["doing_wvegas_now"] = False

    def loss_event(self, sk: Socket) -> None:
        sk.ca["instant_rate"] = 0

    def weight(self, sk: Socket) -> int:
        total = sum(each.ca["instant_rate"] for each in self.listed() if each.ca["sampled_rtt"] > 0)
        if total and sk.ca["instant_rate"]:
            return int((sk.ca["instant_rate"] << 16) // total)
        return int(sk.ca["weight"])

    def judge(self, sk: Socket, acked: int) -> None:
        ca = sk.ca
        base = ca["base_rtt"]
        rtt = ca["sampled_rtt"] // ca["cnt_rtt"]
        target = sk.snd_cwnd * base // rtt
        diff = sk.snd_cwnd * (rtt - base) // rtt
        if sk.in_slow_start and diff > 1:
            sk.snd_cwnd = min(sk.snd_cwnd, target + 1)
            sk.snd_ssthresh = min(sk.snd_ssthresh, sk.snd_cwnd)
        elif sk.in_slow_start:
            sk.slow_start(acked)
        else:
            if diff >= ca["alpha"]:
                ca["instant_rate"] = (sk.snd_cwnd << 16) // rtt
                ca["weight"] = self.weight(sk)
                ca["alpha"] = max(2, (ca["weight"] * 10) >> 16)
            if diff > ca["alpha"]:
                sk.snd_cwnd -= 1
                sk.snd_ssthresh = min(sk.snd_ssthresh, sk.snd_cwnd)
            elif diff < ca["alpha"]:
                sk.snd_cwnd += 1
            q_delay = rtt - base
            if ca["queue_delay"] == 0 or ca["queue_delay"] > q_delay:
                ca["queue_delay"] = q_delay
            if q_delay >= 2 * ca["queue_delay"]:
                backoff_factor = (base << 16) // (2 * rtt)
                sk.snd_cwnd = (sk.snd_cwnd * backoff_factor) >> 16
                ca["queue_delay"] = 0
        sk.snd_cwnd = max(sk.snd_cwnd, 2)
        # tcp_current_ssthresh
        sk.snd_ssthresh = max(sk.snd_ssthresh, (sk.snd_cwnd >> 1) + (sk.snd_cwnd >> 2))

    def cong_avoid(self, sk: Socket, acked: int) -> None:
        ca = sk.ca
        if not ca["doing_wvegas_now"]:
            sk.reno_cong_avoid(acked)
            return
        if sk.snd_una > ca["beg_snd_nxt"]:
            ca["beg_snd_nxt"] = sk.snd_nxt
            if ca["cnt_rtt"] <= 2:
                sk.reno_cong_avoid(acked)
            else:
                self.judge(sk, acked)
            ca["cnt_rtt"] = 0
            ca["sampled_rtt"] = 0
        elif sk.in_slow_start:
            sk.slow_start(acked)


MODULES: dict[str, type[Module]] = {"lia": Lia, "olia": Olia, "balia": Balia, "wvegas": WVegas}


class KernelConnection:
    """A connection that receives ACKs, losses and recoveries one by one. Times are in ns, as in the simulator."""

    def __init__(self, module: str, srtt_ns: list[int], cwnd_pkts: int) -> None:
        self.sockets = [Socket(srtt_us=max(each * 8 // 1000, 1), snd_cwnd=cwnd_pkts) for each in srtt_ns]
        self.module = MODULES[module]()
        self.module.begin(self.sockets)

    def acknowledge(
        self, subflow: int, pkts: int, rtt_ns: int, srtt_ns: int, snd_nxt: int, is_cwnd_limited: bool
    ) -> None:
        """The function tcp_ack without SACK."""
        sk = self.sockets[subflow]
        sk.snd_una += pkts
        sk.snd_nxt = snd_nxt
        sk.srtt_us = max(srtt_ns * 8 // 1000, 1)
        sk.is_cwnd_limited = is_cwnd_limited
        self.module.pkts_acked(sk, rtt_ns // 1000)
        if sk.state != "recovery":
            self.module.cong_avoid(sk, pkts)

    def lose(self, subflow: int, by_timeout: bool) -> None:
        """The functions tcp_enter_recovery or tcp_enter_loss."""
        sk = self.sockets[subflow]
        sk.snd_ssthresh = min(self.module.ssthresh(sk), INFINITE_SSTHRESH)
        if by_timeout:
            self.module.loss_event(sk)
        sk.snd_cwnd_cnt = 0
        sk.state = "loss" if by_timeout else "recovery"
        self.module.set_state(sk, sk.state)
        sk.snd_cwnd = 1 if by_timeout else sk.snd_ssthresh

    def recover(self, subflow: int, snd_nxt: int) -> None:
        """Returns to TCP_CA_Open, from recovery through tcp_end_cwnd_reduction."""
        sk = self.sockets[subflow]
        was_recovery = sk.state == "recovery"
        sk.snd_nxt = snd_nxt
        if was_recovery:
            sk.snd_cwnd = sk.snd_ssthresh
        sk.state = "open"
        self.module.set_state(sk, "open")
        if was_recovery:
            self.module.complete_cwr_event(sk)

    def set_window(self, subflow: int, cwnd_pkts: int) -> None:
        self.sockets[subflow].snd_cwnd = cwnd_pkts
