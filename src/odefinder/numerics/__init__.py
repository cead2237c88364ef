"""How a system runs: values, derivatives, trajectories and their sensitivities."""
