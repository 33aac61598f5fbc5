"""The notice that a name of a policy has another meaning than in the past, once on each computer for each name.

A scenario file does not show which version it was written for. Repeating the notice with every run would annoy people
who mean the paper's agent, so the settings remember the names that were reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from subflow_app.features.catalog.core.former_policies import FIRST_VERSION, has_changed, naming, wide_name
from subflow_app.features.catalog.core.uses import policies_of
from subflow_app.vocabulary.language import tr
from subflow_sim.policy_library import SUFFIX, shipped_policies

if TYPE_CHECKING:
    from subflow_app.foundation.settings import Settings
    from subflow_sim.whole_scenario import Scenario


def news_of_policies(scenario: Scenario, settings: Settings) -> tuple[tuple[str, ...], Settings]:
    """Notices about the policies of a scenario whose names have changed their meaning.

    Returns:
        A sentence without its full stop for each name that was not reported before, and the settings that remember
        these names.
    """
    notices: dict[str, str] = {}
    for _flow, policy in policies_of(scenario):
        name = policy.name
        is_known = name in notices or name in settings.reported_policies
        if is_known or policy.path is None or policy.path.parent != shipped_policies() or not has_changed(name):
            continue
        notices[name] = tr(
            'Since version {version}, "{name}" means the policy trained as its paper prints it; to keep the former '
            "policy with wider training: {way}",
            version=FIRST_VERSION,
            name=name,
            way=naming(_controller(name), wide_name(name)),
        )
    return tuple(notices.values()), settings.with_reported_policies(notices) if notices else settings


def _controller(name: str) -> str:
    from subflow_sim.policy import Policy

    return Policy.load(shipped_policies() / f"{name}{SUFFIX}").controller
