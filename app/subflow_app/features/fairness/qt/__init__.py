"""The fairness panel, which compares goodputs with fair shares and shows trade-offs between runs."""
