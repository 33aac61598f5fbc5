"""The leaderboard in the window."""
