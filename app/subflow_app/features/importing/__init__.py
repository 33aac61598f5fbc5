"""The one door for files of other programs: measurements become runs, networks become scenarios."""
