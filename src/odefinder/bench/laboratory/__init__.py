"""What laboratories have: positions without velocities, inputs, doses, conditions, hidden states, time."""
