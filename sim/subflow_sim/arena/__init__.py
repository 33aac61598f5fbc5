"""Families of networks on which the arena compares controllers, and the utility that ranks them.

The utility compares a run with properties of the network that are known before the run (fair shares, base round-trip
times and configured losses), and with a reference run of NewReno. So the score of a controller does not depend on the
other controllers in the ranking.
"""
