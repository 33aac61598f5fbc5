"""Figures for print, and reports."""
