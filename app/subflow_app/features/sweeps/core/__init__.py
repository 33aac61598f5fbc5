"""Sweeps: a scenario over values of its parameters times seeds. Start reading at `sweep_plan`, then `sweep_job`."""
