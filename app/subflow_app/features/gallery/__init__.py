"""The papers' experiments: recipes of runs, measures and claims, and their outcomes."""
