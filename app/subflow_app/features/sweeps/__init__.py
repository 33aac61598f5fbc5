"""Sweeps: runs of a scenario over values of its parameters and several seeds."""
