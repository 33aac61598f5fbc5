"""Runs as files for other programs: long tables, Parquet, bundles that another machine verifies."""
