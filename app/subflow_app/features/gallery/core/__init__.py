"""The papers' experiments: recipes of what they run, measure and claim, and what came of carrying them out."""
