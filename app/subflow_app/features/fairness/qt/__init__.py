"""The fairness panel: goodputs beside fair shares, and trade-offs between runs."""
