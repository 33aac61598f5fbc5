"""Edits the values of a scenario in forms and as text. Start reading at `inspector`."""

from __future__ import annotations

from subflow_app.features.editor.qt.inspector.inspector import Inspector

__all__ = ["Inspector"]
