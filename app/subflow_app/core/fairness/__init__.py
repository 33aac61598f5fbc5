"""What a fair split of a scenario's network would be, and how near the connections of a run come to it."""
