"""Any state of a run again, and the decision behind every change."""
