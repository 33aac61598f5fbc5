"""Stored runs: search, groups, comparison and names. Start reading at `run_query`."""
