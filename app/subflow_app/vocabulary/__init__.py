"""Common terms and formats: numbers, measures, pictures, tables, colours and texts of all features."""
