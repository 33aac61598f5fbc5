"""Experiments of the papers: recipes that define runs, measures and claims, and the results of their runs."""
