"""What the learning agents did, decision by decision: the first number of each action, or the number of the choice."""

from subflow_app.core.plots.spec import agent_plot

PLOT = agent_plot("agent_action", "Agent action", "Action", "action")
