"""Changes of a fork, typed at a prompt."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.helpers.members import for_each
from tests.helpers.scenario_texts import TWO_PATHS

from subflow_app.features.forking.core.draft import read_settings
from subflow_app.features.forking.core.origin import ForkOrigin
from subflow_app.foundation.errors import InputError
from subflow_sim.scenario import parse_scenario

MANY = TWO_PATHS + '\n[flows.many]\nkind = "tcp"\nfrom = "server"\nto = "client"\ncontroller = "cubic"\ncount = 3\n'


ORIGIN = cast(ForkOrigin, SimpleNamespace(scenario=parse_scenario(MANY)))


@for_each(
    ("settings", "changes"),
    [
        (["links.wifi.loss=5%"], [{"link": "wifi", "loss": "5%"}]),
        (["links.wifi.loss=0.05", " links.wifi.up = false"], [{"link": "wifi", "loss": 0.05, "up": False}]),
        (
            ["links.wifi.reverse.delay=5ms", "links.wifi/forward.queue.limit=9pkt"],
            [
                {"link": "wifi", "direction": "reverse", "delay": "5ms"},
                {"link": "wifi", "direction": "forward", "queue": {"limit": "9pkt"}},
            ],
        ),
        (["flows.download/2.open=false"], [{"flow": "download", "subflow": 2, "open": False}]),
        (["flows.many.3.open=false"], [{"flow": "many.3", "open": False}]),
        (["flows.many.3/1.open=false"], [{"flow": "many.3", "subflow": 1, "open": False}]),
    ],
)
def test_a_setting_is_a_change(settings: list[str], changes: list[dict[str, Any]]) -> None:
    assert read_settings(ORIGIN, 1.0, settings) == changes


@for_each(
    ("setting", "reason"),
    [
        ("links.wifi.loss", "is not a change of a run; allowed: links.NAME.KEY=VALUE"),
        ("seed=3", "is not a change of a run"),
        ("links.wify.loss=5%", 'unknown link "wify", did you mean "wifi"\\?; allowed: "wifi" or "lte"'),
        ("flows.upload.open=false", 'unknown flow "upload".*; allowed: "download" or "many"'),
        ("links.wifi.loss=500%", "too large; allowed: a ratio from 0 to"),
        ("links.wifi.ends=3", '"ends" cannot change during a run; allowed: "rate"'),
        ("links.wifi/up.loss=3%", '"up" is not a direction; allowed: "forward" or "reverse"'),
        ("flows.download/x.open=false", '"x" is not a subflow; allowed: its number'),
        ("flows.download.scheduler=ecf", '"scheduler" cannot change during a run'),
        ("links.wifi.reverse=5%", "is not a change of a run"),
        ("links.wifi.queue.limit.x=5", 'no key is below "queue.limit"'),
    ],
)
def test_a_setting_that_is_none_names_itself_and_what_is_allowed(setting: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        read_settings(ORIGIN, 1.0, [setting])
    assert str(caught.value).startswith(f'--set "{setting}"')
