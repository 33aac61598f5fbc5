"""Traces measured outside Subflow: read from CSV, ``ss`` and pcap files, stored as runs. Start at `measured_run`."""
