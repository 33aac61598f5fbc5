"""The leaderboard: every controller in every scenario of the papers, and how they stand."""
