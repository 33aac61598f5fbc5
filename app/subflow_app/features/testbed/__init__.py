"""Scripts that build the network of a scenario on a testbed."""
