"""Copies a policy into the user's library, where every scenario can name it.

Among trainings that differ only in their seeds, the policy with the highest score in validation is copied. The score is
that of the evaluations of the training, whose seeds no training uses. If scores are equal, the smallest seed counts.
The shipped policies follow the same rule (`python -m tools.policies ship`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from subflow_app.features.catalog.core.catalog import policy_library
from subflow_app.features.policies.core import tried, write_policy
from subflow_app.foundation.errors import InputError, TrainingError
from subflow_app.foundation.json_document import number
from subflow_app.foundation.paths import policy_folder
from subflow_sim.gate import is_there
from subflow_sim.policy import Policy
from subflow_sim.policy_library import SUFFIX, is_policy_name, read_policy_file

_DOCUMENT = "subflow_policy"
_METADATA = "__metadata__"
_ALIGNMENT = 8  # alignment of the tensors after the header, bytes, as in safetensors


def policy_names() -> tuple[str, ...]:
    """Names of all policies: the shipped ones and the user's."""
    return tuple(policy_library().paths())


def best_of(policies: Sequence[Path]) -> tuple[Path, dict[str, Any]]:
    """Select the policy with the highest score from training runs that differ only in their seeds.

    Among equal scores, the smallest seed counts, whatever the order of the files.

    Args:
        policies: policy files, each with the evaluation score on its card; the score may be missing if only one file is
            given.

    Returns:
        The file of the best policy, and an entry for its card with the scores of all seeds. The entry is empty for a
        single policy without a score.

    Raises:
        InputError: if the training runs differ in more than their seeds or have equal seeds, or if a score is missing.
        PolicyError: if a file is not a policy.
    """
    cards = {path: Policy.load(path).card for path in policies}
    scores = {path: _score(card) for path, card in cards.items()}
    if len(policies) == 1 and math.isnan(scores[policies[0]]):
        return policies[0], {}
    first = cards[policies[0]]
    for path, card in cards.items():
        if math.isnan(scores[path]):
            raise InputError(f"{path} has no evaluation score by which it could be compared with the others")
        for key in ("agent", "scenario", "options", "families", "validation_networks"):
            if card.get(key) != first.get(key):
                raise InputError(f"{path} is from another training than {policies[0]}: their cards differ in {key}")
    seeds = [card.get("seed") for card in cards.values()]
    if len(set(map(str, seeds))) < len(policies):
        raise InputError(f"two of these trainings have the same seed: {', '.join(map(str, seeds))}")
    best = max(policies, key=lambda path: (scores[path], -number(cards[path].get("seed"))))
    known = {int(number(card.get("seed"))): scores[path] for path, card in cards.items() if _has_seed(card)}
    return best, {"tried": tried(known)}


def _has_seed(card: Mapping[str, Any]) -> bool:
    return math.isfinite(number(card.get("seed")))


def _score(card: Mapping[str, Any]) -> float:
    evaluation = card.get("evaluation")
    return number(evaluation.get("score")) if isinstance(evaluation, Mapping) else math.nan


def promote(source: Path, name: str, card: Mapping[str, Any]) -> Path:
    """Copy a policy into the user's library under a name.

    Args:
        source: a policy file.
        name: name of the policy in scenarios.
        card: additional entries for its card, such as note and origin.

    Returns:
        The new file.

    Raises:
        InputError: if the name is invalid or taken.
        PolicyError: if the file is not a policy.
        TrainingError: if the library cannot be written.
    """
    if not is_policy_name(name):
        raise InputError(f'"{name}" is not a name for a policy; allowed: up to 64 letters, digits, dots, - and _')
    target = policy_folder() / f"{name}{SUFFIX}"
    if name in policy_names() or is_there(target):
        raise InputError(f"a policy called {name} exists already: give this one another name")
    content = renamed(read_policy_file(source), name, card)
    try:
        return write_policy(name, content)
    except OSError as error:
        raise TrainingError(f"{target} cannot be written: {error.strerror or error}") from error


def renamed(content: bytes, name: str, card: Mapping[str, Any]) -> bytes:
    """Rename a policy and add entries to its card, without changing the tensors.

    Args:
        content: content of a policy file.
        name: new name of the policy.
        card: entries to add to the card, or to replace there.

    Returns:
        The content of the new file.

    Raises:
        PolicyError: if the content is not a policy.
    """
    Policy.from_bytes(content)  # rejects other files, so that the following code can rely on the format
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    document = json.loads(header[_METADATA][_DOCUMENT])
    document |= {"name": name, "card": {**document.get("card", {}), **card}}
    header[_METADATA][_DOCUMENT] = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    encoded = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % _ALIGNMENT)
    changed = len(encoded).to_bytes(8, "little") + encoded + content[8 + size :]
    Policy.from_bytes(changed)
    return changed
