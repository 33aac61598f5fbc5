"""The command that prints receive buffers by the rule."""

from __future__ import annotations

import pytest
from tools.receive_buffers import lines, main


def test_it_prints_the_buffer_by_the_rule_beside_the_stated_one():
    assert list(lines("t-1link")) == ["mptcp 580kB, stated: 580kB", "tcp 290kB, stated: 290kB"]
    faster = ["links.path1.rate=16Mbit/s", "links.path2.rate=16Mbit/s", "links.path1.queue=133pkt"]
    faster.append("links.path2.queue=133pkt")
    assert list(lines("drlcc-sc1", faster)) == ["download 310kB, stated: 160kB"]


def test_calls_have_no_buffer_and_an_unlimited_buffer_is_shown():
    assert [line.partition(",")[2] for line in lines("vivace-cubic")] == [" stated: unlimited"] * 2
    assert [line.partition(" ")[0] for line in lines("t-10d")] == ["mptcp"]


def test_a_wrong_name_or_key_is_refused(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="usage"):
        main([])
    for wrong, message in ((["t-3link"], "t-3link"), (["t-1link", "links.top.rate=1Mbit/s"], "top")):
        with pytest.raises(SystemExit, match=message):
            main(wrong)
    main(["rlx-fixed"])
    assert capsys.readouterr().out == "download 630kB, stated: 630kB\n"
