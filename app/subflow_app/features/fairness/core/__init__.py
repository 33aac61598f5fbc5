"""How near the connections of a run come to a fair split of its network, and what the trade-offs are."""
