"""Prevents the import of PyTorch's compiler, which eager training does not need."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

COMPILER = "torch._dynamo"


def without_compiler() -> None:
    """Makes the first optimizer take milliseconds to create instead of seconds; call before creating it.

    An optimizer imports the compiler, seven hundred modules that take 70 MB, only to exclude its functions from
    compilation. Here a stub module takes the place of the compiler for these calls. Any other use of the stub loads the
    real compiler if it is installed; the frozen program omits it.
    """
    if COMPILER not in sys.modules:
        sys.modules[COMPILER] = _NoCompiler()


class _NoCompiler(ModuleType):
    def __init__(self) -> None:
        super().__init__(COMPILER)
        self.__spec__ = ModuleSpec(COMPILER, None)

    @staticmethod
    def disable(function: Callable[..., Any] | None = None, *_arguments: object, **_options: object) -> Any:
        """The function unchanged, because nothing compiles it; without a function, a decorator that changes nothing."""
        return (lambda decorated: decorated) if function is None else function

    @staticmethod
    def graph_break(*_arguments: object, **_options: object) -> None:
        """Does nothing, because no graph is recorded."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(COMPILER) is self:
            del sys.modules[COMPILER]
        try:
            return getattr(importlib.import_module(COMPILER), name)
        except ImportError as error:
            sys.modules[COMPILER] = self  # optimizers still use the stub
            raise AttributeError(f"{COMPILER}.{name}: PyTorch's compiler is not part of this program") from error
