"""`subflow emulate`: real programs on the network of a scenario."""
