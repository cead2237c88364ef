"""How a system is simulated for users: what drives it, and its trajectory in units of its own."""
