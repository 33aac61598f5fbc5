"""The script of pages that describes causes: the same titles as in window and terminal."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from PySide6.QtQml import QJSEngine, QJSValue
from PySide6.QtWidgets import QApplication
from tests.helpers.web_core import ASSETS

from subflow_app.features.exporting.core.web_page import told_words
from subflow_sim.fates import FATES, SIGNS
from subflow_sim.simulation import mark_kinds

FULL: dict[str, Any] = {
    "time_s": 21.746,
    "sent_s": 21.6,
    "fate_s": 21.609,
    "seq": 5,
    "overtaken_s": None,
    "lost_acks": 0,
    "sign": SIGNS.index("reordering_window"),
    "fate": FATES.index("queue_full"),
    "link": "lte/forward",
    "queue_pkts": 100,
    "limit_pkts": 100,
    "ack_link": "",
}
DOWN = FULL | {
    "fate": FATES.index("down"),
    "link": "wifi/reverse",
    "sign": SIGNS.index("rto"),
    "fate_s": 25.5,
    "time_s": 26.0,
}
LATE = FULL | {"fate": FATES.index("arrived"), "link": "", "fate_s": 21.8, "limit_pkts": None}


@pytest.fixture(scope="module")
def script(qapp: QApplication) -> QJSEngine:
    """The script in a JavaScript engine without a page, and a run whose link wifi goes down at 25 s."""
    assert qapp is not None  # the engine needs an application
    made = QJSEngine()
    source = (ASSETS / "page" / "story.js").read_text(encoding="utf-8")
    words = json.dumps(told_words(None)["words"])
    down = [name for name, _scope in mark_kinds()].index("link_down")
    # Formats of numbers come from another script, which needs a browser.
    text = f"""
    var page = (() => {{
      const told_words = {words}, INSTANT = 0.5e-9;
      const local = (text) => text, spaced = (name) => name.split("_").join(" ");
      const seconds = (time) => Number(time.toFixed(3)) + " s", mark_kind = (kind) => told_words.marks[kind];
      const quantity = (value) => value < 1 ? Number((1e3 * value).toPrecision(3)) + " ms" : value + " s";
      {source}
      const run = {{
        info: {{ links: [{{ name: "lte" }}, {{ name: "wifi" }}], duration_s: 60 }},
        scenario: {{ links: [{{ rate: 8e6 }}, {{ rate: 8e6 }}, {{ rate: "inf" }}, {{ queue_limit_bytes: 3000 }}] }},
        marks_between() {{ return [{{ time: 25, kind: {down}, owner: 3 }}]; }},
      }};
      const [told, tries, picture] = [story_of, tries_of, picture_of].map((act) => (decision) => act(run, decision));
      return {{ told, tries, picture }};
    }})()"""
    found = cast("QJSValue", made.evaluate(text))
    assert not found.isError(), found.toString()
    return made


def asked(script: QJSEngine, act: str, cause: str, *losses: dict[str, Any], **numbers: float) -> Any:
    told = [{"name": name, "value": value} for name, value in numbers.items()]
    decision = {"cause": cause, "time_s": 26.0, "losses": losses, "loss_count": len(losses), "numbers": told}
    found = cast("QJSValue", script.evaluate(f"JSON.stringify(page.{act}({json.dumps(decision)}))"))
    assert not found.isError(), found.toString()
    return json.loads(found.toString())


def story(script: QJSEngine, cause: str, *losses: dict[str, Any], **numbers: float) -> list[list[str]]:
    return cast("list[list[str]]", asked(script, "told", cause, *losses, **numbers))


def test_a_full_queue_is_named_with_its_content(script: QJSEngine) -> None:
    (cause, what), (noticed, sign) = story(script, "loss", FULL)
    assert cause == "21.609 s: Dropped at lte: its queue was full"
    assert what == "The queue of lte held 100 of 100 packets when one more came. That packet was lost."
    assert noticed == "21.746 s: The sender noticed 137 ms later"
    assert "RACK's reordering window had passed" in sign


def test_an_outage_is_named_with_its_start_and_the_timeout(script: QJSEngine) -> None:
    (cause, _what), (_noticed, sign) = story(script, "rto", DOWN, DOWN, LATE, rto_s=0.32)
    assert cause == "25.5 s: Lost at wifi: it has been down since 25 s"
    assert sign == "No ACK came for the retransmission timeout of 320 ms."


def test_a_late_packet_was_not_lost_and_an_ack_lost_nothing(script: QJSEngine) -> None:
    assert story(script, "loss", LATE)[0][0].endswith("Not lost: it was late")
    assert story(script, "ack") == [["Nothing was lost", ""]]


def test_the_picture_of_the_queue_begins_a_round_trip_before_the_drop_and_ends_after_the_notice(
    script: QJSEngine,
) -> None:
    picture = asked(script, "picture", "loss", FULL)
    assert picture["link"] == 0
    assert picture["times"] == sorted(picture["times"])
    assert (picture["times"][0], picture["times"][-1]) == (21_463_000_000, 21_746_000_000)
    assert 21_609_000_000 in picture["times"]
    assert asked(script, "picture", "loss", DOWN)["link"] == 3
    assert asked(script, "picture", "loss", LATE) is None
    assert asked(script, "picture", "ack") is None


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        (FULL, ("Try a longer queue at lte", 21.608999, "forward", "queue", 200, "200pkt")),
        (
            FULL | {"limit_pkts": None, "link": "wifi/reverse"},
            ("Try a longer queue at wifi", 21.608999, "reverse", "queue", None, "6000B"),
        ),
        (FULL | {"fate": FATES.index("marked")}, ("Try a faster lte", 21.608999, "forward", "rate", 16e6, "16Mbit/s")),
        (
            FULL | {"fate": FATES.index("random")},
            ("Try lte without random loss", 21.608999, "forward", "loss", 0, "0%"),
        ),
        (DOWN, ("Try it without the outage of wifi", 25.001, "reverse", "up", True, "true")),
    ],
    ids=["full queue", "full queue in bytes", "mark", "random loss", "outage"],
)
def test_changes_to_try_are_those_of_the_window(script: QJSEngine, loss: dict[str, Any], told: tuple[Any, ...]) -> None:
    (change,) = asked(script, "tries", "loss", loss)
    assert tuple(change[name] for name in ("text", "at", "direction", "key", "value", "shown")) == told
    assert change["link"] == loss["link"].partition("/")[0]


def test_nothing_is_tried_without_a_cause_in_the_network(script: QJSEngine) -> None:
    assert asked(script, "tries", "loss", LATE) == []
    assert asked(script, "tries", "ack") == []
    unlimited = FULL | {"fate": FATES.index("queue_law"), "link": "wifi/forward"}
    assert asked(script, "tries", "loss", unlimited) == []
