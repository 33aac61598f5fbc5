"""The part of the window: figures for print, and reports."""
