"""Scenario editor: text, canvas, forms, import and export of topologies, recovery."""
