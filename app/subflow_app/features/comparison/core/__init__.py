"""Comparison of groups of runs with tests of significance, and comparison of measured runs with simulated runs."""
