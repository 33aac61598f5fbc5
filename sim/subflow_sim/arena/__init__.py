"""Families of networks on which the arena compares controllers, and the utility that ranks them.

The utility uses only properties of a network known before a run: its fair shares, base round-trip times and configured
losses. So the score of a controller does not depend on the other entrants.
"""
