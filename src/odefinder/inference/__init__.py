"""From a dataset to ranked systems: fit, propose, choose; `find.py` is the path through them."""
