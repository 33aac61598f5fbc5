"""Distance of the connections of a run from a fair split of the network, and trade-offs between runs."""
