"""Fair splits of the network of a scenario among the connections that cross its links."""
