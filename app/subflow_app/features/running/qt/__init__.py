"""Runs in the window: single ones, with live changes and steps, and many in a queue."""
