"""The queue of runs: its panel, the table in it, and the dialog that adds several runs at once."""
