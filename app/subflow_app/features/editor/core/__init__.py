"""The scenario as it is edited: text, drawing, forms, topologies in and out. Start reading at `scenario_doc`."""
