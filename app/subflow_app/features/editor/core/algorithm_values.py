"""Controllers and schedulers as scenario files have them: a name, or a table of a name and options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from subflow_app.foundation.toml_edit import TomlValue, plain, render
from subflow_app.vocabulary.language import tr

Kind = Literal["controller", "scheduler"]
KINDS: tuple[Kind, ...] = ("controller", "scheduler")


def without_defaults(value: Any) -> TomlValue:
    """A controller or scheduler without the table where that has a name only."""
    value = plain(value)
    if isinstance(value, dict) and set(value) == {"name"}:
        value = value["name"]
    found: TomlValue = value
    return found


def name_in(value: object) -> str:
    """The name of a controller or scheduler, which stands alone or in a table."""
    return str(value.get("name", "")) if isinstance(value, Mapping) else str(value)


def own_or_named(own: TomlValue, value: TomlValue) -> TomlValue:
    """The choice of the scenario where a name alone is that of it, so that options and policy stay.

    Args:
        own: controller or scheduler of the scenario.
        value: that is asked for; a table asks for exactly what it says.
    """
    return own if isinstance(value, str) and value == name_in(own) else value


def defaults_of(name: str) -> TomlValue:
    """A controller or scheduler with its defaults, whatever options the scenario has for one of the same name."""
    return {"name": name}


def value_text(value: TomlValue) -> str:
    """A controller or scheduler in a line: "confluence, policy = mine"."""
    if not isinstance(value, Mapping):
        return str(value)
    return ", ".join([name_in(value), *_option_texts(value)])


def _option_texts(value: Mapping[str, TomlValue]) -> list[str]:
    return [
        f"{key} = {each if isinstance(each, str) else render(each)}" for key, each in value.items() if key != "name"
    ]


def replaced_text(key: str, others: Iterable[str], own: TomlValue) -> str:
    """A line about controllers or schedulers that run without the options that the scenario has for its own.

    Args:
        key: of the controller or scheduler: "flows.download.controller".
        others: that are asked for instead, as `value_text` has them.
        own: that of the scenario, with its options.
    """
    return tr(
        "{key} = {others}: the options set for {own} ({options}) do not apply.",
        key=key,
        others="; ".join(others),
        own=name_in(own),
        options=", ".join(_option_texts(own)) if isinstance(own, Mapping) else "",
    )
