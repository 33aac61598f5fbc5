"""Logic of the scenario editor: text, drawing, forms, import and export. Start reading at `scenario_doc`."""
