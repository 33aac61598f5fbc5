"""Reusable widgets that know nothing of runs or scenarios: banner, empty state, tables, elided label."""
