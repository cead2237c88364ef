"""Where candidates come from: the network, sparse regression and changes to existing candidates."""
