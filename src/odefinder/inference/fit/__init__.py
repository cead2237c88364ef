"""What the constants of a candidate are: state estimates, integral form, trajectories."""
