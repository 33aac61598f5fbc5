"""Searches for networks in which a claim about a controller fails, makes them small, and confirms them."""
