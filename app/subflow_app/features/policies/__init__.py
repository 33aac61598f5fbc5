"""The trained policies that scenarios can name."""
