"""Stored runs: search, groups, comparison and names."""
