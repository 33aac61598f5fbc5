"""What the learning agents saw when they decided, as the policy is given it: the first feature, scaled."""

from subflow_app.core.plots.spec import agent_plot

PLOT = agent_plot("agent_observation", "Agent observation", "Observation, scaled", "observation")
