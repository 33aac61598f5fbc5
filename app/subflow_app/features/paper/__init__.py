"""Figures and reports for print."""
