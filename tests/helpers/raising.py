"""A stand-in for a function that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn


def raising(error: Exception) -> Callable[..., NoReturn]:
    """Makes a function that raises this error for any arguments."""

    def fail(*_arguments: object, **_options: object) -> NoReturn:
        raise error

    return fail
