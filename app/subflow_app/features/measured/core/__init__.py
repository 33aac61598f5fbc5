"""Traces that were measured outside: read from CSV, ``ss`` and pcap files, and kept as runs. Start at `reading`."""
