"""pyarrow for writing Parquet files, in place of the contributed hook, which takes all of Arrow: Flight, S3, tests.

The libraries come with the modules that are linked to them.
"""

hiddenimports = ["pyarrow.parquet"]
