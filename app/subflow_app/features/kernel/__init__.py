"""`subflow compare-kernel`."""
