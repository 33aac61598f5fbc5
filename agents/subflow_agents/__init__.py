"""Agents that learn on the simulator, in PyTorch: one file per algorithm, loaded when it is asked for."""
