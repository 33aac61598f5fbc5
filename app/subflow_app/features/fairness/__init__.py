"""Shares of connections beside the fair ones, and trade-offs between runs."""
