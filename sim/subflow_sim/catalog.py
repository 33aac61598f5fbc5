"""The controllers and schedulers that the compiled core has, as it declares them itself."""

from __future__ import annotations

from functools import cache

from subflow_sim import _core
from subflow_sim.params import Algorithm, AlgorithmCatalog, Dimension, Param

_DIMENSIONS = {
    _core.OptionKind.NUMBER: Dimension.NUMBER,
    _core.OptionKind.RATIO: Dimension.RATIO,
    _core.OptionKind.TIME: Dimension.TIME,
    _core.OptionKind.FLAG: Dimension.FLAG,
    _core.OptionKind.CHOICE: Dimension.CHOICE,
}


@cache
def catalog() -> AlgorithmCatalog:
    """Everything a scenario file may name as controller or scheduler."""
    return AlgorithmCatalog(
        controllers=tuple(_algorithm(info) for info in _core.controller_infos()),
        schedulers=tuple(_algorithm(info) for info in _core.scheduler_infos()),
    )


def controllers() -> tuple[Algorithm, ...]:
    """The congestion controllers, in the order of the core's list."""
    return catalog().controllers


def schedulers() -> tuple[Algorithm, ...]:
    """The packet schedulers, in the order of the core's list."""
    return catalog().schedulers


def _algorithm(info: _core.AlgorithmInfo) -> Algorithm:
    return Algorithm(
        name=info.name,
        summary=info.summary,
        source=info.source,
        options=tuple(_param(option) for option in info.options),
        is_coupled=info.is_coupled,
    )


def _param(option: _core.OptionInfo) -> Param:
    if option.kind == _core.OptionKind.CHOICE:
        return Param(
            option.key, Dimension.CHOICE, option.help, default=option.default_choice, choices=tuple(option.choices)
        )
    if option.kind == _core.OptionKind.FLAG:
        return Param(option.key, Dimension.FLAG, option.help, default=bool(option.default_number))
    return Param(
        option.key,
        _DIMENSIONS[option.kind],
        option.help,
        default=option.default_number,
        minimum=option.minimum,
        maximum=option.maximum,
    )
