"""Packet-level simulator of multipath transport: scenario files, simulations, traces."""
