"""Controllers, schedulers and policies that scenarios can name, and the reader of scenarios for all uses."""
