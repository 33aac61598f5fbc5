"""Finds the policy of a run by its content if the name means another policy now, and the names that have changed.

The names of the papers' agents, e.g. `drl-cc`, mean policies that were trained as the papers print it. They meant
policies with wider training before, which ship as `drl-cc-wide`. The content of such a file differs from that of the
former one in its name alone. The former content can therefore be made again, and its hash proves that it is the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from subflow_app.vocabulary.language import tr
from subflow_sim.errors import ParamError, PolicyError
from subflow_sim.gate import is_file
from subflow_sim.policy_library import SUFFIX, PolicyLibrary, read_policy_file, shipped_policies
from subflow_sim.scenario_model import PolicyFile

WIDE = "-wide"
"""End of the name of a policy with wider training than the paper's."""

FIRST_VERSION = "0.1.0"
"""Version since which the names of the papers' agents mean policies trained as printed."""

_SHOWN_DIGITS = 12


@dataclass(frozen=True, slots=True)
class FormerPolicy:
    """The policy of a run whose name means another policy now.

    Attributes:
        file: the policy of the run, under its name in the scenario of the run.
        controller: controller of the policy.
        now: name of the same policy in the library.
        other_hash: content hash of the policy that has the former name now; empty if the name is unknown.
    """

    file: PolicyFile
    controller: str
    now: str
    other_hash: str

    def text(self, run: str) -> str:
        """Explanation for people, in three sentences; `run` is the name of the run, e.g. "run 7"."""
        return tr(
            '{run} was made with the policy "{name}" of the content {former}, which is called "{now}" today and is '
            'used here. The name "{name}" now means {other}. To keep the former in a scenario: {way}.',
            run=run,
            name=self.file.name,
            former=self.file.content_hash[:_SHOWN_DIGITS],
            now=self.now,
            other=self.other_hash[:_SHOWN_DIGITS] or tr("no policy"),
            way=naming(self.controller, self.now),
        )


def naming(controller: str, policy: str) -> str:
    """The line of a scenario file that chooses a controller with a policy."""
    return f'controller = {{ name = "{controller}", policy = "{policy}" }}'


def former_policies(recorded: Iterable[tuple[str, str]], library: PolicyLibrary) -> tuple[FormerPolicy, ...]:
    """The policies of a run whose names mean other policies now, and which the library contains under other names.

    Args:
        recorded: name and content hash of each policy of the run.
        library: the policies of this computer.
    """
    found = []
    for name, content_hash in recorded:
        other_hash = hash_now(name, library)
        if other_hash != content_hash:
            found += _former(name, content_hash, other_hash, library)
    return tuple(found)


def hash_now(name: str, library: PolicyLibrary) -> str:
    """Content hash of the policy that a name or an absolute path means now; empty if it is unknown."""
    try:
        return library.read(name).content_hash
    except ParamError:
        return ""


def _former(name: str, content_hash: str, other_hash: str, library: PolicyLibrary) -> list[FormerPolicy]:
    from subflow_sim.policy import Policy, renamed_policy

    # The name with the usual ending comes first; any other policy of the library may be a copy.
    paths = library.paths()
    ordered = sorted(paths, key=lambda other: other != f"{name}{WIDE}")
    for now in ordered:
        try:
            content = read_policy_file(paths[now])
            contents = (content,) if name.endswith(SUFFIX) else (content, renamed_policy(content, name))
            for each in contents:
                if hashlib.sha256(each).hexdigest() == content_hash:
                    file = PolicyFile(name, content_hash, each)
                    return [FormerPolicy(file, Policy.from_bytes(each).controller, now, other_hash)]
        except (PolicyError, ValueError, KeyError, TypeError):
            continue  # not a policy; the list of policies shows its problem
    return []


def wide_name(name: str) -> str:
    """Name of the policy with wider training that ships beside a policy; empty without such a pair."""
    wide = f"{name}{WIDE}"
    return wide if all(is_file(shipped_policies() / f"{each}{SUFFIX}") for each in (name, wide)) else ""


def has_changed(name: str) -> bool:
    """True if a name of a shipped policy meant the policy with wider training before, and means another one now."""
    from subflow_sim.policy import renamed_policy

    wide = wide_name(name)
    if not wide:
        return False
    now, former = (read_policy_file(shipped_policies() / f"{each}{SUFFIX}") for each in (name, wide))
    return renamed_policy(former, name) != now
