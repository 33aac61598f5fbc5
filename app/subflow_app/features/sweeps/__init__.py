"""A scenario over values of its parameters times seeds."""
