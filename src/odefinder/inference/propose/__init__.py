"""Where candidates come from: the network, sparse regression and changes of what is there."""
