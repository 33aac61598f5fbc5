"""Runs the criteria of RFC 9743 (BCP 133) on a controller, searches for failing claims, and writes a report."""
