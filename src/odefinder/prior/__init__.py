"""Random systems, and how they are observed: what the network learns from."""
