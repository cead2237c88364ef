"""How the network is trained."""
