"""The controllers, schedulers and policies at hand, and all ways in which a scenario is used again."""
