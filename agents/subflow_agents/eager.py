"""Learning step by step, as our agents do, needs nothing of PyTorch's compiler; this keeps it from being imported."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

COMPILER = "torch._dynamo"


def without_compiler() -> None:
    """Makes the first optimizer cost milliseconds in place of seconds; call it before there is one.

    An optimizer tells the compiler to leave it alone, for which it imports it: seven hundred modules, 70 MB. What it
    says is heard by a stand-in. Whoever asks that for anything else gets the real one, where it is installed: the
    frozen program ships without.
    """
    if COMPILER not in sys.modules:
        sys.modules[COMPILER] = _NoCompiler()


class _NoCompiler(ModuleType):
    def __init__(self) -> None:
        super().__init__(COMPILER)
        self.__spec__ = ModuleSpec(COMPILER, None)

    @staticmethod
    def disable(function: Callable[..., Any] | None = None, *_arguments: object, **_options: object) -> Any:
        """The function as it is, for nothing compiles it; a decorator if there is none."""
        return (lambda decorated: decorated) if function is None else function

    @staticmethod
    def graph_break(*_arguments: object, **_options: object) -> None:
        """Nothing, for no graph is recorded."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(COMPILER) is self:
            del sys.modules[COMPILER]
        try:
            return getattr(importlib.import_module(COMPILER), name)
        except ImportError as error:
            sys.modules[COMPILER] = self  # optimizers go on
            raise AttributeError(f"{COMPILER}.{name}: PyTorch's compiler is not part of this program") from error
