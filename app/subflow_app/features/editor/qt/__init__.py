"""Window part of the scenario editor: text, canvas, forms, import and export of topologies, recovery."""
