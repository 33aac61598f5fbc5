"""Subflow: the desktop workbench for multipath congestion control (command line, services and window)."""

from __future__ import annotations

__all__ = ["__version__"]

__version__: str


def __getattr__(name: str) -> str:
    if name == "__version__":
        # Computed on first access, because importing importlib.metadata would slow down every start.
        from subflow_app.distribution import application_version

        version = globals()["__version__"] = application_version()
        return version
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
