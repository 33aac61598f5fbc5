"""Reads traces measured outside Subflow from CSV, ``ss`` and pcap files, as runs. Start reading at `measured_run`."""
