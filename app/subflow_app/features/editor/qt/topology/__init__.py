"""The picture of a scenario: nodes, links and the subflows across them. Start reading at `view`."""

from __future__ import annotations

from subflow_app.features.editor.qt.topology.view import TopologyView

__all__ = ["TopologyView"]
