"""What tells runs apart: differences between groups of runs with their significance, and measured against simulated."""
