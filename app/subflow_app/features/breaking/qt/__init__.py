"""Looking for networks in which a claim fails, in the window."""
