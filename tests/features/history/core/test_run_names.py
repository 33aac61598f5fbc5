"""Short names of runs for where room is scarce."""

from __future__ import annotations

from tests.helpers.members import for_each

from subflow_app.features.history.core.run_names import told_apart


@for_each(
    ("names", "common", "rests"),
    [
        (["Two paths: lia", "Two paths: olia"], "Two paths", ["lia", "olia"]),
        (["Demo: a phone: lia (1)", "Demo: a phone: lia (2)"], "Demo: a phone", ["lia (1)", "lia (2)"]),
        (["Demo by queue: queue = 8pkt", "Demo by queue: queue = 17pkt"], "Demo by queue: queue", ["8pkt", "17pkt"]),
        (["Two paths", "Two pairs"], "", ["Two paths", "Two pairs"]),
        (["Demo: x", "Demo: "], "", ["Demo: x", "Demo: "]),
        (["Demo: x"], "", ["Demo: x"]),
        ([], "", []),
    ],
)
def test_names_lose_what_they_have_in_common(names: list[str], common: str, rests: list[str]) -> None:
    assert told_apart(names) == (common, rests)
