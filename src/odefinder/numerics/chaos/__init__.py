"""How chaotic a system or a record is, and how to compare a model with chaotic data."""
