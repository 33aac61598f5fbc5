"""The fairness panel: shares of connections beside the fair ones, and trade-offs between runs."""
