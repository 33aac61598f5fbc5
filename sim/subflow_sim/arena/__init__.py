"""Families of networks that controllers are tried on, and the utility by which they are judged.

The utility asks for nothing but what can be known of a network beforehand: its fair shares, its base round-trip times
and what its links lose by themselves. So what a controller is worth does not depend on who else was tried.
"""
