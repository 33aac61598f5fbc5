"""Subflow: the desktop workbench for multipath congestion control (command line, services and window)."""

from __future__ import annotations

from subflow_app._version import application_version

__all__ = ["__version__"]

__version__ = application_version()
