"""Stored runs: found, grouped, compared and named."""
