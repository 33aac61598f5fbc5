"""One word for each idea: numbers, measures, pictures, tables, colours and texts that every feature shows alike."""
