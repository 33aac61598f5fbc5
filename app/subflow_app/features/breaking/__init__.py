"""Searches for networks in which a claim about a controller fails, simplifies them, and confirms the failures."""
