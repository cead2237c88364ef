"""odefinder: from observed trajectories to the ordinary differential equations behind them."""
