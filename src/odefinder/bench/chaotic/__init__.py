"""Chaotic flows as a benchmark: the set, the protocol of a published noise study, and its score."""
