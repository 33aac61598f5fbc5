"""Single runs, which can be changed and stepped through while they are active, and a queue for many runs."""
