"""Logs of ss: common formats of times, several connections, MPTCP subflows, logs without times."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.features.measured.core.reading import column, imported
from tests.helpers.members import for_each

from subflow_app.foundation.errors import InputError

HEADING = "State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process\n"


def socket(cwnd: int, acked: int, *, port: int = 5001, more: str = "", lead: str = "") -> str:
    return (
        f"{lead}ESTAB  0      0          10.0.0.1:{port}       10.0.0.2:40001\n"
        f"\t cubic wscale:7,7 rto:204 rtt:40.5/2.25 ato:40 mss:1400 pmtu:1500 rcvmss:536 advmss:1448 cwnd:{cwnd}"
        f" ssthresh:7 bytes_sent:{acked + 1000} bytes_acked:{acked} segs_out:90 send 3.9Mbps lastsnd:4"
        f" pacing_rate 12.5Mbps delivery_rate 8Mbps app_limited unacked:9 minrtt:39.9{more}\n"
    )


@for_each(
    "stamps",
    [
        ("1690000000.10\n", "1690000000.20\n", "1690000000.30\n"),
        ("# 1690000000100\n", "# 1690000000200\n", "# 1690000000300\n"),
        ("2023-07-22T04:26:40.1\n", "2023-07-22T04:26:40.2\n", "2023-07-22T04:26:40.3\n"),
        ("2023-07-22 04:26:40,100000+00:00\n", "2023-07-22 04:26:40,200000+00:00\n", "2023-07-22 04:26:40,3+00:00\n"),
        ("04:26:40.1\n", "04:26:40.2\n", "04:26:40.3\n"),
    ],
)
def test_times_between_the_outputs(tmp_path: Path, stamps: tuple[str, ...]) -> None:
    text = "".join(stamp + HEADING + socket(10 + k, 100_000 * k) for k, stamp in enumerate(stamps))
    run = imported(tmp_path / "ss.log", text, kind="ss")
    assert run.interval_s == pytest.approx(0.1)
    assert column(run, "cwnd_pkts:measured/1") == [10.0, 11.0, 12.0]
    same = {"srtt_s": 0.0405, "min_rtt_s": 0.0399, "pacing_rate_bps": 12.5e6, "inflight_pkts": 9.0}
    for name, value in same.items():
        assert column(run, f"{name}:measured/1") == pytest.approx([value] * 3), name
    for name in ("goodput_bps", "throughput_bps"):
        assert column(run, f"{name}:measured/1")[1:] == pytest.approx([8e6, 8e6], rel=1e-4), name
    assert run.mss_bytes == 1400


def test_dates_as_date_prints_them(tmp_path: Path) -> None:
    for stamps in (
        ("Sat Jul 22 04:26:40 UTC 2023\n", "Sat Jul 22 04:26:41 UTC 2023\n"),
        ("Sat 22 Jul 2023 04:26:40 AM CEST\n", "Sat 22 Jul 2023 04:26:41 AM CEST\n"),
    ):
        run = imported(tmp_path / "ss.log", "".join(stamp + socket(10 + k, 0) for k, stamp in enumerate(stamps)))
        assert run.interval_s == 1.0
        assert column(run, "cwnd_pkts:measured/1") == [10.0, 11.0]


def test_ts_puts_times_before_every_line(tmp_path: Path) -> None:
    lines = (socket(10, 0) + socket(12, 1000)).splitlines()
    stamps = ("Jul 22 04:26:40.0", "Jul 22 04:26:40.0", "Jul 22 04:26:40.5", "Jul 22 04:26:40.5")
    text = "".join(f"{stamp} {line}\n" for stamp, line in zip(stamps, lines, strict=True))
    run = imported(tmp_path / "ss.log", text, kind="ss")
    assert run.interval_s == 0.5
    assert column(run, "cwnd_pkts:measured/1") == [10.0, 12.0]


def test_retransmissions_are_counted_from_one_output_to_the_next(tmp_path: Path) -> None:
    more = ("", " retrans:1/2 lost:1", " retrans:0/5")
    text = "".join(f"169000000{k}\n" + socket(10, 0, more=each) for k, each in enumerate(more))
    run = imported(tmp_path / "ss.log", text, kind="ss")
    assert column(run, "losses_pkts:measured/1")[1:] == [2.0, 3.0]


def test_connections_are_subflows_and_tokens_tell_whose(tmp_path: Path) -> None:
    first = " tcp-ulp-mptcp flags:Mmec token:0000(id:0)/aaaa(id:0) seq:1"
    second = " tcp-ulp-mptcp flags:Jjec token:0000(id:1)/aaaa(id:2) seq:1"
    other = " tcp-ulp-mptcp flags:Mmec token:1111(id:0)/bbbb(id:0) seq:1"
    connections = [(10, 5001, first), (20, 5002, second), (30, 5003, other)]
    output = "".join(socket(cwnd, 0, port=port, more=more) for cwnd, port, more in connections)
    text = f"1690000000\n{output}1690000001\n{output}"
    run = imported(tmp_path / "ss.log", text, kind="ss", flow="download")
    assert column(run, "cwnd_pkts:download/2") == [20.0, 20.0]
    assert column(run, "cwnd_pkts:download.2/1") == [30.0, 30.0]
    assert "download/2: 2 samples." in run.notices
    assert not any("10.0.0" in notice for notice in run.notices)
    named = imported(tmp_path / "ss.log", text, flow="download", is_addressed=True)
    assert "download/2 is 10.0.0.1:5002 to 10.0.0.2:40001, 2 samples." in named.notices
    summary = run.summary()
    assert [flow["name"] for flow in summary["flows"]] == ["download", "download.2"]
    assert summary["flows"][0]["mean_rtt_s"] == pytest.approx(0.0405)


def test_without_times_the_interval_is_asked_for(tmp_path: Path) -> None:
    text = (HEADING + socket(10, 0) + socket(5, 0, port=5002)) * 2 + HEADING + socket(12, 0)
    with pytest.raises(InputError, match=r"ss.log has no times: .* --interval 100ms"):
        imported(tmp_path / "ss.log", text, kind="ss")
    run = imported(tmp_path / "ss.log", text, kind="ss", interval_s=0.2)
    assert column(run, "cwnd_pkts:measured/1") == [10.0, 10.0, 12.0]
    assert run.interval_s == pytest.approx(0.2)


def test_what_has_no_figures_is_refused(tmp_path: Path) -> None:
    for output in (HEADING, "ESTAB 0 0 10.0.0.1:5001 10.0.0.2:4000\n"):
        with pytest.raises(InputError, match="no connection of ss -tin in it"):
            imported(tmp_path / "ss.log", f"1690000000\n{output}", format="ss")
