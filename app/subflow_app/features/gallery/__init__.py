"""Experiments of the papers: recipes of runs, measures and claims, and their results."""
