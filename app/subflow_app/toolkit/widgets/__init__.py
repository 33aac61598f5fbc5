"""Reusable widgets that are independent of runs and scenarios: banner, empty state, tables, elided label."""
