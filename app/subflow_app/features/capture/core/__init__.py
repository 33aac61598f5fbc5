"""Captures of simulated packets: files that Wireshark reads."""
