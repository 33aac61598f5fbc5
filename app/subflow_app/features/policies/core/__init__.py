"""The trained policies that scenarios can name: a list of them, and what their cards say. Start at `library`."""
