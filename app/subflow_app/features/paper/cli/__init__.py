"""Commands: figures for print, and reports."""
