"""Runs the criteria of RFC 9743 (BCP 133) on a controller, looks for networks in which it fails, and reports on it."""
