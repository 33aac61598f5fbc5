"""Unusual names that occur in real files nevertheless: every display of names must handle them."""

from __future__ import annotations

HOSTILE_NAMES = (
    "10.0.0.1",
    "fe80::1.eth0",
    "web.v2",
    "a/b/c",
    "/",
    ".",
    "..",
    "a/1/2",
    "x.3/2",
    "100 %2E",
    'say "hi", it\'s',
    "two\nlines",
    "tab\there\r\nand more",
    "\u202etxt.exe\u202c \u2066x",
    "bell\x07\x1b[31m",
    "nul-free \x01",
    "$x^2$ \\frac & <b>&amp;</b>",
    "=1+1",
    "goodput_bps",
    "flows.x.mean_rtt_s",
    "transport.x",
    "日本語 🎈",
    "n" * 300,
)
