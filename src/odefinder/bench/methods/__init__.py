"""The methods that are compared: ours and the baselines, each family in its own module."""
