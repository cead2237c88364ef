"""Choosing among candidates: the search and its criterion."""
