"""Reads traces measured outside Subflow from CSV, `ss` and pcap files, and stores them as runs."""
