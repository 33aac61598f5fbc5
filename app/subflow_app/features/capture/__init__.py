"""Captures of simulated packets as files that Wireshark reads."""
