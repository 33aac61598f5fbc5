"""The window shows the warnings of a scenario at its run, in the language of the window."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot
from tests.helpers.networks import link, mptcp, scenario

from subflow_app.foundation.resources import use_language
from subflow_app.toolkit.notices import Notices
from subflow_app.toolkit.widgets.banner import Banners
from subflow_sim.scenario_model import Choice
from subflow_sim.scenario_warnings import scenario_warnings


@pytest.mark.parametrize(
    ("code", "told"), [("en", "its trials overload that"), ("de", "Seine Versuche überlasten ihn")]
)
def test_a_banner_has_the_warning_of_a_run(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, code: str, told: str) -> None:
    banners = Banners()
    qtbot.addWidget(banners)
    notices = Notices(banners)
    unlike = scenario(
        [link("a", rate_bps=1e8), link("b", rate_bps=2e6)],
        [mptcp("d", ["a", "b"], "mpcc-loss", scheduler=Choice("mpcc-rate"))],
        duration_s=9,
    )
    use_language(code)
    try:
        notices.run_began(scenario_warnings(unlike))
        text = banners.text("scenario")
        assert told in text
        assert "5.1Mbit/s" in text
        assert text.endswith(".")
        notices.run_began(())
        assert banners.text("scenario") == ""
    finally:
        use_language("en")
