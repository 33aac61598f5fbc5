"""What a fair split of the network of a scenario is: of its links among the connections that cross them."""
