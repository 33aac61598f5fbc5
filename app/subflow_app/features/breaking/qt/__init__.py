"""The panel that searches for networks in which a claim fails."""
