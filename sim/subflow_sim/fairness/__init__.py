"""Fair splits of a scenario's network among its connections."""
