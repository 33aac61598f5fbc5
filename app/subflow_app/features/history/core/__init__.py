"""Stored runs: found, grouped, compared and named. Start reading at `run_query`."""
