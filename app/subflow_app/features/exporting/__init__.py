"""Runs as files for other programs: tables, Parquet, figures, web pages, bundles that another machine verifies."""
