"""Trained policies that scenarios can name, whether shipped or trained by the user, and their training cards.

Lists show a card as one line, and tool tips show its full text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from subflow_app.features.catalog.core.catalog import policy_library
from subflow_app.features.catalog.core.former_policies import WIDE
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.json_document import number
from subflow_app.foundation.paths import policy_folder
from subflow_app.foundation.resources import way_on
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.number_text import NOTHING, count_text, mbit_text
from subflow_app.vocabulary.tables import Column
from subflow_sim.errors import PolicyError
from subflow_sim.policy_library import NEUTRAL, RANDOM, SUFFIX, PolicyLibrary, read_policy_file, shipped_policies
from subflow_sim.whole_file import write_whole

CARD_KEYS = ("note", "agent", "recipe", "scenario", "steps", "minutes", "seed", "tried", "evaluation")
"""Keys of a card that `card_text` covers."""

_MOST_LINES = 24


def card_line(card: Mapping[str, Any]) -> str:
    """Training scenario and result of a policy, e.g. "drlcc-sc1, 50 000 decisions, 1.52 × olia"; empty if unknown.

    Cards have no fixed form: missing values and values of unexpected types are left out.
    """
    parts = []
    if isinstance(card.get("scenario"), str) and card["scenario"]:
        parts.append(card["scenario"])
    steps = number(card.get("steps"))
    if math.isfinite(steps):
        parts.append(f"{count_text(steps)} decisions")
    evaluation = card.get("evaluation")
    if isinstance(evaluation, Mapping):
        ratio = number(_own(evaluation).get("ratio_to_best_baseline"))
        best = evaluation.get("best_baseline")
        if math.isfinite(ratio) and isinstance(best, str):
            parts.append(f"{ratio:.2f} × {best}")
    return ", ".join(parts)


def card_text(card: Mapping[str, Any]) -> str:
    """Note, training and evaluation of a policy, one item per line; empty if the card contains none of them."""
    lines = []
    note = card.get("note")
    if isinstance(note, str) and note:
        lines.append(note)
    for key, label in (("agent", "Agent"), ("recipe", "Recipe"), ("scenario", "Learned on")):
        if isinstance(card.get(key), str) and card[key]:
            lines.append(f"{label}: {card[key]}")
    for key, label in (("steps", "Decisions"), ("minutes", "Minutes"), ("seed", "Seed")):
        value = number(card.get(key))
        if math.isfinite(value):
            lines.append(f"{label}: {count_text(value) if value == round(value) else f'{value:.10g}'}")
    lines += _tried_lines(card.get("tried"))
    evaluation = card.get("evaluation")
    if isinstance(evaluation, Mapping):
        lines += _evaluation_lines(evaluation)
    return "\n".join(lines[:_MOST_LINES])


def tried(scores: Mapping[int, float]) -> list[dict[str, float]]:
    """Card entry for the seeds tried in a training, each with the score of its best policy."""
    return [{"seed": seed, "score": score} for seed, score in sorted(scores.items())]


def _tried_lines(told: object) -> list[str]:
    """Every seed with its score, and the median and worst score; empty if the card does not contain them."""
    listed = [each for each in told if isinstance(each, Mapping)] if isinstance(told, list) else []
    scores = {number(each.get("seed")): number(each.get("score")) for each in listed}
    known = {seed: score for seed, score in scores.items() if math.isfinite(seed) and math.isfinite(score)}
    if not known:
        return []
    each = ", ".join(f"{seed:.0f} ({score:.3f})" for seed, score in known.items())
    return [
        f"Seeds tried, with their scores in validation: {each}",
        f"Median {median(known.values()):.3f}, worst {min(known.values()):.3f}",
    ]


def _evaluation_lines(evaluation: Mapping[str, Any]) -> list[str]:
    seeds = evaluation.get("seeds")
    title = evaluation.get("scenario")
    count = f", {len(seeds)} held-out seeds" if isinstance(seeds, list) else ""
    lines = [
        f"Goodput of a flow while active on {title}{count}:"
        if isinstance(title, str)
        else f"Goodput of a flow while active{count}:"
    ]
    for each in _controllers(evaluation):
        goodput, jain = each.get("goodput_bps"), each.get("jain")
        if not isinstance(goodput, Mapping) or not math.isfinite(number(goodput.get("mean"))):
            continue
        half = number(goodput.get("ci95"))
        interval = f" ± {mbit_text(half)}" if math.isfinite(half) else ""
        fairness = number(jain.get("mean")) if isinstance(jain, Mapping) else math.nan
        fair = f", Jain {fairness:.3f}" if math.isfinite(fairness) else ""
        lines.append(f"  {each.get('label')}: {mbit_text(goodput['mean'])}{interval} Mbit/s{fair}")
    return lines if len(lines) > 1 else []


def _controllers(evaluation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = evaluation.get("controllers")
    return [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []


def _own(evaluation: Mapping[str, Any]) -> Mapping[str, Any]:
    return next((each for each in _controllers(evaluation) if not each.get("is_baseline")), {})


@dataclass(frozen=True, slots=True)
class PolicyRecord:
    """A policy file, in the library or elsewhere.

    Attributes:
        name: name by which scenarios refer to the policy.
        path: path of its file.
        controller: controller that the policy was trained for; empty if the file is unusable.
        document: content of the file without the weights; None if the file is unusable.
        content_hash: SHA-256 of the content, hex; empty if the file is unusable.
        problem: reason why the file is unusable; empty if it is usable.
    """

    name: str
    path: Path
    controller: str = ""
    document: Mapping[str, Any] | None = None
    content_hash: str = ""
    problem: str = ""

    @property
    def card(self) -> Mapping[str, Any]:
        """Training card of the policy, with its origin and evaluation in free form; may be empty."""
        card = (self.document or {}).get("card")
        return card if isinstance(card, Mapping) else {}


def policy_records(library: PolicyLibrary | None = None) -> tuple[PolicyRecord, ...]:
    """The policies of the library, sorted by name; the record of an unusable file contains the reason."""
    return tuple(_record(name, path) for name, path in (library or policy_library()).paths().items())


def find_policy(name_or_path: str, library: PolicyLibrary | None = None) -> PolicyRecord:
    """The policy that the user selects by a path, or by a name in the library.

    Raises:
        InputError: if the path or name does not exist, or the file is unusable.
    """
    paths = (library or policy_library()).paths()
    if name_or_path.endswith(SUFFIX) or "/" in name_or_path:
        record = _record(Path(name_or_path).stem, Path(name_or_path))
    elif name_or_path in paths:
        record = _record(name_or_path, paths[name_or_path])
    else:
        listed = f"allowed: a file {SUFFIX}, or of the library: {', '.join(paths) or 'there is none'}"
        raise InputError(f"{name_or_path}: no policy of that name; {way_on(name_or_path, list(paths), listed)}")
    if record.problem:
        raise InputError(record.problem)
    return record


AS_PRINTED = "as_printed"
VARIANT = "variant"
OWN = "own"
"""Kinds of policies: the agent of a paper as printed, a variant of this project, or not shipped."""

_VARIANTS = ("confluence", "mplibra-even")
_KINDS = {
    AS_PRINTED: translatable("the paper's agent as printed"),
    VARIANT: translatable("Subflow's own variant"),
    OWN: translatable("not shipped with Subflow"),
}


def kind_of_policy(path: Path) -> str:
    """One of `AS_PRINTED`, `VARIANT` and `OWN`, for a policy file.

    The names of shipped policies show their kinds: NAME is the agent of a paper as printed, and NAME-wide a variant.
    """
    if path.parent != shipped_policies():
        return OWN
    return VARIANT if path.stem in _VARIANTS or path.stem.endswith(WIDE) else AS_PRINTED


def policy_origin(name: str, library: PolicyLibrary | None = None, *, has_path: bool = True) -> str:
    """Name and origin of a policy on one line: kind, recipe, seed, decisions, hash and file.

    Args:
        name: the policy as a run names it: a name of the library, the path of a file, "neutral" or "random".
        library: the library; None: shipped policies and those of the user.
        has_path: whether the line ends with the path of the file.
    """
    if name == NEUTRAL:
        return tr("{name}: no policy, changes nothing", name=name)
    if name == RANDOM:
        return tr("{name}: no policy, acts at random", name=name)
    try:
        record = find_policy(name, library)
    except InputError:
        return tr("{name}: its file cannot be found or read", name=name)
    card = record.card
    parts = [tr(_KINDS[kind_of_policy(record.path)])]
    if isinstance(recipe := card.get("recipe"), str) and recipe:
        parts.append(tr("recipe {recipe}", recipe=recipe))
    if _has_number(card, "seed"):
        parts.append(tr("seed {seed}", seed=count_text(card["seed"])))
    if _has_number(card, "steps"):
        parts.append(tr("{count} decisions", count=count_text(card["steps"])))
    parts += [tr("hash {hash}", hash=record.content_hash[:12]), *([str(record.path)] if has_path else [])]
    return f"{record.name}: {', '.join(parts)}"


def has_card(name: str, library: PolicyLibrary | None = None) -> bool:
    """True if a policy, as a run names it, is a file that can be read and has a card."""
    try:
        return bool(find_policy(name, library).card)
    except InputError:
        return False


def _has_number(card: Mapping[str, Any], key: str) -> bool:
    return math.isfinite(number(card.get(key)))


def content_name(content_hash: str) -> str:
    """Name derived from the content of a policy. Its own name may refer to a different policy in another library."""
    return f"policy-{content_hash[:12]}"


def write_policy(name: str, content: bytes) -> Path:
    """Writes a policy into the user's library, and returns the path of its file.

    Raises:
        OSError: if the file cannot be written.
    """
    target = policy_folder() / f"{name}{SUFFIX}"
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, content)
    return target


def keep_policies(policies: Mapping[str, bytes]) -> tuple[str, ...]:
    """Adds the policies that a scenario needs to the user's library, unless they exist; returns the added names.

    Args:
        policies: contents by name, read together with a scenario.

    Raises:
        InputError: if a different policy has the same name, or the library cannot be written.
    """
    paths = policy_library().paths()
    added = []
    for name, content in policies.items():
        try:
            if name not in paths:
                write_policy(name, content)
                added.append(name)
            elif read_policy_file(paths[name]) != content:
                raise InputError(f"{paths[name]}: holds another policy than the one to be added under this name")
        except PolicyError as error:
            raise InputError(str(error)) from error
        except OSError as error:
            folder = policy_folder()
            raise InputError(f"{folder}: the policy {name} cannot be written: {error.strerror or error}") from error
    return tuple(added)


def card_of(library: PolicyLibrary, name: str) -> Mapping[str, Any]:
    """The card of a policy of the library; empty if the name is unknown, or the file is not a policy."""
    path = library.paths().get(name)
    return {} if path is None else _record(name, path).card


def card_lines(card: Mapping[str, Any], indent: str = "") -> list[str]:
    """A card of any form as lines of text."""
    lines: list[str] = []
    for key, value in card.items():
        label = f"{indent}{str(key).replace('_', ' ')}:"
        if isinstance(value, Mapping) and value:
            lines += [label, *card_lines(value, indent + "  ")]
        else:
            lines.append(f"{label} {_value_text(value)}")
    return lines


def policy_columns(records: Sequence[PolicyRecord]) -> Sequence[Column[PolicyRecord]]:
    """Columns of the list of policies; the column "Problem" appears only if a policy has a problem."""
    columns: tuple[Column[PolicyRecord], ...] = (
        Column("Name", lambda record: record.name),
        Column("Controller", lambda record: record.controller or NOTHING),
        Column("Kind", lambda record: _KINDS[kind_of_policy(record.path)]),
        Column("Trained on", lambda record: card_line(record.card) or NOTHING),
        Column("Hash", lambda record: record.content_hash[:12] or NOTHING),
        Column("Problem", lambda record: record.problem or NOTHING),
    )
    has_problem = any(record.problem for record in records)
    return columns if has_problem else columns[:-1]


def policy_document(record: PolicyRecord) -> dict[str, Any]:
    """A policy as a JSON document, without its networks."""
    document = record.document or {}
    return {
        "name": record.name,
        "path": str(record.path),
        "controller": record.controller or None,
        "content_hash": record.content_hash or None,
        "kind": kind_of_policy(record.path),
        "observation": document.get("observation"),
        "action": document.get("action"),
        "options": document.get("options", {}),
        "card": dict(record.card),
        "problem": record.problem or None,
    }


def policy_lines(record: PolicyRecord) -> list[str]:
    """Full description of a usable policy, as lines of text."""
    document = record.document or {}
    observation, action = document["observation"], document["action"]
    lines = [
        f"{record.name}: a policy for {record.controller}",
        f"Kind: {_KINDS[kind_of_policy(record.path)]}",
        f"File: {record.path}",
        f"Hash: {record.content_hash}",
        f"Sees: {', '.join(observation['features'])}; history {observation['history']}",
        f"Does: {' or '.join(action['choices']) or ', '.join(action['names'])}",
        *(
            f"{part.capitalize()}: {_network_text(document[part])}"
            for part in ("actor", "critic")
            if document.get(part)
        ),
    ]
    if document.get("options"):
        lines += ["Options it was trained with:", *card_lines(document["options"], "  ")]
    if record.card:
        told = [f"  {line}" for line in card_text(record.card).splitlines()]
        lines += ["Card:", *told, *card_lines({k: v for k, v in record.card.items() if k not in CARD_KEYS}, "  ")]
    return lines


def _record(name: str, path: Path) -> PolicyRecord:
    from subflow_sim.policy import Policy

    try:
        policy = Policy.load(path)
    except PolicyError as error:
        return PolicyRecord(name, path, problem=str(error))
    return PolicyRecord(name, path, policy.controller, policy.document, policy.content_hash)


def _network_text(network: Mapping[str, Any]) -> str:
    """A network on one line, e.g. "lstm of 64, then target of 2 slots: 78 -> 128 relu -> 2 tanh"."""
    encoder = network["encoder"]
    code = {
        "none": "",
        "lstm": f"lstm of {encoder.get('hidden')}, then ",
        "pool": f"pool ({', '.join(encoder.get('pool', ()))}) of {encoder.get('layers')}, then ",
    }[encoder["type"]]
    slots = "" if network["input"] == "slot" else f" of {network['slots']} slots"
    text = ""
    for layer in network["layers"]:
        if layer["type"] == "linear":
            text += f" -> {layer['out']}" if text else f"{layer['in']} -> {layer['out']}"
        else:
            text += f" {layer['type']}"
    return f"{code}{network['input']}{slots}: {text}"


def _value_text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
