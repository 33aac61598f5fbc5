"""Traces measured outside Subflow: read from CSV, `ss` and pcap files, and stored as runs."""
