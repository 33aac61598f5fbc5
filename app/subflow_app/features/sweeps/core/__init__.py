"""Sweeps without the window: plans, jobs, results and views. Start reading at `sweep_plan`, then `sweep_job`."""
