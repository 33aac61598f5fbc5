"""Changes of a fork as the command line takes them: ``links.wifi.loss=5%``, for what can change during a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from subflow_app.features.forking.core.plan import Values, flow_values, read_fork_change
from subflow_app.foundation.errors import InputError
from subflow_sim.errors import ScenarioError
from subflow_sim.overrides import override_value
from subflow_sim.plain_text import did_you_mean, either

if TYPE_CHECKING:
    from subflow_app.features.forking.core.origin import ForkOrigin

LINK_KEYS: tuple[str, ...] = ("rate", "delay", "loss", "queue", "up")
FLOW_KEYS: tuple[str, ...] = ("controller", "open", "backup", "announce", "refuse")
_DIRECTIONS = ("forward", "reverse")
_FORM = "links.NAME.KEY=VALUE or flows.NAME.KEY=VALUE, e.g. links.wifi.loss=5% or flows.download.controller=olia"


def read_settings(origin: ForkOrigin, at_s: float, settings: Sequence[str]) -> list[Values]:
    """The changes that ``KEY=VALUE`` texts mean; those of one link or flow are one change.

    Beside the keys of a scenario file, one direction of a link is ``links.wifi.forward.loss`` or
    ``links.wifi.reverse.loss``, and one subflow of a flow is ``flows.download/2.open``.

    Raises:
        InputError: naming the text, what is wrong with it and what is allowed.
    """
    changes: dict[tuple[object, ...], dict[str, Any]] = {}
    for setting in settings:
        target, key, value = _read(origin, setting)
        if isinstance(key, tuple):
            # An option of what the table stands for: flows.download.controller.alpha=0.9.
            table = changes.get(tuple(target.items()), {}).get(key[0], {})
            value = {**(table if isinstance(table, dict) else {_named(key[0]): table}), key[1]: value}
            key = key[0]
            if key == "controller" and "name" not in value:
                # An option of the controller that it has then.
                present = flow_values(origin.scenario, target["flow"], None, at_s)
                own: Any = present.get("controller", "")
                value = {**(own if isinstance(own, dict) else {"name": own}), **value}
        try:
            read_fork_change(origin, at_s, {**target, key: value})
        except ScenarioError as error:
            problems = "; ".join(f"{each.message}; allowed: {each.allowed}" for each in error.problems)
            raise InputError(f'--set "{setting}": {problems}') from error
        changes.setdefault(tuple(target.items()), dict(target))[key] = value
    return list(changes.values())


def _read(origin: ForkOrigin, setting: str) -> tuple[dict[str, Any], str | tuple[str, str], Any]:
    """What changes, its key (with that of an option), and to what."""
    path, equals, text = setting.partition("=")
    steps = path.strip().split(".")
    if not equals or len(steps) < 3 or steps[0] not in ("links", "flows"):
        raise InputError(f'--set "{setting}" is not a change of a run; allowed: {_FORM}')
    name, rest = steps[1], steps[2:]
    target: dict[str, Any]
    if steps[0] == "links":
        name, slash, direction = name.partition("/")
        if not slash and rest[0] in _DIRECTIONS:
            direction, *rest = rest
        _check_name(setting, "link", name, list(origin.scenario.links))
        if direction and direction not in _DIRECTIONS:
            raise InputError(f'--set "{setting}": "{direction}" is not a direction; allowed: {either(_DIRECTIONS)}')
        target, keys = {"link": name} | ({"direction": direction} if direction else {}), LINK_KEYS
    else:
        base, slash, ordinal = name.partition("/")
        if rest[0].partition("/")[0].isdecimal() and len(rest) > 1:
            # A copy of a flow: flows.download.3.controller, of which flows.download.3/2.open is a subflow.
            copy, slash, ordinal = rest[0].partition("/")
            name, rest = f"{base}.{copy}", rest[1:]
        else:
            name = base
        _check_name(setting, "flow", base, list(origin.scenario.flows))
        if slash and not ordinal.isdecimal():
            raise InputError(f'--set "{setting}": "{ordinal}" is not a subflow; allowed: its number, from 1')
        target, keys = {"flow": name} | ({"subflow": int(ordinal)} if slash else {}), FLOW_KEYS
    if not rest:
        raise InputError(f'--set "{setting}" is not a change of a run; allowed: {_FORM}')
    key, *options = rest
    if key not in keys:
        hint = did_you_mean(key, keys)
        raise InputError(f'--set "{setting}": "{key}" cannot change during a run{hint}; allowed: {either(keys)}')
    if len(options) > 1:
        raise InputError(f'--set "{setting}": no key is below "{key}.{options[0]}"; allowed: {_FORM}')
    value = override_value(text.strip())
    return target, (key, options[0]) if options else key, value


def _check_name(setting: str, kind: str, name: str, names: list[str]) -> None:
    if name not in names:
        raise InputError(
            f'--set "{setting}": unknown {kind} "{name}"{did_you_mean(name, names)}; allowed: {either(names)}'
        )


def _named(key: str) -> str:
    return {"controller": "name", "queue": "limit"}.get(key, "value")
