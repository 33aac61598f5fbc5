"""Commands: a scenario over values of its parameters times seeds."""
