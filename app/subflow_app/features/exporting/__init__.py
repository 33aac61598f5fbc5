"""Export of runs for other programs: tables, Parquet, figures, web pages, and bundles for verification elsewhere."""
