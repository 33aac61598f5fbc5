"""Distances between the goodputs of a run and a fair split of the network, and trade-offs between runs."""
