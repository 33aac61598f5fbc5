"""Common terms and formats: numbers, measures, pictures, tables, colours and texts used alike by all features."""
